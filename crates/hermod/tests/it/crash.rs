//! The crash rig: the real binary under load with idempotency keys, killed without warning at random moments, started
//! again, the unanswered keys sent again. The carrier lives here and survives, so it is the witness.
//!
//! At the end three accounts are compared: what the customer was told, what the carrier saw, and what the store holds.
//! `HERMOD_CRASH_CYCLES` sets the number of kills; `cargo xtask crash --cycles N` does that. `HERMOD_CRASH_SEED` repeats
//! a run's moments.

mod inbound;
mod smpp;
mod webhooks;

use crate::assembly::{self, Served};
use crate::real_time::pause;
use hermod_simulator::carrier::{Carrier, CarrierOptions, Outcome as ReceiptOutcome, RecordMode, Script};
use hermod_simulator::load::http::{
    self, Attempt, Bound, Keys, LoadOptions, Messages, Outcome, Target, Which,
};
use hermod_store::{OpenOptions, Store};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

const CYCLES: u64 = 20;
const CONNECTIONS: u32 = 24;
/// A process lives this long before it is killed, drawn anew for each cycle.
const LIFE_MS: std::ops::Range<u64> = 200..1_500;
/// How long everything may take to come to its end after the last start.
const SETTLE_WAIT: Duration = Duration::from_secs(120);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_acknowledged_is_lost_or_charged_twice_however_often_we_die() {
    let cycles = number_from("HERMOD_CRASH_CYCLES").unwrap_or(CYCLES);
    let mut chance = Chance(number_from("HERMOD_CRASH_SEED").unwrap_or(20_261_115));
    let script = Script::new().receipt_after(Duration::from_millis(5), ReceiptOutcome::Delivered);
    let options = CarrierOptions { record: RecordMode::Compact, ..CarrierOptions::new(script) };
    let carrier = Carrier::start(options).await.expect("a free port");
    let folder = tempfile::tempdir().expect("a temporary folder");
    let customer = Customer::default();

    for cycle in 0..cycles {
        let gateway = Served::start(folder.path(), carrier.addr());
        let life = Duration::from_millis(chance.within(LIFE_MS));
        customer.sends_until_killed(gateway, life).await;
        println!(
            "cycle {}: {} told accepted, {} to send again",
            cycle + 1,
            customer.told(),
            customer.unanswered().len()
        );
    }

    // The last life: everything that was not answered is sent again, and everything comes to its end.
    let gateway = Served::start(folder.path(), carrier.addr());
    customer.sends_the_rest(&gateway).await;
    gateway.wait_until_nothing_is_open(folder.path(), SETTLE_WAIT).await;
    gateway.stop().await;
    compare(folder.path(), &customer, &carrier).await;
    carrier.stop().await;
}

/// What the customer knows: for each key, what was answered.
#[derive(Clone, Default)]
struct Customer {
    book: Arc<Mutex<Book>>,
}

#[derive(Default)]
struct Book {
    next: u64,
    /// Message ids by index: every answer to a key must name the same one.
    told: BTreeMap<u64, String>,
    unanswered: BTreeSet<u64>,
    contradictions: Vec<String>,
}

impl Book {
    fn note(&mut self, attempt: &Attempt<'_>) {
        let index = attempt.index;
        self.next = self.next.max(index + 1);
        match attempt.outcome {
            Outcome::Answered { status: 202 | 200, message_id: Some(id) } => {
                self.unanswered.remove(&index);
                let told = self.told.entry(index).or_insert_with(|| id.to_owned());
                if told != id {
                    self.contradictions.push(format!("key {index} was message {told} and then {id}"));
                }
            }
            // Refused or unanswered: the customer does not know, and asks again with the same key.
            Outcome::Answered { .. } | Outcome::Failed(_) => {
                self.unanswered.insert(index);
            }
        }
    }
}

impl Customer {
    async fn sends_until_killed(&self, gateway: Served, life: Duration) {
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

    async fn sends_the_rest(&self, gateway: &Served) {
        let again = self.unanswered();
        http::run(self.load(gateway, Which::These(again.into()))).await.expect("a run");
        assert!(
            self.unanswered().is_empty(),
            "keys without an answer from a living gateway: {:?}",
            self.unanswered()
        );
    }

    fn load(&self, gateway: &Served, which: Which) -> LoadOptions {
        let target = Target::new(&gateway.base_url(), assembly::KEY, assembly::SECRET).expect("a target");
        let keys = Keys::Prefixed("crash".to_owned());
        let messages = Messages::new(("+4915100000000", 90_000_000), None, "crash ", keys).expect("messages");
        let customer = self.clone();
        let mut options = LoadOptions::new(target, messages, Bound::duration(Duration::from_secs(60)));
        options.which = which;
        options.connections = CONNECTIONS;
        options.connect_wait_max = Duration::from_millis(50);
        options.observer = Some(Arc::new(move |attempt| customer.book().note(attempt)));
        options
    }

    fn book(&self) -> MutexGuard<'_, Book> {
        self.book.lock().expect("nobody panics while holding the book")
    }

    fn unanswered(&self) -> Vec<u64> {
        self.book().unanswered.iter().copied().collect()
    }

    fn told(&self) -> usize {
        self.book().told.len()
    }
}

async fn compare(folder: &Path, customer: &Customer, carrier: &Carrier) {
    let data = assembly::data_folder(folder);
    let audit = hermod_store::Store::audit(&data).expect("an audit");
    assert!(audit.is_clean(), "the audit found {:#?}", audit.violations);
    assert_eq!(audit.open_parts, 0, "parts that have not ended");

    let ids: BTreeSet<String> = {
        let book = customer.book();
        assert_eq!(book.contradictions, Vec::<String>::new(), "one key, one message");
        let ids: BTreeSet<String> = book.told.values().cloned().collect();
        assert_eq!(ids.len(), book.told.len(), "two keys share a message");
        ids
    };
    assert_eq!(
        audit.messages,
        ids.len() as u64,
        "every message was told to the customer, and every one told exists"
    );

    let seen = carrier.record().counts();
    let distinct = seen.accepted - seen.duplicates;
    println!(
        "{} messages; the carrier took {} ({} copies); {} resends on record",
        ids.len(),
        seen.accepted,
        seen.duplicates,
        audit.resends
    );
    assert_eq!(distinct, ids.len() as u64, "every message reached the carrier");
    assert!(
        seen.duplicates <= audit.resends,
        "{} copies and only {} resends",
        seen.duplicates,
        audit.resends
    );
    check_each_message(&data, ids.iter().map(String::as_str)).await;
}

/// Looks every acknowledged message up, and the money they cost.
async fn check_each_message(data: &Path, ids: impl Iterator<Item = &str>) {
    let options = OpenOptions {
        folder: data.to_owned(),
        low_water_bytes: 0,
        in_doubt_wait: Duration::ZERO,
        now: assembly::wall_time(),
    };
    let store = Store::open(&options).expect("the store opens");
    let account = assembly::account_id(&store).await;
    let mut count: i64 = 0;
    for id in ids {
        let id = hermod_domain::ids::MessageId::parse(id).expect("a message id");
        let message =
            store.message(account, id).await.expect("a read").expect("an acknowledged message exists");
        assert!(message.state.is_final(), "message {id} is {}", message.state);
        count += 1;
    }
    let balance = store.balance(account).await.expect("a read").balance;
    let expected = assembly::OPENING_MICROS - count * assembly::PRICE_MICROS;
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

fn number_from(variable: &str) -> Option<u64> {
    #[expect(clippy::disallowed_methods, reason = "how cargo xtask crash tells the rig what to do")]
    let text = std::env::var(variable).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{variable} is not a number: {text}")))
}
