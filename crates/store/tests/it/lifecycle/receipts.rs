//! Receipts before their submit_sm_resp, with it, repeated, late, and for unknown ids.

use super::PAID_IN;
use crate::world::*;
use hermod_domain::lifecycle::{DeliveryOutcome, MessageState};
use hermod_store::SubmitResponse;

#[tokio::test]
async fn receipt_before_its_response_waits_for_it() {
    let world = World::new().await;
    let link = world.link_with_slots(1).await;
    let message = world.send(world.sms()).await;
    let job = link.take_job().await;
    link.respond(
        Vec::new(),
        vec![receipt(1, "z", DeliveryOutcome::Enroute), receipt(2, "z", DeliveryOutcome::Delivered)],
    )
    .await;
    assert_eq!(link.take_recorded().await, [1, 2]);
    assert_eq!(world.state(message).await, MessageState::Queued);
    link.accept(&job, "z").await;
    world.flush().await;
    assert_eq!(world.state(message).await, MessageState::Delivered);
    world.assert_audit_clean();
}

#[tokio::test]
async fn response_and_receipt_in_one_batch_settle_the_message() {
    let world = World::new().await;
    let link = world.link_with_slots(1).await;
    let message = world.send(world.sms()).await;
    let job = link.take_job().await;
    link.respond(
        vec![answer(&job, SubmitResponse::Accepted(remote("q")))],
        vec![receipt(1, "q", DeliveryOutcome::Delivered), receipt(2, "q", DeliveryOutcome::Delivered)],
    )
    .await;
    assert_eq!(link.take_recorded().await, [1, 2], "a repeated receipt is answered too");
    assert_eq!(world.state(message).await, MessageState::Delivered);
    assert_eq!(world.timeline(message), ["late_receipt"]);
    world.assert_audit_clean();
}

#[tokio::test]
async fn late_and_repeated_receipts_only_add_to_the_timeline() {
    let mut world = World::new().await;
    let link = world.link_with_slots(1).await;
    let message = world.send(world.sms()).await;
    link.accept(&link.take_job().await, "a").await;
    link.receipt("a", DeliveryOutcome::Delivered).await;
    world.flush().await;
    let before = world.record(message).await;
    world.restart().await;
    let link = world.link().await;
    for verdict in [DeliveryOutcome::Delivered, DeliveryOutcome::Undeliverable, DeliveryOutcome::NoChange] {
        link.receipt("a", verdict).await;
    }
    world.flush().await;
    assert_eq!(world.record(message).await, before);
    assert_eq!(world.timeline(message), ["late_receipt"; 3]);
    assert_eq!(world.balance(ALICE).await, PAID_IN - PRICE);
    world.assert_audit_clean();
}

#[tokio::test]
async fn receipt_for_an_unknown_id_is_answered_and_changes_nothing() {
    let world = World::new().await;
    let link = world.link().await;
    link.respond(Vec::new(), vec![receipt(9, "stranger", DeliveryOutcome::Delivered)]).await;
    assert_eq!(link.take_recorded().await, [9]);
    world.assert_audit_clean();
}

#[tokio::test]
async fn id_assigned_twice_by_a_carrier_is_in_the_timeline() {
    let world = World::new().await;
    let link = world.link_with_slots(2).await;
    let first = world.send(world.sms()).await;
    let second = world.send(world.sms()).await;
    for job in link.take_jobs(2).await {
        link.accept(&job, "same").await;
    }
    link.receipt("same", DeliveryOutcome::Delivered).await;
    world.flush().await;
    assert_eq!(world.state(first).await, MessageState::Submitted);
    assert_eq!(world.state(second).await, MessageState::Delivered);
    assert_eq!(world.timeline(second), ["carrier_id_reused"]);
    world.assert_audit_clean();
}
