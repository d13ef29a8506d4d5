//! The lifecycle of a message from acceptance to its final state, for every response of a carrier.

mod receipts;

use crate::world::*;
use hermod_domain::ids::PartNo;
use hermod_domain::lifecycle::{DeliveryOutcome, DoubtPolicy, MessageState, RejectionCause};
use hermod_domain::receipt::DlrCode;
use hermod_store::{Acceptance, SubmitResponse};
use std::time::Duration;

const PAID_IN: i64 = 1_000_000_000;

#[tokio::test]
async fn accepted_message_with_a_delivered_receipt_is_delivered() {
    let world = World::new().await;
    let link = world.link_with_slots(10).await;
    let message = world.send(world.sms()).await;
    assert_eq!(world.state(message).await, MessageState::Queued);

    let job = link.take_job().await;
    assert_eq!((job.message, job.part, job.parts, job.account), (message, PartNo::FIRST, 1, ALICE));
    assert_eq!((job.text.as_str(), job.from.as_str()), ("hello", "Hermod"));
    assert_eq!(job.expires_at, world.now.plus(VALIDITY));
    assert_eq!(world.state(message).await, MessageState::Queued, "it is queued until the carrier accepts it");

    link.accept(&job, "a1").await;
    world.flush().await;
    assert_eq!(world.state(message).await, MessageState::Submitted);

    link.respond(Vec::new(), vec![receipt(42, "a1", DeliveryOutcome::Enroute)]).await;
    assert_eq!(link.take_recorded().await, [42], "the receipt is answered once it is durable");
    let record = world.record(message).await;
    assert_eq!((record.state, record.dlr), (MessageState::Enroute, DlrCode::Acceptd));

    link.receipt("a1", DeliveryOutcome::Delivered).await;
    world.flush().await;
    let record = world.record(message).await;
    assert_eq!((record.state, record.dlr, record.err), (MessageState::Delivered, DlrCode::Delivrd, 0));
    assert_eq!(record.settled_at, Some(world.now));
    assert_eq!(world.balance(ALICE).await, PAID_IN - PRICE, "charged once");
    world.assert_audit_clean();
}

#[tokio::test]
async fn every_final_receipt_ends_the_message_and_keeps_the_charge() {
    let by_receipt = |verdict| (SubmitResponse::Accepted(remote("r")), Some(verdict));
    let refusal = |about| (SubmitResponse::Refused { about, status: 11 }, None);
    let cases = [
        (by_receipt(DeliveryOutcome::Delivered), MessageState::Delivered, DlrCode::Delivrd),
        (by_receipt(DeliveryOutcome::Undeliverable), MessageState::Undeliverable, DlrCode::Undeliv),
        (by_receipt(DeliveryOutcome::Rejected), MessageState::Undeliverable, DlrCode::Rejectd),
        (by_receipt(DeliveryOutcome::Expired), MessageState::Expired, DlrCode::Expired),
        (refusal(RejectionCause::Destination), MessageState::Undeliverable, DlrCode::Undeliv),
        (refusal(RejectionCause::Other), MessageState::Undeliverable, DlrCode::Rejectd),
    ];
    for ((answered, verdict), state, dlr) in cases {
        let world = World::new().await;
        let link = world.link_with_slots(1).await;
        let message = world.send(world.sms()).await;
        let job = link.take_job().await;
        link.answer(&job, answered).await;
        if let Some(verdict) = verdict {
            link.receipt("r", verdict).await;
        }
        world.flush().await;
        let record = world.record(message).await;
        assert_eq!((record.state, record.dlr), (state, dlr), "{verdict:?}");
        assert_eq!(record.err, if verdict.is_none() { 10_011 } else { 0 });
        assert_eq!(world.balance(ALICE).await, PAID_IN - PRICE, "{state}: no refund");
        world.assert_audit_clean();
    }
}

#[tokio::test]
async fn throttled_part_returns_to_the_front_of_the_queue() {
    let world = World::new().await;
    let link = world.link_with_slots(2).await;
    let mut sent = Vec::new();
    for _ in 0..4 {
        sent.push(world.send(world.sms()).await);
    }
    let jobs = link.take_jobs(2).await;
    link.respond(jobs.iter().map(|job| answer(job, SubmitResponse::Throttled)).collect(), Vec::new()).await;
    world.flush().await;
    link.assert_idle().await;
    link.add_slots(4).await;
    let order: Vec<_> = link.take_jobs(4).await.iter().map(|job| job.message).collect();
    assert_eq!(order, sent);
    assert_eq!(world.timeline(sent[0]), [""; 0], "throttling is not in the timeline");
    world.assert_audit_clean();
}

#[tokio::test]
async fn part_that_steps_aside_is_overtaken_and_returns_first_without_an_attempt() {
    for (sent, doubts) in [(true, false), (false, false), (false, true)] {
        let mut world = World::new().await;
        let mut link = world.link_with_slots(1).await;
        let first = world.send(world.sms()).await;
        if doubts {
            link.answer(&link.take_job().await, SubmitResponse::NoResponse).await;
            link.add_slots(1).await;
            world.advance(secs(60)).await;
            link.now = world.now;
        }
        let second = world.send(world.sms()).await;
        let third = world.send(world.sms()).await;
        let job = link.take_job().await;
        assert_eq!(job.message, first);
        link.answer(&job, SubmitResponse::RecipientThrottled { wait: secs(5), sent }).await;
        link.add_slots(1).await;
        assert_eq!(link.take_job().await.message, second, "the next message overtakes it");
        world.advance(secs(4)).await;
        link.assert_idle().await;
        world.advance(secs(2)).await;
        link.now = world.now;
        link.add_slots(2).await;
        let order: Vec<_> = link.take_jobs(2).await.iter().map(|job| job.message).collect();
        assert_eq!(order, [first, third], "afterwards it has its old position");
        let timeline = world.timeline(first);
        assert!(!timeline.iter().any(|line| line == "temporary_error"), "{timeline:?}");
        world.assert_audit_clean();
    }
}

#[tokio::test]
async fn part_that_was_not_sent_returns_to_the_front_of_the_queue() {
    let world = World::new().await;
    let link = world.link_with_slots(1).await;
    let first = world.send(world.sms()).await;
    let second = world.send(world.sms()).await;
    let job = link.take_job().await;
    link.answer(&job, SubmitResponse::NotSent).await;
    link.close().await.unwrap();
    let link = world.link_with_slots(2).await;
    let jobs = link.take_jobs(2).await;
    assert_eq!([jobs[0].message, jobs[1].message], [first, second]);
}

#[tokio::test]
async fn part_after_a_temporary_error_is_retried_on_the_schedule() {
    let mut world = World::new().await;
    let mut link = world.link_with_slots(1).await;
    let message = world.send(world.sms()).await;
    // The jitter is up to a tenth of the wait in both directions.
    for wait in [5, 30, 120, 600, 600] {
        let job = link.take_job().await;
        link.now = world.now;
        link.answer(&job, SubmitResponse::Temporary { status: 0x14, after: None }).await;
        link.add_slots(1).await;
        world.flush().await;
        world.advance(secs(wait).mul_f32(0.89)).await;
        link.assert_idle().await;
        world.advance(secs(wait).mul_f32(0.22)).await;
    }
    assert_eq!(link.take_job().await.message, message);
    assert_eq!(world.timeline(message), ["temporary_error"; 5]);
    assert_eq!(world.state(message).await, MessageState::Queued);
    world.assert_audit_clean();
}

#[tokio::test]
async fn part_without_a_response_is_in_doubt_resent_once_and_then_presumed_submitted() {
    let mut world = World::new().await;
    let link = world.link_with_slots(1).await;
    let message = world.send(world.sms()).await;
    let job = link.take_job().await;
    link.answer(&job, SubmitResponse::NoResponse).await;
    link.add_slots(5).await;
    world.advance(IN_DOUBT_WAIT - Duration::from_millis(1)).await;
    link.assert_idle().await;
    world.advance(Duration::from_millis(1)).await;
    let again = link.take_job().await;
    assert_eq!((again.message, again.part), (job.message, job.part));
    assert_eq!(world.timeline(message), ["in_doubt", "resent"]);

    link.answer(&again, SubmitResponse::NoResponse).await;
    world.advance(secs(24 * 3600)).await;
    link.assert_idle().await;
    assert_eq!(world.state(message).await, MessageState::Submitted, "presumed to be with the carrier");
    assert_eq!(world.timeline(message), ["in_doubt", "resent", "in_doubt"]);
    assert_eq!(crate::world::audit(world.path()).resends, 1);
    world.assert_audit_clean();
}

#[tokio::test]
async fn resend_with_a_response_continues_as_usual() {
    let mut world = World::new().await;
    let link = world.link_with_slots(2).await;
    let message = world.send(world.sms()).await;
    link.answer(&link.take_job().await, SubmitResponse::NoResponse).await;
    world.flush().await;
    world.advance(IN_DOUBT_WAIT).await;
    let again = link.take_job().await;
    link.accept(&again, "x").await;
    link.receipt("x", DeliveryOutcome::Delivered).await;
    world.flush().await;
    assert_eq!(world.state(message).await, MessageState::Delivered);
    world.assert_audit_clean();
}

#[tokio::test]
async fn part_without_a_response_on_a_route_without_resend_is_presumed_submitted_at_once() {
    let mut world = World::new().await;
    let link = world.link_with_slots(5).await;
    let message = world.send(Acceptance { doubt: DoubtPolicy::NeverResend, ..world.sms() }).await;
    link.answer(&link.take_job().await, SubmitResponse::NoResponse).await;
    world.flush().await;
    assert_eq!(world.state(message).await, MessageState::Submitted);
    world.advance(secs(3600)).await;
    link.assert_idle().await;
    assert_eq!(world.timeline(message), ["in_doubt"]);
    world.assert_audit_clean();
}

#[tokio::test]
async fn message_that_expires_in_the_queue_is_refunded_exactly_once() {
    let mut world = World::new().await;
    let message = world.send(world.sms()).await;
    let long = world.send(Acceptance { parts: 3, ..world.sms() }).await;
    assert_eq!(world.sweep(world.now.plus(VALIDITY).minus(Duration::from_millis(1))).await, 0);
    world.now = world.now.plus(VALIDITY);
    assert_eq!(world.sweep(world.now).await, 4, "a message of one part and one of three");
    for _ in 0..2 {
        assert_eq!(world.sweep(world.now).await, 0);
        for id in [message, long] {
            let record = world.record(id).await;
            assert_eq!((record.state, record.dlr), (MessageState::Expired, DlrCode::Expired));
        }
        assert_eq!(world.balance(ALICE).await, PAID_IN);
        world.restart().await;
    }
    let link = world.link_with_slots(5).await;
    world.flush().await;
    link.assert_idle().await;
    world.assert_audit_clean();
}

#[tokio::test]
async fn expired_message_at_the_front_of_the_queue_is_not_sent() {
    let mut world = World::new().await;
    let message = world.send(world.sms()).await;
    world.now = world.now.plus(VALIDITY);
    let link = world.link_with_slots(5).await;
    world.flush().await;
    link.assert_idle().await;
    assert_eq!(world.state(message).await, MessageState::Expired);
    assert_eq!(world.balance(ALICE).await, PAID_IN, "refunded without waiting for a sweep");
    world.assert_audit_clean();
}

#[tokio::test]
async fn message_in_doubt_or_submitted_at_expiry_is_not_refunded() {
    let mut world = World::new().await;
    let link = world.link_with_slots(2).await;
    let in_doubt = world.send(world.sms()).await;
    let submitted = world.send(world.sms()).await;
    let jobs = link.take_jobs(2).await;
    link.respond(
        vec![
            answer(&jobs[0], SubmitResponse::NoResponse),
            answer(&jobs[1], SubmitResponse::Accepted(remote("s"))),
        ],
        vec![],
    )
    .await;
    world.flush().await;
    world.now = world.now.plus(VALIDITY);
    assert_eq!(world.sweep(world.now).await, 1);
    assert_eq!(world.state(in_doubt).await, MessageState::Submitted, "presumed");
    assert_eq!(world.state(submitted).await, MessageState::Submitted);
    assert_eq!(world.balance(ALICE).await, PAID_IN - 2 * PRICE);

    // A day later the receipt wait is over; a later receipt still counts.
    world.now = world.now.plus(secs(24 * 3600));
    assert_eq!(world.sweep(world.now).await, 2);
    assert_eq!(world.sweep(world.now).await, 0);
    let record = world.record(submitted).await;
    assert_eq!((record.state, record.dlr), (MessageState::Submitted, DlrCode::Unknown));
    link.receipt("s", DeliveryOutcome::Delivered).await;
    world.flush().await;
    assert_eq!(world.state(submitted).await, MessageState::Delivered);
    world.assert_audit_clean();
}

#[tokio::test]
async fn enroute_message_stays_enroute_when_its_receipt_is_overdue() {
    let mut world = World::new().await;
    let link = world.link_with_slots(1).await;
    let message = world.send(world.sms()).await;
    link.accept(&link.take_job().await, "e").await;
    link.receipt("e", DeliveryOutcome::Enroute).await;
    world.flush().await;
    world.now = world.now.plus(VALIDITY + secs(24 * 3600));
    assert_eq!(world.sweep(world.now).await, 1);
    let record = world.record(message).await;
    assert_eq!((record.state, record.dlr), (MessageState::Enroute, DlrCode::Unknown));
    world.assert_audit_clean();
}

#[tokio::test]
async fn long_message_is_delivered_when_all_its_parts_are() {
    let mut world = World::new().await;
    let link = world.link_with_slots(3).await;
    let message = world.send(Acceptance { parts: 3, ..world.sms() }).await;
    let jobs = link.take_jobs(3).await;
    assert_eq!(jobs.iter().map(|job| job.part.get()).collect::<Vec<_>>(), [1, 2, 3]);
    assert!(jobs.iter().all(|job| job.reference == jobs[0].reference));
    link.accept(&jobs[0], "p1").await;
    link.receipt("p1", DeliveryOutcome::Delivered).await;
    link.accept(&jobs[1], "p2").await;
    world.flush().await;
    assert_eq!(
        world.state(message).await,
        MessageState::Queued,
        "the carrier has not accepted its last part"
    );
    link.accept(&jobs[2], "p3").await;
    link.receipt("p2", DeliveryOutcome::Enroute).await;
    world.flush().await;
    assert_eq!(world.state(message).await, MessageState::Enroute);
    world.restart().await;
    let link = world.link().await;
    link.receipt("p2", DeliveryOutcome::Delivered).await;
    world.flush().await;
    assert_eq!(world.state(message).await, MessageState::Enroute, "the state does not go back");
    link.receipt("p3", DeliveryOutcome::Delivered).await;
    world.flush().await;
    assert_eq!(world.state(message).await, MessageState::Delivered);
    assert_eq!(world.balance(ALICE).await, PAID_IN - PRICE);
    world.assert_audit_clean();
}

#[tokio::test]
async fn first_failed_part_ends_a_long_message_and_its_queued_parts() {
    let world = World::new().await;
    let link = world.link_with_slots(2).await;
    let message = world.send(Acceptance { parts: 3, ..world.sms() }).await;
    let jobs = link.take_jobs(2).await;
    link.answer(&jobs[0], refused(0x0b)).await;
    link.add_slots(5).await;
    world.flush().await;
    link.assert_idle().await;
    assert_eq!(world.state(message).await, MessageState::Undeliverable);
    // The response and receipt of the second part change nothing.
    link.accept(&jobs[1], "late").await;
    link.receipt("late", DeliveryOutcome::Delivered).await;
    world.flush().await;
    assert_eq!(world.state(message).await, MessageState::Undeliverable);
    assert_eq!(world.timeline(message), ["late_receipt"]);
    assert_eq!(world.balance(ALICE).await, PAID_IN - PRICE);
    world.assert_audit_clean();
}

#[tokio::test]
async fn long_message_is_refunded_only_if_no_part_may_have_been_sent() {
    let mut world = World::new().await;
    let link = world.link_with_slots(1).await;
    world.send(Acceptance { parts: 2, ..world.sms() }).await;
    let job = link.take_job().await;
    link.accept(&job, "gone").await;
    world.flush().await;
    world.now = world.now.plus(VALIDITY);
    world.sweep(world.now).await;
    assert_eq!(world.state(job.message).await, MessageState::Expired);
    assert_eq!(world.balance(ALICE).await, PAID_IN - PRICE);
    world.assert_audit_clean();
}
