//! The queue of a carrier: order, fairness between accounts, bounded memory, one link for each part.

use crate::world::*;
use hermod_domain::ids::{AccountId, CarrierId, MessageId};
use hermod_domain::lifecycle::{DeliveryOutcome, MessageState};
use hermod_domain::money::Money;
use hermod_store::{Acceptance, JOBS_IN_MEMORY_MAX, Store, SubmitResponse};
use metrics::{Counter, Gauge, Histogram, Key, KeyName, Metadata, Recorder, SharedString, Unit};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use tokio::task::JoinSet;

const MANY: usize = JOBS_IN_MEMORY_MAX * 3 / 2;

/// Records the highest value of the gauge of jobs in memory.
#[derive(Clone, Default)]
struct JobsInMemory(Arc<AtomicU64>);

impl metrics::GaugeFn for JobsInMemory {
    fn increment(&self, _: f64) {}
    fn decrement(&self, _: f64) {}
    fn set(&self, value: f64) {
        self.0.fetch_max(value.to_bits(), Ordering::Relaxed);
    }
}

impl Recorder for JobsInMemory {
    fn describe_counter(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}
    fn describe_gauge(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}
    fn describe_histogram(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}
    fn register_counter(&self, _: &Key, _: &Metadata<'_>) -> Counter {
        Counter::noop()
    }
    fn register_gauge(&self, key: &Key, _: &Metadata<'_>) -> Gauge {
        match key.name() {
            "hermod_store_jobs_in_memory" => Gauge::from_arc(Arc::new(self.clone())),
            _ => Gauge::noop(),
        }
    }
    fn register_histogram(&self, _: &Key, _: &Metadata<'_>) -> Histogram {
        Histogram::noop()
    }
}

impl JobsInMemory {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count in a gauge")]
    fn highest(&self) -> usize {
        f64::from_bits(self.0.load(Ordering::Relaxed)) as usize
    }
}

/// Sends `each` messages of several accounts concurrently. Returns the messages of each account in order.
async fn send_concurrently(world: &World, accounts: u32, each: usize) -> HashMap<AccountId, Vec<MessageId>> {
    let mut sending = JoinSet::new();
    for account in (1..=accounts).map(AccountId::new) {
        world.pay_in(account, 1_000_000_000_000).await;
        let store = world.store.clone();
        let acceptance = Acceptance { account, ..world.sms() };
        sending.spawn(async move {
            let mut messages = Vec::with_capacity(each);
            for _ in 0..each {
                match store.accept(acceptance.clone()).await.expect("the store answers") {
                    hermod_store::AcceptOutcome::Accepted { message, .. } => messages.push(message),
                    other => panic!("{other:?}"),
                }
            }
            (account, messages)
        });
    }
    sending.join_all().await.into_iter().collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn backlog_of_a_carrier_that_is_down_waits_on_disk_and_is_sent_in_order() {
    let folder = tempfile::TempDir::new().unwrap();
    let gauge = JobsInMemory::default();
    let opened = metrics::with_local_recorder(&gauge, || Store::open(&options(folder.path(), noon())));
    let mut world = World { folder, store: opened.unwrap(), now: noon() };
    let mut waiting = send_concurrently(&world, 100, MANY / 100).await;
    assert_eq!(gauge.highest(), 0, "without a link no job is in memory");

    let link = world.link_with_slots(1_000).await;
    let mut taken = 0;
    let mut reached: HashMap<AccountId, usize> = HashMap::new();
    while taken < MANY {
        let jobs = link.take_handout().await.jobs;
        taken += jobs.len();
        for job in &jobs {
            let place = reached.entry(job.account).or_default();
            assert_eq!(waiting[&job.account][*place], job.message, "in order of acceptance");
            *place += 1;
        }
        let answers =
            jobs.iter().map(|job| answer(job, SubmitResponse::Accepted(remote(&job.message.to_string()))));
        let slots = u32::try_from(jobs.len()).unwrap();
        link.port.record(answers.collect(), Vec::new(), Vec::new(), slots, world.now).await.unwrap();
        // Accounts take turns, so no account is far ahead of another.
        let (most, least) = (reached.values().max().unwrap(), reached.values().min().unwrap());
        assert!(most - least <= 2_000 && (reached.len() == 100 || taken <= 2_000), "{most} and {least}");
    }
    world.flush().await;
    link.assert_idle().await;
    if !on_postgres("meters of the thread that opens a store, which is another one then") {
        assert!(gauge.highest() > 0 && gauge.highest() <= JOBS_IN_MEMORY_MAX + 1_000, "{}", gauge.highest());
    }

    // The backlog is sent: a new message is sent at once.
    let last = world.send(world.sms()).await;
    assert_eq!(link.take_job().await.message, last);
    waiting.clear();
    world.restart().await;
    world.assert_audit_clean();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn slow_link_gets_parts_in_order_while_messages_are_accepted() {
    let world = World::new().await;
    let link = world.link_with_slots(10).await;
    let store = world.store.clone();
    let acceptance = world.sms();
    let mut sender = JoinSet::new();
    sender.spawn(async move {
        for _ in 0..3_000 {
            store.accept(acceptance.clone()).await.expect("the store answers");
        }
    });
    let mut last = None;
    let mut taken = 0;
    while taken < 3_000 {
        let jobs = link.take_handout().await.jobs;
        taken += jobs.len();
        for job in &jobs {
            assert!(last < Some(job.message), "{:?} after {last:?}", job.message);
            last = Some(job.message);
        }
        let answers =
            jobs.iter().map(|job| answer(job, SubmitResponse::Accepted(remote(&job.message.to_string()))));
        let slots = u32::try_from(jobs.len()).unwrap();
        link.port.record(answers.collect(), Vec::new(), Vec::new(), slots, world.now).await.unwrap();
    }
    sender.join_all().await;
    world.assert_audit_clean();
}

#[tokio::test]
async fn link_gets_no_more_jobs_than_it_has_slots() {
    let world = World::new().await;
    let link = world.link_with_slots(3).await;
    for _ in 0..10 {
        world.send(world.sms()).await;
    }
    assert_eq!(link.take_jobs(3).await.len(), 3);
    world.flush().await;
    link.assert_idle().await;
    link.add_slots(1).await;
    assert_eq!(link.take_jobs(1).await.len(), 1);
    world.flush().await;
    link.assert_idle().await;
}

#[tokio::test]
async fn two_links_share_the_queue_and_no_part_goes_to_both() {
    let world = World::new().await;
    let (one, two) = (world.link_with_slots(20).await, world.link_with_slots(20).await);
    let mut sent = HashSet::new();
    for _ in 0..30 {
        sent.insert(world.send(world.sms()).await);
    }
    let (jobs, others) = (one.take_jobs(15).await, two.take_jobs(15).await);
    let taken: HashSet<_> = jobs.iter().chain(&others).map(|job| job.message).collect();
    assert_eq!(taken, sent);
}

#[tokio::test]
async fn jobs_of_a_closed_link_are_returned_and_go_to_the_next_link() {
    let world = World::new().await;
    let link = world.link_with_slots(2).await;
    let first = world.send(world.sms()).await;
    let second = world.send(world.sms()).await;
    let left = link.close().await.unwrap();
    assert_eq!(left.jobs.len(), 2);
    link.respond(left.jobs.iter().map(|job| answer(job, SubmitResponse::NotSent)).collect(), Vec::new())
        .await;
    let third = world.send(world.sms()).await;
    let next = world.link_with_slots(5).await;
    let order: Vec<_> = next.take_jobs(3).await.iter().map(|job| job.message).collect();
    assert_eq!(order, [first, second, third]);
    world.flush().await;
    link.assert_idle().await;
    world.assert_audit_clean();
}

#[tokio::test]
async fn receipt_on_one_link_settles_a_part_sent_over_another() {
    let world = World::new().await;
    let (one, two) = (world.link_with_slots(1).await, world.link().await);
    let message = world.send(world.sms()).await;
    one.accept(&one.take_job().await, "shared").await;
    world.flush().await;
    two.receipt("shared", DeliveryOutcome::Delivered).await;
    world.flush().await;
    assert_eq!(world.state(message).await, MessageState::Delivered);
    one.assert_idle().await;
    assert_eq!(two.take_recorded().await, [1], "the receipt is answered on its own link");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn long_message_is_sent_whole_from_a_lane_that_holds_only_a_few_parts() {
    const LANES: u32 = 5_000;
    const PARTS: u8 = 11;
    let world = World::new().await;
    let credit_limit = Money::from_micros(1_000_000_000);
    let mut sending = JoinSet::new();
    // Many accounts wait for another carrier, so the memory of each lane is a few parts.
    for account in (100..100 + LANES).map(AccountId::new) {
        let store = world.store.clone();
        let acceptance = Acceptance { account, carrier: CarrierId::new(77), credit_limit, ..world.sms() };
        sending.spawn(async move { store.accept(acceptance).await.expect("the store answers") });
    }
    sending.join_all().await;
    let link = world.link_with_slots(50).await;
    let message = world.send(Acceptance { parts: PARTS, ..world.sms() }).await;
    let jobs = link.take_jobs(usize::from(PARTS)).await;
    assert_eq!(jobs.iter().map(|job| job.part.get()).collect::<Vec<_>>(), (1..=PARTS).collect::<Vec<_>>());
    for job in &jobs {
        link.accept(job, &format!("part {}", job.part)).await;
    }
    world.flush().await;
    assert_eq!(world.state(message).await, MessageState::Submitted);
    world.assert_audit_clean();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn backlog_is_handed_out_as_far_as_slots_go_without_another_operation() {
    const WAITING: usize = 1_000;
    let world = World::new().await;
    let sent = send_concurrently(&world, 1, WAITING).await;
    let link = world.link_with_slots(u32::try_from(WAITING).expect("a small number")).await;
    let jobs = link.take_jobs(WAITING).await;
    let handed: Vec<_> = jobs.iter().map(|job| job.message).collect();
    assert_eq!(handed, sent[&ALICE], "in order, over several batches");
}
