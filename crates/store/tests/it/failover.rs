//! Failover: which responses of a carrier move a message to another carrier, and when.

use crate::world::*;
use hermod_domain::ids::{CarrierId, MessageId};
use hermod_domain::lifecycle::{DeliveryOutcome, DoubtPolicy, MessageState, RejectionCause};
use hermod_store::{Acceptance, Job, ResponseRecord, SubmitResponse};

const PAID_IN: i64 = 1_000_000_000;
const TROUBLE: SubmitResponse = SubmitResponse::Temporary { status: 0x64, after: None };
const NO: SubmitResponse = SubmitResponse::Refused { about: RejectionCause::Other, status: 0x45 };

fn or(job: &Job, said: SubmitResponse, otherwise: CarrierId) -> ResponseRecord {
    ResponseRecord { failover_to: Some(split(otherwise)), ..answer(job, said) }
}

impl Link {
    async fn answer_with_alternative(&self, job: &Job, said: SubmitResponse, otherwise: CarrierId) {
        self.respond(vec![or(job, said, otherwise)], Vec::new()).await;
    }
}

/// Sends a message and answers it with one temporary error.
async fn send_and_fail_once(world: &mut World, link: &mut Link) -> MessageId {
    let message = world.send(world.sms()).await;
    link.answer_with_alternative(&link.take_job().await, TROUBLE, OTHER).await;
    link.add_slots(1).await;
    world.advance(secs(6)).await;
    link.now = world.now;
    message
}

#[tokio::test]
async fn message_after_two_temporary_errors_moves_to_the_other_carrier_at_once() {
    let mut world = World::new().await;
    let mut link = world.link_with_slots(1).await;
    let other = world.link_to(OTHER, 5).await;
    let message = send_and_fail_once(&mut world, &mut link).await;
    other.assert_idle().await;

    link.answer_with_alternative(&link.take_job().await, TROUBLE, OTHER).await;
    let job = other.take_job().await;
    assert_eq!((job.message, job.carrier), (message, OTHER));
    other.accept(&job, "over there").await;
    link.add_slots(5).await;
    other.receipt("over there", DeliveryOutcome::Delivered).await;
    world.flush().await;
    let record = world.record(message).await;
    assert_eq!((record.state, record.carrier), (MessageState::Delivered, OTHER));
    assert_eq!(world.timeline(message), ["temporary_error", "temporary_error", "failed_over"]);
    assert_eq!(world.balance(ALICE).await, PAID_IN - PRICE, "charged once");
    // Its retry time at the old carrier no longer counts.
    world.advance(secs(700)).await;
    link.assert_idle().await;
    world.assert_audit_clean();
}

#[tokio::test]
async fn message_that_two_carriers_answer_with_errors_moves_only_on_the_retry_schedule() {
    let mut world = World::new().await;
    let mut link = world.link_with_slots(1).await;
    let mut other = world.link_to(OTHER, 1).await;
    let message = send_and_fail_once(&mut world, &mut link).await;
    link.answer_with_alternative(&link.take_job().await, TROUBLE, OTHER).await;
    // From here on each error waits on the retry schedule before the next carrier is tried: two minutes, then ten.
    for wait in [120, 600, 600] {
        other.now = world.now;
        other.answer_with_alternative(&other.take_job().await, TROUBLE, link.carrier).await;
        link.add_slots(1).await;
        world.advance(secs(wait).mul_f32(0.89)).await;
        link.assert_idle().await;
        world.advance(secs(wait).mul_f32(0.22)).await;
        std::mem::swap(&mut link, &mut other);
    }
    assert_eq!(other.take_job().await.message, message);
    world.assert_audit_clean();
}

#[tokio::test]
async fn message_whose_recipient_is_throttled_moves_to_the_other_carrier_after_ten_seconds_and_only_once() {
    let aside = || SubmitResponse::RecipientThrottled { wait: secs(5), sent: true };
    let mut world = World::new().await;
    let mut link = world.link_with_slots(1).await;
    let mut other = world.link_to(OTHER, 1).await;
    let message = world.send(world.sms()).await;
    for _ in 0..2 {
        link.now = world.now;
        link.answer_with_alternative(&link.take_job().await, aside(), OTHER).await;
        link.add_slots(1).await;
        world.flush().await;
        other.assert_idle().await;
        world.advance(secs(5)).await;
    }
    link.now = world.now;
    link.answer_with_alternative(&link.take_job().await, aside(), OTHER).await;
    let job = other.take_job().await;
    assert_eq!((job.message, job.carrier), (message, OTHER));
    other.now = world.now;
    other.answer_with_alternative(&job, aside(), ACME).await;
    other.add_slots(1).await;
    link.add_slots(1).await;
    world.advance(secs(6)).await;
    link.assert_idle().await;
    assert_eq!(other.take_job().await.message, message, "it does not move back");
    assert_eq!(world.timeline(message), ["failed_over"]);
    world.assert_audit_clean();
}

#[tokio::test]
async fn long_message_moves_whole_and_only_if_no_part_was_accepted() {
    for taken in [false, true] {
        let mut world = World::new().await;
        let mut link = world.link_with_slots(3).await;
        let other = world.link_to(OTHER, 9).await;
        let message = world.send(Acceptance { parts: 3, ..world.sms() }).await;
        let jobs = link.take_jobs(3).await;
        let first = if taken { SubmitResponse::Accepted(remote("taken")) } else { TROUBLE };
        let said =
            vec![or(&jobs[0], first, OTHER), or(&jobs[1], TROUBLE, OTHER), or(&jobs[2], TROUBLE, OTHER)];
        link.respond(said, Vec::new()).await;
        link.add_slots(3).await;
        world.advance(secs(6)).await;
        link.now = world.now;
        let jobs = link.take_jobs(if taken { 2 } else { 3 }).await;
        link.respond(jobs.iter().map(|job| or(job, TROUBLE, OTHER)).collect(), Vec::new()).await;
        world.flush().await;
        if taken {
            other.assert_idle().await;
            assert_eq!(world.record(message).await.carrier, ACME);
        } else {
            let parts: Vec<u8> = other.take_jobs(3).await.iter().map(|job| job.part.get()).collect();
            assert_eq!(parts, [1, 2, 3]);
            assert_eq!(world.record(message).await.carrier, OTHER);
        }
        world.assert_audit_clean();
    }
}

#[tokio::test]
async fn rejection_moves_the_message_if_its_route_allows_and_ends_it_once_all_carriers_rejected() {
    let world = World::new().await;
    let link = world.link_with_slots(5).await;
    let other = world.link_to(OTHER, 5).await;
    let message = world.send(world.sms()).await;
    link.answer_with_alternative(&link.take_job().await, NO, OTHER).await;
    let job = other.take_job().await;
    assert_eq!((job.message, world.state(message).await), (message, MessageState::Queued));
    other.answer_with_alternative(&job, NO, ACME).await;
    world.flush().await;
    link.assert_idle().await;
    let record = world.record(message).await;
    assert_eq!((record.state, record.err, record.carrier), (MessageState::Undeliverable, 10_069, OTHER));
    assert_eq!(world.timeline(message), ["refused", "failed_over"]);
    world.assert_audit_clean();
}

#[tokio::test]
async fn rejected_part_waits_for_the_responses_to_the_other_parts() {
    // The response to the second part decides what happens to the first.
    let cases = [(NO, true), (TROUBLE, true), (SubmitResponse::Accepted(remote("taken")), false)];
    for (said, moves) in cases {
        let mut world = World::new().await;
        let mut link = world.link_with_slots(2).await;
        let other = world.link_to(OTHER, 9).await;
        let message = world.send(Acceptance { parts: 2, ..world.sms() }).await;
        let jobs = link.take_jobs(2).await;
        link.answer_with_alternative(&jobs[0], NO, OTHER).await;
        world.flush().await;
        assert_eq!(world.state(message).await, MessageState::Queued, "not ended yet");
        link.answer_with_alternative(&jobs[1], said.clone(), OTHER).await;
        link.add_slots(2).await;
        world.flush().await;
        if said == NO {
            assert_eq!(other.take_jobs(2).await.len(), 2, "both were rejected, so both move");
            world.assert_audit_clean();
            continue;
        }
        other.assert_idle().await;
        world.advance(secs(6)).await;
        link.now = world.now;
        let again: Vec<_> = link.take_jobs(if moves { 2 } else { 1 }).await;
        assert_eq!(again[0].part, jobs[0].part, "the rejected part is retried");
        let said = again.iter().map(|job| or(job, NO, OTHER)).collect();
        link.respond(said, Vec::new()).await;
        world.flush().await;
        if moves {
            assert_eq!(other.take_jobs(2).await.len(), 2);
        } else {
            other.assert_idle().await;
            assert_eq!(world.state(message).await, MessageState::Undeliverable);
        }
        world.assert_audit_clean();
    }
}

#[tokio::test]
async fn message_in_doubt_moves_only_after_the_in_doubt_wait_and_its_resend_is_in_the_timeline() {
    let mut world = World::new().await;
    let mut link = world.link_with_slots(2).await;
    let other = world.link_to(OTHER, 9).await;
    let message = world.send(Acceptance { parts: 2, ..world.sms() }).await;
    let jobs = link.take_jobs(2).await;
    // The first part is in doubt. The second fails twice within the first's in-doubt wait.
    link.respond(
        vec![answer(&jobs[0], SubmitResponse::NoResponse), or(&jobs[1], TROUBLE, OTHER)],
        Vec::new(),
    )
    .await;
    link.add_slots(1).await;
    world.advance(secs(6)).await;
    link.now = world.now;
    link.answer_with_alternative(&link.take_job().await, TROUBLE, OTHER).await;
    world.flush().await;
    other.assert_idle().await;
    world.advance(IN_DOUBT_WAIT + secs(10)).await;
    link.now = world.now;
    // Both parts wait for a slot.
    let again = world.store.messages().waiting(ACME, None, 10).await.unwrap();
    assert_eq!(again.len(), 1, "no part is with the carrier");
    link.add_slots(2).await;
    let jobs = link.take_jobs(2).await;
    link.respond(vec![or(&jobs[0], TROUBLE, OTHER), or(&jobs[1], TROUBLE, OTHER)], Vec::new()).await;
    world.advance(secs(140)).await;
    assert_eq!(other.take_jobs(2).await.len(), 2);
    let timeline =
        ["in_doubt", "temporary_error", "temporary_error", "resent", "temporary_error", "temporary_error"];
    let timeline: Vec<&str> = timeline.into_iter().chain(["failed_over", "resent"]).collect();
    assert_eq!(world.timeline(message), timeline);
    world.assert_audit_clean();
}

#[tokio::test]
async fn message_that_must_not_be_resent_is_presumed_submitted_and_never_moves() {
    let mut world = World::new().await;
    let mut link = world.link_with_slots(2).await;
    let other = world.link_to(OTHER, 9).await;
    let once = Acceptance { parts: 2, doubt: DoubtPolicy::NeverResend, ..world.sms() };
    let message = world.send(once).await;
    let jobs = link.take_jobs(2).await;
    link.respond(
        vec![answer(&jobs[0], SubmitResponse::NoResponse), or(&jobs[1], TROUBLE, OTHER)],
        Vec::new(),
    )
    .await;
    for wait in [6, 35, 140] {
        link.add_slots(1).await;
        world.advance(secs(wait)).await;
        link.now = world.now;
        link.answer_with_alternative(&link.take_job().await, TROUBLE, OTHER).await;
    }
    world.flush().await;
    other.assert_idle().await;
    assert_eq!(world.record(message).await.carrier, ACME);
    world.assert_audit_clean();
}

#[tokio::test]
async fn late_response_of_the_old_carrier_is_in_the_timeline_and_changes_nothing() {
    let late = [
        SubmitResponse::Accepted(remote("late")),
        SubmitResponse::Throttled,
        TROUBLE,
        NO,
        SubmitResponse::NoResponse,
        SubmitResponse::NotSent,
    ];
    for said in late {
        // With the message in the writer's memory, and after a restart.
        for forgets in [false, true] {
            let mut world = World::new().await;
            let mut link = world.link_with_slots(1).await;
            let message = send_and_fail_once(&mut world, &mut link).await;
            let job = link.take_job().await;
            link.answer_with_alternative(&job, TROUBLE, OTHER).await;
            if forgets {
                world.flush().await;
                world.restart().await;
                link = world.link_with_slots(1).await;
            }
            let other = world.link_to(OTHER, 1).await;
            let moved = other.take_job().await;
            link.respond(
                vec![or(&job, said.clone(), OTHER)],
                vec![receipt(9, "late", DeliveryOutcome::Undeliverable)],
            )
            .await;
            assert_eq!(link.take_recorded().await, [9]);
            assert_eq!(world.state(message).await, MessageState::Queued, "{said:?}");
            let timeline = world.timeline(message);
            assert!(
                timeline[2..].starts_with(&["failed_over".to_owned(), "late_response".to_owned()]),
                "{timeline:?}"
            );
            other.accept(&moved, "good").await;
            other.receipt("good", DeliveryOutcome::Delivered).await;
            world.flush().await;
            link.assert_idle().await;
            assert_eq!(world.state(message).await, MessageState::Delivered, "{said:?}");
            assert_eq!(world.balance(ALICE).await, PAID_IN - PRICE);
            world.assert_audit_clean();
        }
    }
}
