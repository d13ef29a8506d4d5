//! Expiry: queued messages end in bounded steps and are refunded if no carrier can have them.

use crate::world::*;
use hermod_domain::lifecycle::{DeliveryOutcome, MessageState};
use hermod_domain::receipt::DlrCode;
use hermod_store::{AcceptOutcome, Acceptance, SubmitResponse};
use tokio::task::JoinSet;

/// The most messages that may expire in one transaction because a link has room.
const AT_ONCE: i64 = 500;

impl World {
    async fn send_many(&self, count: usize) {
        let mut sending = JoinSet::new();
        for _ in 0..count {
            let (store, acceptance) = (self.store.clone(), self.sms());
            sending.spawn(async move { store.accept(acceptance).await.expect("the store answers") });
        }
        for outcome in sending.join_all().await {
            assert!(matches!(outcome, AcceptOutcome::Accepted { .. }), "{outcome:?}");
        }
    }

    fn count_ended(&self) -> i64 {
        let query = "SELECT count(*) FROM message WHERE settled_at IS NOT NULL";
        self.raw().number(query)
    }
}

#[tokio::test]
async fn expired_backlog_ends_in_bounded_steps_when_a_link_returns() {
    let mut world = World::new().await;
    world.send_many(1_700).await;
    world.advance(VALIDITY + secs(1)).await;
    let fresh = world.send(world.sms()).await;
    let elsewhere = world.send(Acceptance { carrier: OTHER, ..world.sms() }).await;
    let link = world.link_with_slots(1).await;
    let other = world.link_to(OTHER, 1).await;
    assert_eq!(other.take_job().await.message, elsewhere, "other carriers are not held up");
    assert!(world.count_ended() <= 3 * AT_ONCE, "{}", world.count_ended());
    let mut before = world.count_ended();
    while before < 1_700 {
        world.advance(secs(0)).await;
        let ended = world.count_ended();
        // One tick and the requests around it.
        assert!(ended > before && ended - before <= 4 * AT_ONCE, "{before} then {ended}");
        before = ended;
    }
    assert_eq!(link.take_job().await.message, fresh, "the message that has not expired is sent");
    assert_eq!(world.balance(ALICE).await, 1_000_000_000 - 2 * PRICE, "all of them were refunded");
    world.assert_audit_clean();
}

#[tokio::test]
async fn expired_message_is_not_sent_by_a_batch_without_a_time() {
    let mut world = World::new().await;
    world.send_many(600).await;
    world.advance(VALIDITY + secs(1)).await;
    let link = world.link_with_slots(10).await;
    // None of these requests carries the time.
    for _ in 0..5 {
        world.flush().await;
    }
    link.assert_idle().await;
    assert_eq!(world.count_ended(), 600);
    world.assert_audit_clean();
}

#[tokio::test]
async fn expired_message_is_refunded_only_if_no_carrier_can_have_it() {
    // (the carrier's response to the only attempt, the state after the validity, refunded)
    let cases: [(Option<SubmitResponse>, MessageState, bool); 4] = [
        (None, MessageState::Expired, true),
        (Some(SubmitResponse::Temporary { status: 0x08, after: None }), MessageState::Expired, true),
        (Some(SubmitResponse::NoResponse), MessageState::Submitted, false),
        (Some(SubmitResponse::Accepted(remote("id"))), MessageState::Submitted, false),
    ];
    for (said, state, is_refunded) in cases {
        let mut world = World::new().await;
        let message = world.send(world.sms()).await;
        if let Some(said) = said.clone() {
            let link = world.link_with_slots(1).await;
            link.answer(&link.take_job().await, said).await;
            link.close().await.expect("the link closes");
        }
        world.advance(VALIDITY).await;
        world.sweep(world.now).await;
        assert_eq!(world.state(message).await, state, "{said:?}");
        let cost = if is_refunded { 0 } else { PRICE };
        assert_eq!(world.balance(ALICE).await, 1_000_000_000 - cost, "{said:?}");
        // A message that has not ended becomes UNKNOWN 24 hours later; its state and charge stay.
        world.advance(RECEIPT_WAIT - secs(1)).await;
        assert_eq!(world.sweep(world.now).await, 0, "{said:?}");
        world.advance(secs(1)).await;
        assert_eq!(world.sweep(world.now).await, usize::from(!is_refunded), "{said:?}");
        assert_eq!(world.sweep(world.now).await, 0, "once");
        let record = world.record(message).await;
        let code = if is_refunded { DlrCode::Expired } else { DlrCode::Unknown };
        assert_eq!((record.state, record.dlr), (state, code), "{said:?}");
        world.assert_audit_clean();
    }
}

#[tokio::test]
async fn receipt_after_unknown_ends_the_message_once() {
    let mut world = World::new().await;
    let link = world.link_with_slots(1).await;
    let message = world.send(world.sms()).await;
    link.accept(&link.take_job().await, "id").await;
    world.advance(VALIDITY + RECEIPT_WAIT).await;
    assert_eq!(world.sweep(world.now).await, 1);
    link.receipt("id", DeliveryOutcome::Delivered).await;
    link.receipt("id", DeliveryOutcome::Undeliverable).await;
    world.flush().await;
    let record = world.record(message).await;
    assert_eq!((record.state, record.dlr), (MessageState::Delivered, DlrCode::Delivrd));
    assert_eq!(world.balance(ALICE).await, 1_000_000_000 - PRICE);
    world.assert_audit_clean();
}
