//! Long messages that their carrier takes whole: one submit_sm and one receipt, charged and shown by their parts.

use crate::world::*;
use hermod_domain::lifecycle::{MessageState, Verdict};
use hermod_domain::money::Money;
use hermod_store::{Acceptance, CustomerTlvs, LinkKind, Move, ResponseRecord, SubmitResponse, TargetCarrier};

fn whole(world: &World) -> Acceptance {
    Acceptance { parts: 3, whole: true, cost: Money::from_micros(3 * PRICE), ..world.sms() }
}

#[tokio::test]
async fn a_whole_message_is_sent_once_and_settled_by_one_receipt() {
    let world = World::new().await;
    let link = world.link_with_room(5).await;
    let message = world.sends(whole(&world)).await;
    let job = link.takes_job().await;
    assert_eq!((job.part.get(), job.parts, job.whole, job.submits()), (1, 3, true, 1));
    world.settles().await;
    link.has_nothing().await;
    link.accepts(&job, "a").await;
    world.settles().await;
    assert_eq!(world.state(message).await, MessageState::Submitted);
    world.books_are_sound();
    link.receipt("a", Verdict::Delivered).await;
    world.settles().await;
    let seen = world.sees(message).await;
    assert_eq!(
        (seen.state, seen.parts, seen.cost),
        (MessageState::Delivered, 3, Money::from_micros(3 * PRICE))
    );
    world.books_are_sound();
}

#[tokio::test]
async fn a_whole_message_and_what_its_customer_added_survive_a_restart() {
    let mut world = World::new().await;
    let tlvs = Some(CustomerTlvs([0x02, 0x04, 0, 2, 7, 7].into()));
    let message = world.sends(Acceptance { tlvs: tlvs.clone(), ..whole(&world) }).await;
    let split = world.sends(Acceptance { parts: 2, tlvs: tlvs.clone(), ..world.sms() }).await;
    world.restarts().await;
    let link = world.link_with_room(5).await;
    let jobs = link.takes_jobs(3).await;
    let shape: Vec<_> = jobs.iter().map(|job| (job.message, job.part.get(), job.whole)).collect();
    assert_eq!(shape, [(message, 1, true), (split, 1, false), (split, 2, false)]);
    assert!(jobs.iter().all(|job| job.tlvs == tlvs));
    assert!(!format!("{:?}", jobs[0]).contains("[2, 4"), "what a customer wrote is in no log");
    link.answers(&jobs[0], SubmitResponse::Throttled).await;
    link.has_room(1).await;
    assert_eq!(link.takes_job().await.message, message);
    world.books_are_sound();
}

#[tokio::test]
async fn what_is_charged_for_a_whole_message_comes_back_once() {
    let mut world = World::new().await;
    let before = world.balance(ALICE).await;
    let message = world.sends(whole(&world)).await;
    assert_eq!(world.balance(ALICE).await, before - 3 * PRICE);
    world.now = world.now.plus(VALIDITY);
    assert_eq!(world.sweeps(world.now).await, 1);
    assert_eq!(world.state(message).await, MessageState::Expired);
    assert_eq!(world.balance(ALICE).await, before);
    world.books_are_sound();
}

#[tokio::test]
async fn a_message_is_cut_or_joined_as_the_carrier_it_goes_to_takes_it() {
    let mut world = World::new().await;
    let to_whole = TargetCarrier { carrier: OTHER, whole: true };
    for restart in [false, true] {
        let joined = world.sends(Acceptance { parts: 3, ..world.sms() }).await;
        let there = Move { message: joined, account: ALICE, from: ACME, to: to_whole };
        assert_eq!(world.store.move_messages(vec![there], world.now).await.unwrap(), 1);
        world.books_are_sound();
        if restart {
            world.restarts().await;
        }
        let other = world.link_of(OTHER, LinkKind::Sends).await;
        other.has_room(5).await;
        let job = other.takes_job().await;
        assert_eq!((job.part.get(), job.parts, job.whole), (1, 3, true));
        // It does not want it, twice, and it goes back in parts.
        let trouble = SubmitResponse::Temporary { status: 8, after: Some(secs(1)) };
        let back = || ResponseRecord { failover_to: Some(split(ACME)), ..answer(&job, trouble.clone()) };
        other.says(vec![back()], Vec::new()).await;
        world.settles().await;
        world.passes(secs(1)).await;
        other.has_room(5).await;
        other.takes_job().await;
        other.says(vec![back()], Vec::new()).await;
        world.settles().await;
        world.books_are_sound();
        let link = world.link_with_room(5).await;
        let jobs = link.takes_jobs(3).await;
        let shape: Vec<_> = jobs.iter().map(|job| (job.message, job.part.get(), job.whole)).collect();
        assert_eq!(shape, [(joined, 1, false), (joined, 2, false), (joined, 3, false)]);
        for (count, job) in jobs.iter().enumerate() {
            link.accepts(job, &format!("{joined}-{count}")).await;
            link.receipt(&format!("{joined}-{count}"), Verdict::Delivered).await;
        }
        world.settles().await;
        assert_eq!(world.state(joined).await, MessageState::Delivered);
        let queues = world.store.queues().await.unwrap();
        assert!(queues.iter().all(|queue| queue.waiting == 0 && queue.in_flight == 0), "{queues:?}");
        world.books_are_sound();
        link.closes().await.unwrap();
        other.closes().await.unwrap();
    }
}

#[tokio::test]
async fn what_may_have_left_whole_is_not_refunded_once_it_is_in_parts() {
    let mut world = World::new().await;
    let before = world.balance(ALICE).await;
    let link = world.link_with_room(1).await;
    let message = world.sends(whole(&world)).await;
    link.answers(&link.takes_job().await, SubmitResponse::NoResponse).await;
    world.passes(IN_DOUBT_WAIT).await;
    let away = Move { message, account: ALICE, from: ACME, to: split(OTHER) };
    assert_eq!(world.store.move_messages(vec![away], world.now).await.unwrap(), 1);
    world.books_are_sound();
    world.now = world.now.plus(VALIDITY);
    world.sweeps(world.now).await;
    assert_eq!(world.state(message).await, MessageState::Submitted, "presumed");
    assert_eq!(world.balance(ALICE).await, before - 3 * PRICE);
    world.books_are_sound();
}
