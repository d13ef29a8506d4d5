//! Parts in doubt: how often they are resent, after which waits, and what is left when no resend is.

use crate::world::*;
use hermod_domain::lifecycle::{DoubtPolicy, MessageState, Verdict};
use hermod_store::{Acceptance, Store, SubmitResponse};
use std::collections::BTreeMap;
use std::time::Duration;

/// What the gateway does by default.
fn resent(world: &World) -> Acceptance {
    Acceptance { doubt: DoubtPolicy::Resend, ..world.sms() }
}

#[tokio::test]
async fn part_in_doubt_is_resent_three_times_with_growing_waits_and_is_then_unconfirmed() {
    let mut world = World::new().await;
    let mut link = world.link_with_room(1).await;
    let message = world.sends(resent(&world)).await;
    let mut job = link.takes_job().await;
    for times in [1, 4, 20] {
        link.answers(&job, SubmitResponse::NoResponse).await;
        link.has_room(1).await;
        world.passes(IN_DOUBT_WAIT * times - Duration::from_millis(1)).await;
        link.has_nothing().await;
        world.passes(Duration::from_millis(1)).await;
        job = link.takes_job().await;
        assert_eq!(job.message, message);
        link.now = world.now;
        assert!(world.store.take_unconfirmed().is_empty(), "a resend is left");
    }
    assert_eq!(world.state(message).await, MessageState::Queued);
    link.answers(&job, SubmitResponse::NoResponse).await;
    link.has_room(1).await;
    world.passes(secs(24 * 3600)).await;
    link.has_nothing().await;
    assert_eq!(world.state(message).await, MessageState::Submitted);
    assert_eq!(world.store.take_unconfirmed(), BTreeMap::from([(ACME, 1)]));
    assert!(world.store.take_unconfirmed().is_empty(), "it is counted once");
    assert_eq!(Store::audit(world.path()).unwrap().resends, 3);
    let told = ["in_doubt", "resent", "in_doubt", "resent", "in_doubt", "resent", "in_doubt"];
    assert_eq!(world.timeline(message), told);
    assert_eq!(world.balance(ALICE).await, 1_000_000_000 - PRICE, "it stays charged");
    world.books_are_sound();
}

#[tokio::test]
async fn crash_during_a_resend_uses_up_that_resend_and_no_other() {
    let mut world = World::new().await;
    let message = world.sends(resent(&world)).await;
    for (resends, wait) in [(0, 1), (1, 4), (2, 20)] {
        let link = world.link_with_room(1).await;
        assert_eq!(link.takes_job().await.message, message);
        world.is_killed();
        assert_eq!(Store::audit(world.path()).unwrap().resends, resends);
        // Further crashes while it waits change neither its number of resends nor its time.
        world.is_killed();
        world.passes(IN_DOUBT_WAIT * wait - Duration::from_millis(1)).await;
        world.is_killed();
        let link = world.link_with_room(1).await;
        world.settles().await;
        link.has_nothing().await;
        link.closes().await.unwrap();
        world.passes(Duration::from_millis(1)).await;
    }
    let link = world.link_with_room(1).await;
    let job = link.takes_job().await;
    link.accepts(&job, "third time lucky").await;
    link.receipt("third time lucky", Verdict::Delivered).await;
    world.settles().await;
    assert_eq!(world.state(message).await, MessageState::Delivered);
    assert_eq!(Store::audit(world.path()).unwrap().resends, 3);
    world.books_are_sound();
}

#[tokio::test]
async fn crash_after_the_last_resend_leaves_the_part_unconfirmed() {
    let mut world = World::new().await;
    let once = Acceptance { doubt: DoubtPolicy::ResendOnce, ..world.sms() };
    let message = world.sends(once).await;
    world.link_with_room(1).await.takes_job().await;
    world.is_killed();
    assert!(world.store.take_unconfirmed().is_empty());
    world.passes(IN_DOUBT_WAIT).await;
    world.link_with_room(1).await.takes_job().await;
    world.is_killed();
    assert_eq!(world.state(message).await, MessageState::Submitted);
    assert_eq!(world.store.take_unconfirmed(), BTreeMap::from([(ACME, 1)]));
    world.books_are_sound();
}

#[tokio::test]
async fn part_in_doubt_at_the_end_of_its_validity_is_unconfirmed() {
    let mut world = World::new().await;
    let link = world.link_with_room(1).await;
    let message = world.sends(resent(&world)).await;
    link.answers(&link.takes_job().await, SubmitResponse::NoResponse).await;
    world.settles().await;
    world.now = world.now.plus(VALIDITY);
    world.sweeps(world.now).await;
    assert_eq!(world.state(message).await, MessageState::Submitted);
    assert_eq!(world.store.take_unconfirmed(), BTreeMap::from([(ACME, 1)]));
    world.books_are_sound();
}
