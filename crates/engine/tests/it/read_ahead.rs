//! How often the tables are read. On a server each read is a round trip, so a batch must not read message by message.

use crate::steps::{ACME, ACME_LINK, World, remote};
use hermod_domain::carrier::IdConversion;
use hermod_domain::lifecycle::DeliveryOutcome;
use hermod_domain::receipt::ReceiptWords;
use hermod_engine::commands::{AnyCommand, ReleaseDue};
use hermod_engine::ops::{Job, LinkBatch, ReceiptRecord, ResponseRecord, SubmitResponse};
use hermod_engine::state::parked_receipts::ParkedPage;
use std::time::Duration;

const MESSAGES: usize = 500;
const PER_BATCH: usize = 100;
/// Each batch below has a hundred messages.
const READS_PER_BATCH_MAX: usize = 8;

/// Returns an engine that was loaded from tables with waiting messages.
fn with_backlog() -> World {
    let mut world = World::new();
    // The links have a few slots from the start.
    for _ in 0..MESSAGES / PER_BATCH {
        let sms = (0..PER_BATCH).map(|_| AnyCommand::from(Box::new(world.sms()))).collect();
        world.run_all(sms);
        let sent = world.jobs.clone();
        world.run(answers(&world, &sent, |_| SubmitResponse::NotSent));
    }
    world.restart();
    world
}

fn answers(world: &World, jobs: &[Job], response: impl Fn(&Job) -> SubmitResponse) -> LinkBatch {
    let record = |job: &Job| {
        let Job { message, part, account, to, .. } = *job;
        ResponseRecord { message, part, account, to, response: response(job), failover_to: None }
    };
    LinkBatch { responses: jobs.iter().map(record).collect(), slots: 0, ..world.link_batch(ACME, ACME_LINK) }
}

fn receipts(world: &World, jobs: &[Job]) -> LinkBatch {
    let record = |(job, sequence): (&Job, u32)| ReceiptRecord {
        sequence,
        remote: Some(remote(&job.message.to_string())),
        verdict: DeliveryOutcome::Delivered,
        err: 0,
        word: None,
        words: ReceiptWords::new(Some(b"DELIVRD"), None),
        source: None,
        sender: None,
    };
    let receipts = jobs.iter().zip(1..).map(record).collect();
    LinkBatch { receipts, slots: 0, ..world.link_batch(ACME, ACME_LINK) }
}

fn accepted(job: &Job) -> SubmitResponse {
    SubmitResponse::Accepted(remote(&job.message.to_string()))
}

/// Runs a command as one batch, which must not read message by message.
#[track_caller]
fn run_in_few_reads(world: &mut World, what: &str, command: impl Into<AnyCommand>) {
    let before = world.reads();
    world.run(command);
    let reads = world.reads() - before;
    assert!(reads <= READS_PER_BATCH_MAX, "{what}: {reads} reads");
}

/// Takes the next hundred waiting messages.
#[track_caller]
fn take(world: &mut World) -> Vec<Job> {
    let slots = u32::try_from(PER_BATCH).expect("a small number");
    let slots = LinkBatch { slots, ..world.link_batch(ACME, ACME_LINK) };
    run_in_few_reads(world, "claims", slots);
    assert_eq!(world.jobs.len(), PER_BATCH);
    world.jobs.clone()
}

#[test]
fn backlog_is_sent_and_settled_without_a_read_per_message() {
    let mut world = with_backlog();
    let mut sent = Vec::new();
    for _ in 0..MESSAGES / PER_BATCH {
        let jobs = take(&mut world);
        let answers = answers(&world, &jobs, accepted);
        run_in_few_reads(&mut world, "responses", answers);
        sent.extend(jobs);
    }
    // The receipts come after another start.
    world.restart();
    for jobs in sent.chunks(PER_BATCH) {
        let receipts = receipts(&world, jobs);
        run_in_few_reads(&mut world, "receipts", receipts);
    }
    assert!(world.dump().table("part").is_empty(), "every message has ended");
    assert_eq!(world.dump().table("report").len(), MESSAGES, "and was reported");
}

#[test]
fn temporary_errors_and_retries_are_applied_without_a_read_per_message() {
    let mut world = with_backlog();
    let later = |_: &Job| SubmitResponse::Temporary { status: 8, after: Some(Duration::from_secs(60)) };
    for _ in 0..MESSAGES / PER_BATCH {
        let jobs = take(&mut world);
        let answers = answers(&world, &jobs, later);
        run_in_few_reads(&mut world, "temporary errors", answers);
    }
    world.restart();
    world.now = world.now.plus(Duration::from_secs(120));
    let due = ReleaseDue { now: world.now };
    run_in_few_reads(&mut world, "due parts", due);
    for _ in 0..MESSAGES / PER_BATCH {
        take(&mut world);
    }
}

#[test]
fn search_for_parked_receipts_does_not_read_the_ids_of_a_whole_day() {
    let mut world = with_backlog();
    let jobs = take(&mut world);
    let accepted = answers(&world, &jobs, accepted);
    world.run(accepted);
    let before = world.reads();
    let page = ParkedPage::read(&world.tables(), ACME, IdConversion::default(), None);
    assert_eq!(page.expect("the tables are read").looked_at, 0);
    let reads = world.reads() - before;
    assert!(reads <= READS_PER_BATCH_MAX, "{reads} reads");
}

#[test]
fn parts_that_were_being_sent_before_a_start_are_put_in_doubt_without_a_read_per_part() {
    let mut world = with_backlog();
    take(&mut world);
    let before = world.reads();
    world.restart();
    let loading = world.reads() - before;
    world.mark_sending_in_doubt();
    let reads = world.reads() - before - loading;
    assert!(reads <= READS_PER_BATCH_MAX, "{reads} reads");
}

#[test]
fn batch_claims_no_more_stored_parts_than_allowed_and_the_next_one_follows_at_once() {
    let mut world = with_backlog();
    world.state.stored_claims_max = 10;
    let slots = LinkBatch { slots: 25, ..world.link_batch(ACME, ACME_LINK) };
    world.run(slots);
    for (claimed, goes_on) in [(10, true), (10, true), (5, false)] {
        assert_eq!((world.jobs.len(), world.state.claims_left), (claimed, goes_on));
        world.run(ReleaseDue { now: world.now });
    }
}

#[test]
fn backlog_shrinks_whatever_is_accepted_meanwhile() {
    let mut world = with_backlog();
    world.state.stored_claims_max = 10;
    world.run(LinkBatch { slots: 100, ..world.link_batch(ACME, ACME_LINK) });
    let sms = (0..20).map(|_| AnyCommand::from(Box::new(world.sms()))).collect();
    world.run_all(sms);
    assert_eq!(world.jobs.len(), 40);
}
