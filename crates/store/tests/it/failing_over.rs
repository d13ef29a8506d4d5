//! A carrier that does not want a message, and another one that may take it.

use crate::world::*;
use hermod_domain::ids::{CarrierId, MessageId};
use hermod_domain::lifecycle::{DoubtPolicy, MessageState, RefusedFor, Verdict};
use hermod_store::{Acceptance, Job, ResponseRecord, SubmitResponse};

const PAID_IN: i64 = 1_000_000_000;
const TROUBLE: SubmitResponse = SubmitResponse::Temporary { status: 0x64, after: None };
const NO: SubmitResponse = SubmitResponse::Refused { about: RefusedFor::Anything, status: 0x45 };

fn or(job: &Job, said: SubmitResponse, otherwise: CarrierId) -> ResponseRecord {
    ResponseRecord { failover_to: Some(split(otherwise)), ..answer(job, said) }
}

impl Link {
    async fn says_or(&self, job: &Job, said: SubmitResponse, otherwise: CarrierId) {
        self.says(vec![or(job, said, otherwise)], Vec::new()).await;
    }
}

/// Sends a message and has its carrier fail once.
async fn failed_once(world: &mut World, link: &mut Link) -> MessageId {
    let message = world.sends(world.sms()).await;
    link.says_or(&link.takes_job().await, TROUBLE, OTHER).await;
    link.has_room(1).await;
    world.passes(secs(6)).await;
    link.now = world.now;
    message
}

#[tokio::test]
async fn after_two_temporary_errors_a_message_goes_to_the_other_carrier_at_once() {
    let mut world = World::new().await;
    let mut link = world.link_with_room(1).await;
    let other = world.link_to(OTHER, 5).await;
    let message = failed_once(&mut world, &mut link).await;
    other.has_nothing().await;

    link.says_or(&link.takes_job().await, TROUBLE, OTHER).await;
    let job = other.takes_job().await;
    assert_eq!((job.message, job.carrier), (message, OTHER));
    other.accepts(&job, "over there").await;
    link.has_room(5).await;
    other.receipt("over there", Verdict::Delivered).await;
    world.settles().await;
    let record = world.sees(message).await;
    assert_eq!((record.state, record.carrier), (MessageState::Delivered, OTHER));
    assert_eq!(world.timeline(message), ["temporary_error", "temporary_error", "failed_over"]);
    assert_eq!(world.balance(ALICE).await, PAID_IN - PRICE, "charged once");
    // Its old waiting time means nothing any more.
    world.passes(secs(700)).await;
    link.has_nothing().await;
    world.books_are_sound();
}

#[tokio::test]
async fn two_carriers_in_trouble_do_not_pass_a_message_to_and_fro() {
    let mut world = World::new().await;
    let mut link = world.link_with_room(1).await;
    let mut other = world.link_to(OTHER, 1).await;
    let message = failed_once(&mut world, &mut link).await;
    link.says_or(&link.takes_job().await, TROUBLE, OTHER).await;
    // From here on each failure waits on the schedule before the next carrier is tried: two minutes, then ten.
    for wait in [120, 600, 600] {
        other.now = world.now;
        other.says_or(&other.takes_job().await, TROUBLE, link.carrier).await;
        link.has_room(1).await;
        world.passes(secs(wait).mul_f32(0.89)).await;
        link.has_nothing().await;
        world.passes(secs(wait).mul_f32(0.22)).await;
        std::mem::swap(&mut link, &mut other);
    }
    assert_eq!(other.takes_job().await.message, message);
    world.books_are_sound();
}

#[tokio::test]
async fn message_whose_recipient_is_throttled_goes_to_the_other_carrier_after_ten_seconds_and_only_once() {
    let aside = || SubmitResponse::SteppedAside { wait: secs(5), sent: true };
    let mut world = World::new().await;
    let mut link = world.link_with_room(1).await;
    let mut other = world.link_to(OTHER, 1).await;
    let message = world.sends(world.sms()).await;
    for _ in 0..2 {
        link.now = world.now;
        link.says_or(&link.takes_job().await, aside(), OTHER).await;
        link.has_room(1).await;
        world.settles().await;
        other.has_nothing().await;
        world.passes(secs(5)).await;
    }
    link.now = world.now;
    link.says_or(&link.takes_job().await, aside(), OTHER).await;
    let job = other.takes_job().await;
    assert_eq!((job.message, job.carrier), (message, OTHER));
    other.now = world.now;
    other.says_or(&job, aside(), ACME).await;
    other.has_room(1).await;
    link.has_room(1).await;
    world.passes(secs(6)).await;
    link.has_nothing().await;
    assert_eq!(other.takes_job().await.message, message, "it stays there");
    assert_eq!(world.timeline(message), ["failed_over"]);
    world.books_are_sound();
}

#[tokio::test]
async fn a_long_message_moves_whole_and_only_if_no_part_of_it_was_taken() {
    for taken in [false, true] {
        let mut world = World::new().await;
        let mut link = world.link_with_room(3).await;
        let other = world.link_to(OTHER, 9).await;
        let message = world.sends(Acceptance { parts: 3, ..world.sms() }).await;
        let jobs = link.takes_jobs(3).await;
        let first = if taken { SubmitResponse::Accepted(remote("taken")) } else { TROUBLE };
        let said =
            vec![or(&jobs[0], first, OTHER), or(&jobs[1], TROUBLE, OTHER), or(&jobs[2], TROUBLE, OTHER)];
        link.says(said, Vec::new()).await;
        link.has_room(3).await;
        world.passes(secs(6)).await;
        link.now = world.now;
        let jobs = link.takes_jobs(if taken { 2 } else { 3 }).await;
        link.says(jobs.iter().map(|job| or(job, TROUBLE, OTHER)).collect(), Vec::new()).await;
        world.settles().await;
        if taken {
            other.has_nothing().await;
            assert_eq!(world.sees(message).await.carrier, ACME);
        } else {
            let parts: Vec<u8> = other.takes_jobs(3).await.iter().map(|job| job.part.get()).collect();
            assert_eq!(parts, [1, 2, 3]);
            assert_eq!(world.sees(message).await.carrier, OTHER);
        }
        world.books_are_sound();
    }
}

#[tokio::test]
async fn a_refusal_moves_the_message_where_its_route_wants_that_and_ends_it_once_all_have_refused() {
    let world = World::new().await;
    let link = world.link_with_room(5).await;
    let other = world.link_to(OTHER, 5).await;
    let message = world.sends(world.sms()).await;
    link.says_or(&link.takes_job().await, NO, OTHER).await;
    let job = other.takes_job().await;
    assert_eq!((job.message, world.state(message).await), (message, MessageState::Queued));
    other.says_or(&job, NO, ACME).await;
    world.settles().await;
    link.has_nothing().await;
    let record = world.sees(message).await;
    assert_eq!((record.state, record.err, record.carrier), (MessageState::Undeliverable, 10_069, OTHER));
    assert_eq!(world.timeline(message), ["refused", "failed_over"]);
    world.books_are_sound();
}

#[tokio::test]
async fn a_refused_part_waits_for_the_answers_to_the_others() {
    // What the carrier says to the second part decides about the first.
    let cases = [(NO, true), (TROUBLE, true), (SubmitResponse::Accepted(remote("taken")), false)];
    for (said, moves) in cases {
        let mut world = World::new().await;
        let mut link = world.link_with_room(2).await;
        let other = world.link_to(OTHER, 9).await;
        let message = world.sends(Acceptance { parts: 2, ..world.sms() }).await;
        let jobs = link.takes_jobs(2).await;
        link.says_or(&jobs[0], NO, OTHER).await;
        world.settles().await;
        assert_eq!(world.state(message).await, MessageState::Queued, "not ended yet");
        link.says_or(&jobs[1], said.clone(), OTHER).await;
        link.has_room(2).await;
        world.settles().await;
        if said == NO {
            assert_eq!(other.takes_jobs(2).await.len(), 2, "both were refused");
            world.books_are_sound();
            continue;
        }
        other.has_nothing().await;
        world.passes(secs(6)).await;
        link.now = world.now;
        let again: Vec<_> = link.takes_jobs(if moves { 2 } else { 1 }).await;
        assert_eq!(again[0].part, jobs[0].part, "tried once more");
        let said = again.iter().map(|job| or(job, NO, OTHER)).collect();
        link.says(said, Vec::new()).await;
        world.settles().await;
        if moves {
            assert_eq!(other.takes_jobs(2).await.len(), 2);
        } else {
            other.has_nothing().await;
            assert_eq!(world.state(message).await, MessageState::Undeliverable);
        }
        world.books_are_sound();
    }
}

#[tokio::test]
async fn what_is_in_doubt_moves_only_after_its_time_and_its_resend_is_told() {
    let mut world = World::new().await;
    let mut link = world.link_with_room(2).await;
    let other = world.link_to(OTHER, 9).await;
    let message = world.sends(Acceptance { parts: 2, ..world.sms() }).await;
    let jobs = link.takes_jobs(2).await;
    // The first may have left; the second fails, twice before the first's time is over.
    link.says(vec![answer(&jobs[0], SubmitResponse::NoResponse), or(&jobs[1], TROUBLE, OTHER)], Vec::new())
        .await;
    link.has_room(1).await;
    world.passes(secs(6)).await;
    link.now = world.now;
    link.says_or(&link.takes_job().await, TROUBLE, OTHER).await;
    world.settles().await;
    other.has_nothing().await;
    world.passes(IN_DOUBT_WAIT + secs(10)).await;
    link.now = world.now;
    // Both wait for a slot now; the second gets one and fails again.
    let again = world.store.waiting(ACME, None, 10).await.unwrap();
    assert_eq!(again.len(), 1, "nothing of it is with the carrier");
    link.has_room(2).await;
    let jobs = link.takes_jobs(2).await;
    link.says(vec![or(&jobs[0], TROUBLE, OTHER), or(&jobs[1], TROUBLE, OTHER)], Vec::new()).await;
    world.passes(secs(140)).await;
    assert_eq!(other.takes_jobs(2).await.len(), 2);
    let told =
        ["in_doubt", "temporary_error", "temporary_error", "resent", "temporary_error", "temporary_error"];
    let told: Vec<&str> = told.into_iter().chain(["failed_over", "resent"]).collect();
    assert_eq!(world.timeline(message), told);
    world.books_are_sound();
}

#[tokio::test]
async fn a_message_that_must_not_be_sent_twice_is_presumed_sent_and_never_moves() {
    let mut world = World::new().await;
    let mut link = world.link_with_room(2).await;
    let other = world.link_to(OTHER, 9).await;
    let once = Acceptance { parts: 2, doubt: DoubtPolicy::NeverResend, ..world.sms() };
    let message = world.sends(once).await;
    let jobs = link.takes_jobs(2).await;
    link.says(vec![answer(&jobs[0], SubmitResponse::NoResponse), or(&jobs[1], TROUBLE, OTHER)], Vec::new())
        .await;
    for wait in [6, 35, 140] {
        link.has_room(1).await;
        world.passes(secs(wait)).await;
        link.now = world.now;
        link.says_or(&link.takes_job().await, TROUBLE, OTHER).await;
    }
    world.settles().await;
    other.has_nothing().await;
    assert_eq!(world.sees(message).await.carrier, ACME);
    world.books_are_sound();
}

#[tokio::test]
async fn what_the_old_carrier_says_late_is_told_and_changes_nothing() {
    let late = [
        SubmitResponse::Accepted(remote("late")),
        SubmitResponse::Throttled,
        TROUBLE,
        NO,
        SubmitResponse::NoResponse,
        SubmitResponse::NotSent,
    ];
    for said in late {
        // With what the writer remembers of the message, and without.
        for forgets in [false, true] {
            let mut world = World::new().await;
            let mut link = world.link_with_room(1).await;
            let message = failed_once(&mut world, &mut link).await;
            let job = link.takes_job().await;
            link.says_or(&job, TROUBLE, OTHER).await;
            if forgets {
                world.settles().await;
                world.restarts().await;
                link = world.link_with_room(1).await;
            }
            let other = world.link_to(OTHER, 1).await;
            let moved = other.takes_job().await;
            link.says(vec![or(&job, said.clone(), OTHER)], vec![receipt(9, "late", Verdict::Undeliverable)])
                .await;
            assert_eq!(link.takes_recorded().await, [9]);
            assert_eq!(world.state(message).await, MessageState::Queued, "{said:?}");
            let told = world.timeline(message);
            assert!(
                told[2..].starts_with(&["failed_over".to_owned(), "late_response".to_owned()]),
                "{told:?}"
            );
            other.accepts(&moved, "good").await;
            other.receipt("good", Verdict::Delivered).await;
            world.settles().await;
            link.has_nothing().await;
            assert_eq!(world.state(message).await, MessageState::Delivered, "{said:?}");
            assert_eq!(world.balance(ALICE).await, PAID_IN - PRICE);
            world.books_are_sound();
        }
    }
}
