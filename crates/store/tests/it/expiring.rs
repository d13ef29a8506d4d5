//! What has waited too long ends where it waits: with its money back if nobody can have it, and never all at once.

use crate::world::*;
use hermod_domain::lifecycle::{MessageState, Verdict};
use hermod_domain::receipt::DlrCode;
use hermod_store::{AcceptOutcome, Acceptance, SubmitResponse};
use tokio::task::JoinSet;

/// The most that may end in one transaction because a link has room.
const AT_ONCE: i64 = 500;

impl World {
    async fn sends_many(&self, count: usize) {
        let mut sending = JoinSet::new();
        for _ in 0..count {
            let (store, acceptance) = (self.store.clone(), self.sms());
            sending.spawn(async move { store.accept(acceptance).await.expect("the store answers") });
        }
        for outcome in sending.join_all().await {
            assert!(matches!(outcome, AcceptOutcome::Accepted { .. }), "{outcome:?}");
        }
    }

    fn ended(&self) -> i64 {
        let query = "SELECT count(*) FROM message WHERE settled_at IS NOT NULL";
        self.raw().query_row(query, [], |row| row.get(0)).expect("a number")
    }
}

#[tokio::test]
async fn a_backlog_that_has_expired_ends_bit_by_bit_when_a_link_comes_back() {
    let mut world = World::new().await;
    world.sends_many(1_700).await;
    world.passes(VALIDITY + secs(1)).await;
    let fresh = world.sends(world.sms()).await;
    let elsewhere = world.sends(Acceptance { carrier: OTHER, ..world.sms() }).await;
    let link = world.link_with_room(1).await;
    let other = world.link_to(OTHER, 1).await;
    assert_eq!(other.takes_job().await.message, elsewhere, "nobody else waits for it");
    assert!(world.ended() <= 3 * AT_ONCE, "{}", world.ended());
    let mut before = world.ended();
    while before < 1_700 {
        world.passes(secs(0)).await;
        let ended = world.ended();
        // A tick and what was asked for around it.
        assert!(ended > before && ended - before <= 4 * AT_ONCE, "{before} then {ended}");
        before = ended;
    }
    assert_eq!(link.takes_job().await.message, fresh, "what is left goes on its way");
    assert_eq!(world.balance(ALICE).await, 1_000_000_000 - 2 * PRICE, "all of them were refunded");
    world.books_are_sound();
}

#[tokio::test]
async fn what_expired_is_not_sent_by_a_batch_that_was_told_no_time() {
    let mut world = World::new().await;
    world.sends_many(600).await;
    world.passes(VALIDITY + secs(1)).await;
    let link = world.link_with_room(10).await;
    // None of these says what time it is.
    for _ in 0..5 {
        world.settles().await;
    }
    link.has_nothing().await;
    assert_eq!(world.ended(), 600);
    world.books_are_sound();
}

#[tokio::test]
async fn only_what_nobody_can_have_is_refunded_when_it_expires() {
    // What the carrier said to the one attempt, and what becomes of it after its validity: state, refund.
    let cases: [(Option<SubmitResponse>, MessageState, bool); 4] = [
        (None, MessageState::Expired, true),
        (Some(SubmitResponse::Temporary { status: 0x08, after: None }), MessageState::Expired, true),
        (Some(SubmitResponse::NoResponse), MessageState::Submitted, false),
        (Some(SubmitResponse::Accepted(remote("id"))), MessageState::Submitted, false),
    ];
    for (said, state, is_refunded) in cases {
        let mut world = World::new().await;
        let message = world.sends(world.sms()).await;
        if let Some(said) = said.clone() {
            let link = world.link_with_room(1).await;
            link.answers(&link.takes_job().await, said).await;
            link.closes().await.expect("the link closes");
        }
        world.passes(VALIDITY).await;
        world.sweeps(world.now).await;
        assert_eq!(world.state(message).await, state, "{said:?}");
        let cost = if is_refunded { 0 } else { PRICE };
        assert_eq!(world.balance(ALICE).await, 1_000_000_000 - cost, "{said:?}");
        // UNKNOWN is said 24 hours later of what has not ended, and changes neither.
        world.passes(RECEIPT_WAIT - secs(1)).await;
        assert_eq!(world.sweeps(world.now).await, 0, "{said:?}");
        world.passes(secs(1)).await;
        assert_eq!(world.sweeps(world.now).await, usize::from(!is_refunded), "{said:?}");
        assert_eq!(world.sweeps(world.now).await, 0, "once");
        let record = world.sees(message).await;
        let code = if is_refunded { DlrCode::Expired } else { DlrCode::Unknown };
        assert_eq!((record.state, record.dlr), (state, code), "{said:?}");
        world.books_are_sound();
    }
}

#[tokio::test]
async fn a_receipt_after_unknown_still_ends_a_message_once() {
    let mut world = World::new().await;
    let link = world.link_with_room(1).await;
    let message = world.sends(world.sms()).await;
    link.accepts(&link.takes_job().await, "id").await;
    world.passes(VALIDITY + RECEIPT_WAIT).await;
    assert_eq!(world.sweeps(world.now).await, 1);
    link.receipt("id", Verdict::Delivered).await;
    link.receipt("id", Verdict::Undeliverable).await;
    world.settles().await;
    let record = world.sees(message).await;
    assert_eq!((record.state, record.dlr), (MessageState::Delivered, DlrCode::Delivrd));
    assert_eq!(world.balance(ALICE).await, 1_000_000_000 - PRICE);
    world.books_are_sound();
}
