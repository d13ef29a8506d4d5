//! Tests that the writer checks again what a reader proposed, because the proposal may be outdated when it runs.

use crate::operations::{OpenOptions, Store};
use hermod_domain::ids::{AccountId, CarrierId, ConnectionId, MessageId, PartNo};
use hermod_domain::lifecycle::{DoubtPolicy, MessageState};
use hermod_domain::money::Money;
use hermod_domain::phone::Msisdn;
use hermod_domain::sender::Sender;
use hermod_domain::text::{Encoding, MessageText};
use hermod_domain::time::Timestamp;
use hermod_engine::commands::{EraseMessages, ExpireParts, SetUnreadableAside};
use hermod_engine::ops::SubmitNote;
use hermod_engine::ops::{AcceptOutcome, Acceptance, DailyLimits};
use hermod_engine::tables::{MessageKey, StoredMessageKey, UnreadablePart};
use std::path::Path;
use std::time::Duration;
use tempfile::TempDir;

pub(crate) const NOW: Timestamp = Timestamp::from_millis(1_794_659_400_000);
const VALIDITY: Duration = Duration::from_secs(3600);
const ALICE: AccountId = AccountId::new(1);
pub(crate) const ACME: CarrierId = CarrierId::new(1);

pub(crate) fn open() -> (TempDir, Store) {
    let folder = TempDir::new().expect("a folder");
    let store = open_in(folder.path());
    (folder, store)
}

pub(crate) fn open_in(folder: &Path) -> Store {
    let options = OpenOptions {
        folder: folder.to_owned(),
        server: None,
        low_water_bytes: 0,
        in_doubt_wait: Duration::from_secs(30),
        record: false,
        now: NOW,
    };
    Store::open(&options).expect("a store")
}

pub(crate) fn free_message() -> Acceptance {
    Acceptance {
        account: ALICE,
        connection: ConnectionId::new(1),
        carrier: ACME,
        to: Msisdn::from_number(4_915_112_345_678).expect("a number"),
        from: Sender::parse("Hermod").expect("a sender"),
        text: MessageText::parse("hello").expect("a text"),
        encoding: Encoding::Gsm7,
        parts: 1,
        whole: false,
        tlvs: None,
        options: None,
        origin: None,
        reply_to: None,
        cost: Money::ZERO,
        carrier_cost: None,
        credit_limit: Money::ZERO,
        minimum: Money::ZERO,
        daily: DailyLimits::default(),
        velocity: Vec::new(),
        key: None,
        doubt: DoubtPolicy::default(),
        note: SubmitNote::default(),
        validity: VALIDITY,
        now: NOW,
    }
}

pub(crate) async fn send(store: &Store) -> MessageId {
    match store.accept(free_message()).await.expect("the store answers") {
        AcceptOutcome::Accepted { message, .. } => message,
        other => panic!("not accepted: {other:?}"),
    }
}

/// Ends a message whose validity is over. Returns whether it was open.
pub(crate) async fn expire(store: &Store, message: MessageId) -> bool {
    let parts = vec![(MessageKey { carrier: ACME, account: ALICE, message }, PartNo::FIRST)];
    let due = ExpireParts { parts, now: NOW.plus(VALIDITY) };
    store.request(due).await.expect("the store answers") == 1
}

async fn state(store: &Store, message: MessageId) -> MessageState {
    store.messages().find(ALICE, message).await.expect("the store answers").expect("a message").state
}

#[tokio::test]
async fn part_whose_validity_has_not_ended_is_not_expired() {
    let (_folder, store) = open();
    let message = send(&store).await;
    let parts = vec![(MessageKey { carrier: ACME, account: ALICE, message }, PartNo::FIRST)];
    let elsewhere = MessageKey { carrier: CarrierId::new(2), account: ALICE, message };
    let early = ExpireParts { parts, now: NOW };
    assert_eq!(store.request(early).await.unwrap(), 0);
    assert_eq!(state(&store, message).await, MessageState::Queued);
    let moved = ExpireParts { parts: vec![(elsewhere, PartNo::FIRST)], now: NOW.plus(VALIDITY) };
    assert_eq!(store.request(moved).await.unwrap(), 0);
    assert_eq!(state(&store, message).await, MessageState::Queued);
    assert!(expire(&store, message).await);
    assert_eq!(state(&store, message).await, MessageState::Expired);
    assert!(!expire(&store, message).await, "it is final");
    store.close().await.unwrap();
}

#[tokio::test]
async fn readable_part_is_not_set_aside() {
    let (_folder, store) = open();
    let message = send(&store).await;
    let key = StoredMessageKey::from(MessageKey { carrier: ACME, account: ALICE, message });
    let parts = vec![UnreadablePart { key, reason: "it was".to_owned() }];
    store.request(SetUnreadableAside { parts, now: NOW }).await.unwrap();
    assert_eq!(store.rows_set_aside().list(None, 10).await.unwrap(), []);
    assert_eq!(store.messages().queues().await.unwrap()[0].waiting, 1);
    store.close().await.unwrap();
}

#[tokio::test]
async fn purged_message_does_not_fail_the_erasure_of_others() {
    let (_folder, store) = open();
    let message = send(&store).await;
    let gone = MessageId::first_at(NOW.minus(VALIDITY));
    let erase = EraseMessages { ids: vec![gone, message] };
    assert_eq!(store.request(erase).await.unwrap(), (0, vec![message]));
    store.close().await.unwrap();
}
