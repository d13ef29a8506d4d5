//! Unit tests of `live.rs`.

use super::*;
use crate::record::MessageCosts;
use hermod_domain::ids::{AccountId, CarrierId, ConnectionId, MessageId};
use hermod_domain::lifecycle::MessageState;
use hermod_domain::money::Money;
use hermod_domain::sender::Sender;
use hermod_domain::text::Encoding;

fn message(account: u32) -> RecordedMessage {
    RecordedMessage {
        id: MessageId::first_at(at(0)),
        account: AccountId::new(account),
        connection: ConnectionId::new(1),
        carrier: CarrierId::new(1),
        from: Sender::parse("Shop").unwrap(),
        to: None,
        encoding: Encoding::Gsm7,
        parts: 1,
        cost: Money::ZERO,
        costs: MessageCosts::default(),
        state: MessageState::Queued,
        code: None,
        err: 0,
        settled_at: None,
        refund: None,
    }
}

fn at(second: i64) -> Timestamp {
    Timestamp::from_millis(1_800_000_000_000 + second * 1_000)
}

fn publish(hub: &LiveHub, accounts: &[u32], second: i64) {
    let messages: Vec<_> = accounts.iter().map(|account| message(*account)).collect();
    hub.publish(messages.iter().map(|message| (message, None)), at(second));
}

#[tokio::test]
async fn watcher_sees_a_sample_of_its_own_account_and_the_number_of_messages() {
    let hub = Arc::new(LiveHub::default());
    assert!(!hub.is_watched());
    let mut alice = hub.watch(Scope::Account(AccountId::new(1)), None).unwrap();
    let mut operator = hub.watch(Scope::All, None).unwrap();
    publish(&hub, &[1; 50], 1);
    publish(&hub, &[2; 3], 2);
    let frames = [alice.next().await.unwrap(), alice.next().await.unwrap()];
    assert_eq!(frames.clone().map(|frame| (frame.shown.len(), frame.total)), [(LIVE_SHOWN_MAX, 50), (0, 0)]);
    assert_eq!(frames[1].covers, Duration::from_secs(1));
    operator.next().await.unwrap();
    assert_eq!(operator.next().await.unwrap().total, 3);
    let numbers = frames.map(|frame| (frame.number, frame.at));
    assert_eq!(numbers, [1, 2].map(|second| (1_800_000_000_000 + second * 1_000, at(second as i64))));
    hub.close();
    assert_eq!(operator.next().await, None);
    assert!(hub.watch(Scope::All, None).is_err());
}

#[tokio::test]
async fn watcher_that_comes_back_gets_what_it_missed_and_frames_end_when_none_does() {
    let hub = Arc::new(LiveHub::default());
    let mut watch = hub.watch(Scope::All, None).unwrap();
    publish(&hub, &[1], 1);
    let last = watch.next().await.unwrap().number;
    drop(watch);
    publish(&hub, &[1, 2], 2);
    let mut again = hub.watch(Scope::All, Some(last)).unwrap();
    assert_eq!(again.next().await.unwrap().total, 2);
    drop(again);
    publish(&hub, &[1], 3);
    publish(&hub, &[1], 60);
    assert!(!hub.is_watched(), "nobody came back");
}
