//! Long messages that their carrier takes whole: one submit_sm and one receipt, charged and shown by their parts.

use crate::world::*;
use hermod_domain::lifecycle::{MessageState, Verdict};
use hermod_domain::money::Money;
use hermod_store::{Acceptance, Answer, CustomerTlvs};

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
    link.answers(&jobs[0], Answer::Throttled).await;
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
