//! Parts in doubt: the number of resends, their waits, and the state after the last resend.

use crate::world::*;
use hermod_domain::lifecycle::{DeliveryOutcome, DoubtPolicy, MessageState};
use hermod_store::{Acceptance, SubmitResponse};
use std::collections::BTreeMap;
use std::time::Duration;

/// Returns a message with the gateway's default doubt policy.
fn resent(world: &World) -> Acceptance {
    Acceptance { doubt: DoubtPolicy::Resend, ..world.sms() }
}

#[tokio::test]
async fn part_in_doubt_is_resent_three_times_with_growing_waits_and_is_then_unconfirmed() {
    let mut world = World::new().await;
    let mut link = world.link_with_slots(1).await;
    let message = world.send(resent(&world)).await;
    let mut job = link.take_job().await;
    for times in [1, 4, 20] {
        link.answer(&job, SubmitResponse::NoResponse).await;
        link.add_slots(1).await;
        world.advance(IN_DOUBT_WAIT * times - Duration::from_millis(1)).await;
        link.assert_idle().await;
        world.advance(Duration::from_millis(1)).await;
        job = link.take_job().await;
        assert_eq!(job.message, message);
        link.now = world.now;
        assert!(world.store.receipts().take_unconfirmed().is_empty(), "another resend follows");
    }
    assert_eq!(world.state(message).await, MessageState::Queued);
    link.answer(&job, SubmitResponse::NoResponse).await;
    link.add_slots(1).await;
    world.advance(secs(24 * 3600)).await;
    link.assert_idle().await;
    assert_eq!(world.state(message).await, MessageState::Submitted);
    assert_eq!(world.store.receipts().take_unconfirmed(), BTreeMap::from([(ACME, 1)]));
    assert!(world.store.receipts().take_unconfirmed().is_empty(), "each unconfirmed part is reported once");
    assert_eq!(crate::world::audit(world.path()).resends, 3);
    let expected = ["in_doubt", "resent", "in_doubt", "resent", "in_doubt", "resent", "in_doubt"];
    assert_eq!(world.timeline(message), expected);
    assert_eq!(world.balance(ALICE).await, 1_000_000_000 - PRICE, "it stays charged");
    world.assert_audit_clean();
}

#[tokio::test]
async fn crash_during_a_resend_uses_up_one_resend() {
    let mut world = World::new().await;
    let message = world.send(resent(&world)).await;
    for (resends, wait) in [(0, 1), (1, 4), (2, 20)] {
        let link = world.link_with_slots(1).await;
        assert_eq!(link.take_job().await.message, message);
        world.kill();
        assert_eq!(crate::world::audit(world.path()).resends, resends);
        // Further crashes while the part waits change neither its number of resends nor its due time.
        world.kill();
        world.advance(IN_DOUBT_WAIT * wait - Duration::from_millis(1)).await;
        world.kill();
        let link = world.link_with_slots(1).await;
        world.flush().await;
        link.assert_idle().await;
        link.close().await.unwrap();
        world.advance(Duration::from_millis(1)).await;
    }
    let link = world.link_with_slots(1).await;
    let job = link.take_job().await;
    link.accept(&job, "third time lucky").await;
    link.receipt("third time lucky", DeliveryOutcome::Delivered).await;
    world.flush().await;
    assert_eq!(world.state(message).await, MessageState::Delivered);
    assert_eq!(crate::world::audit(world.path()).resends, 3);
    world.assert_audit_clean();
}

#[tokio::test]
async fn crash_after_the_last_resend_leaves_the_part_unconfirmed() {
    let mut world = World::new().await;
    let once = Acceptance { doubt: DoubtPolicy::ResendOnce, ..world.sms() };
    let message = world.send(once).await;
    world.link_with_slots(1).await.take_job().await;
    world.kill();
    assert!(world.store.receipts().take_unconfirmed().is_empty());
    world.advance(IN_DOUBT_WAIT).await;
    world.link_with_slots(1).await.take_job().await;
    world.kill();
    assert_eq!(world.state(message).await, MessageState::Submitted);
    assert_eq!(world.store.receipts().take_unconfirmed(), BTreeMap::from([(ACME, 1)]));
    world.assert_audit_clean();
}

#[tokio::test]
async fn part_in_doubt_at_the_end_of_its_validity_is_unconfirmed() {
    let mut world = World::new().await;
    let link = world.link_with_slots(1).await;
    let message = world.send(resent(&world)).await;
    link.answer(&link.take_job().await, SubmitResponse::NoResponse).await;
    world.flush().await;
    world.now = world.now.plus(VALIDITY);
    world.sweep(world.now).await;
    assert_eq!(world.state(message).await, MessageState::Submitted);
    assert_eq!(world.store.receipts().take_unconfirmed(), BTreeMap::from([(ACME, 1)]));
    world.assert_audit_clean();
}
