//! The life of a message from acceptance to its end, in every way a carrier can make it go.

mod receipts;

use crate::world::*;
use hermod_domain::ids::PartNo;
use hermod_domain::lifecycle::{DoubtPolicy, MessageState, RefusedFor, Verdict};
use hermod_domain::receipt::DlrCode;
use hermod_store::{Acceptance, Store, SubmitResponse};
use std::time::Duration;

const PAID_IN: i64 = 1_000_000_000;

#[tokio::test]
async fn a_message_is_delivered() {
    let world = World::new().await;
    let link = world.link_with_room(10).await;
    let message = world.sends(world.sms()).await;
    assert_eq!(world.state(message).await, MessageState::Queued);

    let job = link.takes_job().await;
    assert_eq!((job.message, job.part, job.parts, job.account), (message, PartNo::FIRST, 1, ALICE));
    assert_eq!((job.text.as_str(), job.from.as_str()), ("hello", "Hermod"));
    assert_eq!(job.expires_at, world.now.plus(VALIDITY));
    assert_eq!(world.state(message).await, MessageState::Queued, "until the carrier has it");

    link.accepts(&job, "a1").await;
    world.settles().await;
    assert_eq!(world.state(message).await, MessageState::Submitted);

    link.says(Vec::new(), vec![receipt(42, "a1", Verdict::Enroute)]).await;
    assert_eq!(link.takes_recorded().await, [42], "answered only once it is durable");
    let record = world.sees(message).await;
    assert_eq!((record.state, record.dlr), (MessageState::Enroute, DlrCode::Acceptd));

    link.receipt("a1", Verdict::Delivered).await;
    world.settles().await;
    let record = world.sees(message).await;
    assert_eq!((record.state, record.dlr, record.err), (MessageState::Delivered, DlrCode::Delivrd, 0));
    assert_eq!(record.settled_at, Some(world.now));
    assert_eq!(world.balance(ALICE).await, PAID_IN - PRICE, "charged once");
    world.books_are_sound();
}

#[tokio::test]
async fn every_final_word_of_a_carrier_ends_the_message_and_keeps_the_money() {
    let by_receipt = |verdict| (SubmitResponse::Accepted(remote("r")), Some(verdict));
    let refusal = |about| (SubmitResponse::Refused { about, status: 11 }, None);
    let cases = [
        (by_receipt(Verdict::Delivered), MessageState::Delivered, DlrCode::Delivrd),
        (by_receipt(Verdict::Undeliverable), MessageState::Undeliverable, DlrCode::Undeliv),
        (by_receipt(Verdict::Rejected), MessageState::Undeliverable, DlrCode::Rejectd),
        (by_receipt(Verdict::Expired), MessageState::Expired, DlrCode::Expired),
        (refusal(RefusedFor::Destination), MessageState::Undeliverable, DlrCode::Undeliv),
        (refusal(RefusedFor::Anything), MessageState::Undeliverable, DlrCode::Rejectd),
    ];
    for ((answered, verdict), state, dlr) in cases {
        let world = World::new().await;
        let link = world.link_with_room(1).await;
        let message = world.sends(world.sms()).await;
        let job = link.takes_job().await;
        link.answers(&job, answered).await;
        if let Some(verdict) = verdict {
            link.receipt("r", verdict).await;
        }
        world.settles().await;
        let record = world.sees(message).await;
        assert_eq!((record.state, record.dlr), (state, dlr), "{verdict:?}");
        assert_eq!(record.err, if verdict.is_none() { 10_011 } else { 0 });
        assert_eq!(world.balance(ALICE).await, PAID_IN - PRICE, "{state}: no refund");
        world.books_are_sound();
    }
}

#[tokio::test]
async fn a_throttled_part_goes_back_to_the_front() {
    let world = World::new().await;
    let link = world.link_with_room(2).await;
    let mut sent = Vec::new();
    for _ in 0..4 {
        sent.push(world.sends(world.sms()).await);
    }
    let jobs = link.takes_jobs(2).await;
    link.says(jobs.iter().map(|job| answer(job, SubmitResponse::Throttled)).collect(), Vec::new()).await;
    world.settles().await;
    link.has_nothing().await;
    link.has_room(4).await;
    let order: Vec<_> = link.takes_jobs(4).await.iter().map(|job| job.message).collect();
    assert_eq!(order, sent);
    assert_eq!(world.timeline(sent[0]), [""; 0], "throttling is nothing to tell");
    world.books_are_sound();
}

#[tokio::test]
async fn part_that_steps_aside_lets_others_pass_and_comes_back_first_without_an_attempt() {
    for (sent, doubts) in [(true, false), (false, false), (false, true)] {
        let mut world = World::new().await;
        let mut link = world.link_with_room(1).await;
        let first = world.sends(world.sms()).await;
        if doubts {
            link.answers(&link.takes_job().await, SubmitResponse::NoResponse).await;
            link.has_room(1).await;
            world.passes(secs(60)).await;
            link.now = world.now;
        }
        let second = world.sends(world.sms()).await;
        let third = world.sends(world.sms()).await;
        let job = link.takes_job().await;
        assert_eq!(job.message, first);
        link.answers(&job, SubmitResponse::SteppedAside { wait: secs(5), sent }).await;
        link.has_room(1).await;
        assert_eq!(link.takes_job().await.message, second, "it lets others pass");
        world.passes(secs(4)).await;
        link.has_nothing().await;
        world.passes(secs(2)).await;
        link.now = world.now;
        link.has_room(2).await;
        let order: Vec<_> = link.takes_jobs(2).await.iter().map(|job| job.message).collect();
        assert_eq!(order, [first, third], "then it has its old place");
        let told = world.timeline(first);
        assert!(!told.iter().any(|line| line == "temporary_error"), "{told:?}");
        world.books_are_sound();
    }
}

#[tokio::test]
async fn what_was_never_sent_goes_back_to_the_front() {
    let world = World::new().await;
    let link = world.link_with_room(1).await;
    let first = world.sends(world.sms()).await;
    let second = world.sends(world.sms()).await;
    let job = link.takes_job().await;
    link.answers(&job, SubmitResponse::NotSent).await;
    link.closes().await.unwrap();
    let link = world.link_with_room(2).await;
    let jobs = link.takes_jobs(2).await;
    assert_eq!([jobs[0].message, jobs[1].message], [first, second]);
}

#[tokio::test]
async fn a_temporary_error_comes_back_on_schedule() {
    let mut world = World::new().await;
    let mut link = world.link_with_room(1).await;
    let message = world.sends(world.sms()).await;
    // The schedule strays by up to a tenth to either side.
    for wait in [5, 30, 120, 600, 600] {
        let job = link.takes_job().await;
        link.now = world.now;
        link.answers(&job, SubmitResponse::Temporary { status: 0x14, after: None }).await;
        link.has_room(1).await;
        world.settles().await;
        world.passes(secs(wait).mul_f32(0.89)).await;
        link.has_nothing().await;
        world.passes(secs(wait).mul_f32(0.22)).await;
    }
    assert_eq!(link.takes_job().await.message, message);
    assert_eq!(world.timeline(message), ["temporary_error"; 5]);
    assert_eq!(world.state(message).await, MessageState::Queued);
    world.books_are_sound();
}

#[tokio::test]
async fn no_answer_puts_a_part_in_doubt_and_it_is_sent_once_more_then_presumed() {
    let mut world = World::new().await;
    let link = world.link_with_room(1).await;
    let message = world.sends(world.sms()).await;
    let job = link.takes_job().await;
    link.answers(&job, SubmitResponse::NoResponse).await;
    link.has_room(5).await;
    world.passes(IN_DOUBT_WAIT - Duration::from_millis(1)).await;
    link.has_nothing().await;
    world.passes(Duration::from_millis(1)).await;
    let again = link.takes_job().await;
    assert_eq!((again.message, again.part), (job.message, job.part));
    assert_eq!(world.timeline(message), ["in_doubt", "resent"]);

    link.answers(&again, SubmitResponse::NoResponse).await;
    world.passes(secs(24 * 3600)).await;
    link.has_nothing().await;
    assert_eq!(world.state(message).await, MessageState::Submitted, "presumed to be with the carrier");
    assert_eq!(world.timeline(message), ["in_doubt", "resent", "in_doubt"]);
    assert_eq!(Store::audit(world.path()).unwrap().resends, 1);
    world.books_are_sound();
}

#[tokio::test]
async fn a_resend_that_is_answered_goes_on_as_usual() {
    let mut world = World::new().await;
    let link = world.link_with_room(2).await;
    let message = world.sends(world.sms()).await;
    link.answers(&link.takes_job().await, SubmitResponse::NoResponse).await;
    world.settles().await;
    world.passes(IN_DOUBT_WAIT).await;
    let again = link.takes_job().await;
    link.accepts(&again, "x").await;
    link.receipt("x", Verdict::Delivered).await;
    world.settles().await;
    assert_eq!(world.state(message).await, MessageState::Delivered);
    world.books_are_sound();
}

#[tokio::test]
async fn a_route_that_never_resends_presumes_at_once() {
    let mut world = World::new().await;
    let link = world.link_with_room(5).await;
    let message = world.sends(Acceptance { doubt: DoubtPolicy::NeverResend, ..world.sms() }).await;
    link.answers(&link.takes_job().await, SubmitResponse::NoResponse).await;
    world.settles().await;
    assert_eq!(world.state(message).await, MessageState::Submitted);
    world.passes(secs(3600)).await;
    link.has_nothing().await;
    assert_eq!(world.timeline(message), ["in_doubt"]);
    world.books_are_sound();
}

#[tokio::test]
async fn what_expires_in_the_queue_is_refunded_exactly_once() {
    let mut world = World::new().await;
    let message = world.sends(world.sms()).await;
    let long = world.sends(Acceptance { parts: 3, ..world.sms() }).await;
    assert_eq!(world.sweeps(world.now.plus(VALIDITY).minus(Duration::from_millis(1))).await, 0);
    world.now = world.now.plus(VALIDITY);
    assert_eq!(world.sweeps(world.now).await, 4, "one part and three");
    for _ in 0..2 {
        assert_eq!(world.sweeps(world.now).await, 0);
        for id in [message, long] {
            let record = world.sees(id).await;
            assert_eq!((record.state, record.dlr), (MessageState::Expired, DlrCode::Expired));
        }
        assert_eq!(world.balance(ALICE).await, PAID_IN);
        world.restarts().await;
    }
    let link = world.link_with_room(5).await;
    world.settles().await;
    link.has_nothing().await;
    world.books_are_sound();
}

#[tokio::test]
async fn what_has_expired_when_its_turn_comes_is_not_sent() {
    let mut world = World::new().await;
    let message = world.sends(world.sms()).await;
    world.now = world.now.plus(VALIDITY);
    let link = world.link_with_room(5).await;
    world.settles().await;
    link.has_nothing().await;
    assert_eq!(world.state(message).await, MessageState::Expired);
    assert_eq!(world.balance(ALICE).await, PAID_IN, "refunded without waiting for a sweep");
    world.books_are_sound();
}

#[tokio::test]
async fn what_is_in_doubt_or_with_a_carrier_when_it_expires_is_not_refunded() {
    let mut world = World::new().await;
    let link = world.link_with_room(2).await;
    let in_doubt = world.sends(world.sms()).await;
    let submitted = world.sends(world.sms()).await;
    let jobs = link.takes_jobs(2).await;
    link.says(
        vec![
            answer(&jobs[0], SubmitResponse::NoResponse),
            answer(&jobs[1], SubmitResponse::Accepted(remote("s"))),
        ],
        vec![],
    )
    .await;
    world.settles().await;
    world.now = world.now.plus(VALIDITY);
    assert_eq!(world.sweeps(world.now).await, 1);
    assert_eq!(world.state(in_doubt).await, MessageState::Submitted, "presumed");
    assert_eq!(world.state(submitted).await, MessageState::Submitted);
    assert_eq!(world.balance(ALICE).await, PAID_IN - 2 * PRICE);

    // A day later nobody expects a receipt any more; if one comes it still counts.
    world.now = world.now.plus(secs(24 * 3600));
    assert_eq!(world.sweeps(world.now).await, 2);
    assert_eq!(world.sweeps(world.now).await, 0);
    let record = world.sees(submitted).await;
    assert_eq!((record.state, record.dlr), (MessageState::Submitted, DlrCode::Unknown));
    link.receipt("s", Verdict::Delivered).await;
    world.settles().await;
    assert_eq!(world.state(submitted).await, MessageState::Delivered);
    world.books_are_sound();
}

#[tokio::test]
async fn a_message_that_was_enroute_stays_so_when_its_receipt_is_overdue() {
    let mut world = World::new().await;
    let link = world.link_with_room(1).await;
    let message = world.sends(world.sms()).await;
    link.accepts(&link.takes_job().await, "e").await;
    link.receipt("e", Verdict::Enroute).await;
    world.settles().await;
    world.now = world.now.plus(VALIDITY + secs(24 * 3600));
    assert_eq!(world.sweeps(world.now).await, 1);
    let record = world.sees(message).await;
    assert_eq!((record.state, record.dlr), (MessageState::Enroute, DlrCode::Unknown));
    world.books_are_sound();
}

#[tokio::test]
async fn a_long_message_is_delivered_when_all_its_parts_are() {
    let mut world = World::new().await;
    let link = world.link_with_room(3).await;
    let message = world.sends(Acceptance { parts: 3, ..world.sms() }).await;
    let jobs = link.takes_jobs(3).await;
    assert_eq!(jobs.iter().map(|job| job.part.get()).collect::<Vec<_>>(), [1, 2, 3]);
    assert!(jobs.iter().all(|job| job.reference == jobs[0].reference));
    link.accepts(&jobs[0], "p1").await;
    link.receipt("p1", Verdict::Delivered).await;
    link.accepts(&jobs[1], "p2").await;
    world.settles().await;
    assert_eq!(world.state(message).await, MessageState::Queued, "its last part is not with the carrier");
    link.accepts(&jobs[2], "p3").await;
    link.receipt("p2", Verdict::Enroute).await;
    world.settles().await;
    assert_eq!(world.state(message).await, MessageState::Enroute);
    world.restarts().await;
    let link = world.link().await;
    link.receipt("p2", Verdict::Delivered).await;
    world.settles().await;
    assert_eq!(world.state(message).await, MessageState::Enroute, "it does not fall back");
    link.receipt("p3", Verdict::Delivered).await;
    world.settles().await;
    assert_eq!(world.state(message).await, MessageState::Delivered);
    assert_eq!(world.balance(ALICE).await, PAID_IN - PRICE);
    world.books_are_sound();
}

#[tokio::test]
async fn the_first_part_that_fails_ends_a_long_message_and_its_waiting_parts() {
    let world = World::new().await;
    let link = world.link_with_room(2).await;
    let message = world.sends(Acceptance { parts: 3, ..world.sms() }).await;
    let jobs = link.takes_jobs(2).await;
    link.answers(&jobs[0], refused(0x0b)).await;
    link.has_room(5).await;
    world.settles().await;
    link.has_nothing().await;
    assert_eq!(world.state(message).await, MessageState::Undeliverable);
    // The second part's answer and receipt come too late to change that.
    link.accepts(&jobs[1], "late").await;
    link.receipt("late", Verdict::Delivered).await;
    world.settles().await;
    assert_eq!(world.state(message).await, MessageState::Undeliverable);
    assert_eq!(world.timeline(message), ["late_receipt"]);
    assert_eq!(world.balance(ALICE).await, PAID_IN - PRICE);
    world.books_are_sound();
}

#[tokio::test]
async fn a_long_message_is_refunded_only_if_no_part_of_it_may_have_left() {
    let mut world = World::new().await;
    let link = world.link_with_room(1).await;
    world.sends(Acceptance { parts: 2, ..world.sms() }).await;
    let job = link.takes_job().await;
    link.accepts(&job, "gone").await;
    world.settles().await;
    world.now = world.now.plus(VALIDITY);
    world.sweeps(world.now).await;
    assert_eq!(world.state(job.message).await, MessageState::Expired);
    assert_eq!(world.balance(ALICE).await, PAID_IN - PRICE);
    world.books_are_sound();
}
