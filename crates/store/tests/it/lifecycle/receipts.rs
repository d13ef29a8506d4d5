//! Receipts before their submit_sm_resp, with it, repeated, late, and for unknown ids.

use super::PAID_IN;
use crate::world::*;
use hermod_domain::lifecycle::{DeliveryOutcome, MessageState};
use hermod_domain::phone::Msisdn;
use hermod_store::{Acceptance, ReceiptRecord, SubmitResponse};

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

/// The states of a message of Alice's to one number and of one of Bob's to another, which got the same id from their
/// carrier, after a receipt for that id. Receipts that were applied to none are kept.
async fn states_after_receipt_for_reused_id(source: Option<u64>, restart: bool) -> [MessageState; 2] {
    let mut world = World::new().await;
    world.pay_in(BOB, PAID_IN).await;
    let mut link = world.link_with_slots(2).await;
    let number = |last: u64| Msisdn::from_number(4_915_100_000_000 + last).expect("a part");
    let alices = world.send(Acceptance { to: number(1), ..world.sms() }).await;
    let bobs = world.send(Acceptance { account: BOB, to: number(2), ..world.sms() }).await;
    for job in link.take_jobs(2).await {
        link.accept(&job, "same").await;
    }
    world.flush().await;
    assert_eq!(world.store.receipts().take_reused_ids().get(&ACME), Some(&1));
    if restart {
        drop(link);
        world.restart().await;
        link = world.link().await;
    }
    let receipt =
        ReceiptRecord { source: source.map(number), ..receipt(9, "same", DeliveryOutcome::Delivered) };
    link.respond(Vec::new(), vec![receipt]).await;
    assert_eq!(link.take_recorded().await, [9], "the carrier gets its answer in any case");
    world.flush().await;
    let state = async |account, message| {
        world.store.messages().find(account, message).await.expect("a part").expect("a part").state
    };
    let states = [state(ALICE, alices).await, state(BOB, bobs).await];
    let parked = world.store.receipts().parked(ACME, 10).await.expect("a part");
    assert_eq!(parked.is_empty(), states.contains(&MessageState::Delivered));
    world.assert_audit_clean();
    states
}

#[tokio::test]
async fn receipt_for_a_reused_id_is_applied_only_to_the_message_whose_number_it_names() {
    const DELIVERED: MessageState = MessageState::Delivered;
    const SUBMITTED: MessageState = MessageState::Submitted;
    for restart in [false, true] {
        for (source, expect) in [
            (Some(1), [DELIVERED, SUBMITTED]),
            (Some(2), [SUBMITTED, DELIVERED]),
            (Some(3), [SUBMITTED, SUBMITTED]),
            (None, [SUBMITTED, SUBMITTED]),
        ] {
            assert_eq!(states_after_receipt_for_reused_id(source, restart).await, expect, "{source:?}");
        }
    }
}
