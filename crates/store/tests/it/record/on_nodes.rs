//! The records of nodes without the engine: they follow it step by step, and read the tables for what they missed.

use super::timeline::words;
use crate::nodes::{accept, folder, link, open_with_record, pause};
use crate::world::*;
use hermod_domain::ids::MessageId;
use hermod_domain::lifecycle::{DeliveryOutcome, MessageState};
use hermod_store::record::{MessageHistory, Scope};
use hermod_store::{Retention, Store};
use std::time::Duration;

const ORDINARY_STEPS: [&str; 4] = ["Sent", "CarrierAccepted", "Receipt", "Ended"];
const DAY: Duration = Duration::from_secs(86_400);

/// Sends a message over a node, which the carrier delivers.
async fn deliver(store: &Store, link: &Link, id: &str) -> MessageId {
    let message = accept(store, sms(noon())).await;
    link.add_slots(1).await;
    let job = link.take_job().await;
    link.accept(&job, id).await;
    link.receipt(id, DeliveryOutcome::Delivered).await;
    assert_eq!(link.take_recorded().await, [1]);
    message
}

/// Waits until a node's record has a message as delivered.
async fn recorded(store: &Store, message: MessageId) -> MessageHistory {
    let found = async {
        loop {
            store.record().flush().await.expect("the record is written");
            let found = store.record().message_history(Scope::Account(ALICE), message).await.expect("a read");
            match found.filter(|history| history.message.state == MessageState::Delivered) {
                Some(history) => return history,
                None => pause().await,
            }
        }
    };
    within(PATIENCE, found).await.expect("the record follows")
}

/// Delivers messages until a node's record has all steps of one: it follows the engine from then on.
async fn wait_until_it_follows(store: &Store, over: &Store, link: &Link, name: &str) {
    let follows = async {
        let mut number = 0;
        loop {
            let message = deliver(over, link, &format!("{name}-{number}")).await;
            if words(&recorded(store, message).await) == ORDINARY_STEPS {
                return;
            }
            number += 1;
        }
    };
    within(PATIENCE, follows).await.unwrap_or_else(|_| panic!("the record of {name} does not follow"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn record_of_every_node_follows_and_gaps_are_filled_from_the_tables() {
    let (first, second, third) = (folder(), folder(), folder());
    let Some(engine) = open_with_record(first.path(), first.path(), "one").await else { return };
    let front_end = open_with_record(first.path(), second.path(), "two").await.expect("on PostgreSQL");
    top_up(&engine, 1_000_000_000).await;
    let link = link(&front_end, 0).await;
    wait_until_it_follows(&front_end, &engine, &link, "two").await;
    let mut sent = Vec::new();
    for number in 0..3 {
        let message = deliver(&front_end, &link, &format!("id-{number}")).await;
        for store in [&engine, &front_end] {
            let history = recorded(store, message).await;
            assert_eq!(words(&history), ORDINARY_STEPS, "message {number}");
            assert!(history.balance.is_some());
        }
        sent.push(message);
    }

    // A node that comes later reads what was before from the tables, and follows from then on.
    let late = open_with_record(first.path(), third.path(), "three").await.expect("on PostgreSQL");
    for message in &sent {
        assert!(words(&recorded(&late, *message).await).contains(&"Gap".to_owned()));
    }
    wait_until_it_follows(&late, &front_end, &link, "three").await;

    // An erased number is gone in the records of all nodes.
    front_end.erasures().erase_number(sms(noon()).to, None, noon()).await.expect("it is erased");
    for store in [&engine, &front_end, &late] {
        let is_erased = async {
            while recorded(store, sent[0]).await.message.to.is_some() {
                pause().await;
            }
        };
        within(PATIENCE, is_erased).await.expect("the number is erased everywhere");
    }

    // After a hand-over the records follow the new engine.
    engine.close().await.expect("it closes");
    let next = if front_end.runs_engine() { &front_end } else { &late };
    let message = deliver(next, &link, "after the hand-over").await;
    for store in [&front_end, &late] {
        recorded(store, message).await;
    }

    // Each node purges its own record, and goes on purging until it finds nothing more.
    let keep = Retention { text: DAY, messages: DAY, idempotency_keys: DAY, inbound: DAY, requests: DAY };
    late.record().purge(keep, noon().plus(DAY * 3));
    let is_purged = async {
        while late.record().message_history(Scope::Account(ALICE), sent[0]).await.expect("a read").is_some() {
            pause().await;
        }
    };
    within(PATIENCE, is_purged).await.expect("the record is purged");
    recorded(&front_end, sent[0]).await;
    drop(link);
    for store in [late, front_end] {
        store.close().await.expect("it closes");
    }
}
