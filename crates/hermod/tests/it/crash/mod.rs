//! The crash rig: the real binary under load with idempotency keys, killed without warning at random moments, started
//! again, and the unanswered keys sent again. The carrier runs in this process, survives, and records what it received.
//!
//! At the end three records are compared: the customer's responses, the carrier's submits, and the store.
//! `HERMOD_CRASH_CYCLES` sets the number of kills; `cargo xtask crash --cycles N` does that. `HERMOD_CRASH_SEED` repeats
//! the random choices of a run.

mod inbound;
mod record;
mod smpp;
mod webhooks;

use crate::gateways::{self, Served, stored_in};
use crate::real_time::{PATIENCE, now, pause};
use crate::store_access::{account_id, audit_store_clean, number_from, open_store_at};
use hermod_gateway::config::StoreAddress;
use hermod_simulator::carrier::{
    CarrierOptions, Outcome as ReceiptOutcome, RecordMode, Script, SimulatedCarrier,
};
use hermod_simulator::load::http::{
    self, Bound, HttpAttempt, HttpLoadOptions, HttpMessages, HttpOutcome, HttpTarget, KeyMode, Which,
};
use hermod_simulator::load::schedule::SendPace;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

const CYCLES: u64 = 30;
const CONNECTIONS: u32 = 24;
/// The lifetime of a process before it is killed, drawn for each cycle.
const LIFE_MS: std::ops::Range<u64> = 200..1_500;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_acknowledged_message_is_lost_or_charged_twice_over_random_kills() {
    let cycles = number_from("HERMOD_CRASH_CYCLES").unwrap_or(CYCLES);
    let mut chance = Chance(number_from("HERMOD_CRASH_SEED").unwrap_or(20_261_115));
    let script = Script::new().receipt_after(Duration::from_millis(5), ReceiptOutcome::Delivered);
    let options = CarrierOptions { record: RecordMode::Compact, ..CarrierOptions::new(script) };
    let carrier = SimulatedCarrier::start(options).await.expect("a free port");
    let folder = tempfile::tempdir().expect("a temporary folder");
    let customer = Customer::default();

    for cycle in 0..cycles {
        let gateway = Served::start(folder.path(), carrier.addr());
        let life = Duration::from_millis(chance.within(LIFE_MS));
        customer.send_until_killed(gateway, life).await;
        println!(
            "cycle {}: {} acknowledged, {} to send again",
            cycle + 1,
            customer.acknowledged(),
            customer.unanswered().len()
        );
    }

    // The last process: all unanswered keys are sent again, and all parts end.
    let gateway = Served::start(folder.path(), carrier.addr());
    customer.send_unanswered(&gateway).await;
    gateway.wait_until_no_open_parts(folder.path()).await;
    gateway.stop().await;
    compare(&stored_in(folder.path()), folder.path(), &customer, &carrier).await;
    carrier.stop().await;
}

/// The customer's record: the response to each key.
#[derive(Clone)]
pub(crate) struct Customer {
    book: Arc<Mutex<Book>>,
    /// When messages are sent to each gateway.
    pace: SendPace,
}

impl Default for Customer {
    fn default() -> Customer {
        Customer { book: Arc::default(), pace: SendPace::ClosedLoop }
    }
}

#[derive(Default)]
struct Book {
    next: u64,
    /// Message ids by index. Every response to a key must have the same id.
    acknowledged: BTreeMap<u64, String>,
    unanswered: BTreeSet<u64>,
    /// Statuses other than 200 and 202.
    refusals: Vec<u16>,
    contradictions: Vec<String>,
}

impl Book {
    fn note(&mut self, attempt: &HttpAttempt<'_>) {
        let index = attempt.index;
        self.next = self.next.max(index + 1);
        match attempt.outcome {
            HttpOutcome::Answered { status: 202 | 200, message_id: Some(id) } => {
                self.unanswered.remove(&index);
                let acknowledged = self.acknowledged.entry(index).or_insert_with(|| id.to_owned());
                if acknowledged != id {
                    self.contradictions.push(format!("key {index} was message {acknowledged} and then {id}"));
                }
            }
            // Rejected or unanswered: the customer sends the same key again.
            HttpOutcome::Answered { status, .. } => {
                self.refusals.push(status);
                self.unanswered.insert(index);
            }
            HttpOutcome::Failed(_) => {
                self.unanswered.insert(index);
            }
        }
    }
}

impl Customer {
    /// A customer that sends this many messages a second to each gateway, where the gateway accepts them.
    pub(crate) fn paced(per_second: f64) -> Customer {
        Customer { book: Arc::default(), pace: SendPace::OpenLoop { per_second } }
    }

    async fn send_until_killed(&self, gateway: Served, life: Duration) {
        let again: Vec<u64> = self.unanswered();
        let first = self.book().next;
        let retry = http::start(self.load(&gateway, Which::These(again.into()))).await.expect("a run");
        let fresh = http::start(self.load(&gateway, Which::From(first))).await.expect("a run");
        pause(life).await;
        let (stop_retry, stop_fresh) = (retry.stopper(), fresh.stopper());
        gateway.kill();
        stop_retry.stop();
        stop_fresh.stop();
        retry.finish().await;
        fresh.finish().await;
    }

    /// Sends the keys without an answer again, until each has one: a busy gateway may reject some.
    pub(crate) async fn send_unanswered(&self, gateway: &Served) {
        let began = now();
        loop {
            let again = self.unanswered();
            if again.is_empty() {
                return;
            }
            assert!(began.elapsed() < PATIENCE, "keys without a response from a running gateway: {again:?}");
            let mut load = self.load(gateway, Which::These(again.into()));
            (load.connect_wait_max, load.response_wait_max) = (PATIENCE, PATIENCE);
            http::run(load).await.expect("a run");
        }
    }

    fn load(&self, gateway: &Served, which: Which) -> HttpLoadOptions {
        let target = HttpTarget::new(&gateway.base_url(), gateways::KEY, gateways::SECRET).expect("a target");
        let keys = KeyMode::Prefixed("crash".to_owned());
        let messages =
            HttpMessages::new(("+4915100000000", 90_000_000), None, "crash ", keys).expect("messages");
        let customer = self.clone();
        let mut options = HttpLoadOptions::new(target, messages, Bound::duration(PATIENCE));
        options.which = which;
        options.connections = CONNECTIONS;
        options.connect_wait_max = Duration::from_millis(50);
        options.observer = Some(Arc::new(move |attempt| customer.book().note(attempt)));
        options
    }

    fn book(&self) -> MutexGuard<'_, Book> {
        self.book.lock().expect("the lock is not poisoned")
    }

    fn unanswered(&self) -> Vec<u64> {
        self.book().unanswered.iter().copied().collect()
    }

    /// Reserves keys that were not used: this many lists, which have none in common.
    pub(crate) fn next_keys(&self, lists: usize, keys: u64) -> Vec<Vec<u64>> {
        let mut book = self.book();
        let lists = (0..lists).map(|_| {
            let first = book.next;
            book.next += keys;
            (first..book.next).collect()
        });
        lists.collect()
    }

    /// Begins to send messages to a gateway.
    pub(crate) async fn start(&self, gateway: &Served, which: Which) -> http::HttpRun {
        http::start(HttpLoadOptions { pace: self.pace, ..self.load(gateway, which) }).await.expect("a run")
    }

    /// Sends one message with a new key. Returns whether it was acknowledged.
    pub(crate) async fn send_one(&self, gateway: &Served) -> bool {
        let keys = self.next_keys(1, 1).remove(0);
        let index = keys[0];
        http::run(self.load(gateway, Which::These(keys.into()))).await.expect("a run");
        self.book().acknowledged.contains_key(&index)
    }

    /// Returns the statuses of requests that were refused.
    pub(crate) fn refusals(&self) -> Vec<u16> {
        self.book().refusals.clone()
    }

    /// Adds messages that were acknowledged over SMPP.
    pub(crate) fn add_acknowledged(&self, ids: Vec<String>) {
        for id in ids {
            let index = self.next_keys(1, 1).remove(0)[0];
            self.book().acknowledged.insert(index, id);
        }
    }

    pub(crate) fn acknowledged(&self) -> usize {
        self.book().acknowledged.len()
    }
}

pub(crate) async fn compare(
    store: &StoreAddress,
    folder: &Path,
    customer: &Customer,
    carrier: &SimulatedCarrier,
) {
    let data = gateways::data_folder(folder);
    let audit = audit_store_clean(store, &data);
    assert_eq!(audit.open_parts, 0, "parts that have not ended");

    let ids: BTreeSet<String> = {
        let book = customer.book();
        assert_eq!(book.contradictions, Vec::<String>::new(), "each key has one message");
        let ids: BTreeSet<String> = book.acknowledged.values().cloned().collect();
        assert_eq!(ids.len(), book.acknowledged.len(), "two keys share a message");
        ids
    };
    assert_eq!(audit.messages, ids.len() as u64, "the store has exactly the acknowledged messages");

    let seen = carrier.record().counts();
    let distinct = seen.accepted - seen.duplicates;
    println!(
        "{} messages; the carrier accepted {} ({} copies); {} recorded resends",
        ids.len(),
        seen.accepted,
        seen.duplicates,
        audit.resends
    );
    assert_eq!(distinct, ids.len() as u64, "every message reached the carrier");
    assert!(
        seen.duplicates <= audit.resends,
        "{} copies but only {} resends",
        seen.duplicates,
        audit.resends
    );
    check_each_message(store, &data, ids.iter().map(String::as_str)).await;
}

/// Checks that every acknowledged message exists, and the balance.
async fn check_each_message(store: &StoreAddress, data: &Path, ids: impl Iterator<Item = &str>) {
    let store = open_store_at(store, data);
    let account = account_id(&store).await;
    let mut count: i64 = 0;
    for id in ids {
        let id = hermod_domain::ids::MessageId::parse(id).expect("a message id");
        let message = store
            .messages()
            .find(account, id)
            .await
            .expect("a read")
            .expect("an acknowledged message exists");
        assert!(message.state.is_final(), "message {id} is {}", message.state);
        count += 1;
    }
    let balance = store.money().balance(account).await.expect("a read").balance;
    let expected = gateways::OPENING_MICROS - count * gateways::PRICE_MICROS;
    assert_eq!(balance.as_micros(), expected, "the balance after {count} messages");
    store.close().await.expect("the store closes");
}

/// A seeded generator (SplitMix64): the same seed kills at the same moments.
struct Chance(u64);

impl Chance {
    fn within(&mut self, range: std::ops::Range<u64>) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        range.start + (mixed ^ (mixed >> 31)) % (range.end - range.start)
    }
}
