//! Measures purging: its rate on an idle store, and its effect on the latency of acceptance.
//!
//! `cargo bench -p hermod-store --bench purge_bench -- [messages] [rate per second] [seconds] [folder]`
//!
//! First old messages, each with a text, a carrier id, a timeline line, a webhook event and an attempt, are purged on an idle
//! store. Then messages are accepted at the rate, alternately alone and while the same number of old messages is purged with the
//! pauses of the gateway.

#[path = "common/setup.rs"]
mod setup;
#[path = "common/traffic.rs"]
mod traffic;

use hermod_domain::ids::{AccountId, MessageId};
use hermod_store::{Purged, Retention, Store};
use rusqlite::Connection;
use setup::{instant, open, wall_clock};
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::task::JoinSet;
use traffic::{pay_in, submission};

const ACCOUNT: AccountId = AccountId::new(1);
const DAY_S: u64 = 86_400;
const KEEP: Retention = Retention {
    text: Duration::from_secs(30 * DAY_S),
    messages: Duration::from_secs(400 * DAY_S),
    idempotency_keys: Duration::from_secs(400 * DAY_S),
    inbound: Duration::from_secs(30 * DAY_S),
    requests: Duration::from_secs(7 * DAY_S),
};
/// The gateway pauses four times as long as a step took, and at least this long while much is due.
const PAUSE_MIN: Duration = Duration::from_millis(2);
/// Number of pairs of runs, without and with purging.
const PAIRS: u64 = 3;
/// Age of the messages of the first run. Each further run uses messages a day younger, because purging never goes back.
const OLDEST_DAYS: u64 = 410;

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() {
    let mut words = std::env::args().skip(1).filter(|word| !word.starts_with("--"));
    let mut number = |default| words.next().map_or(default, |word| word.parse::<u64>().expect("a number"));
    let (messages, rate, seconds) = (number(500_000), number(2_000), number(10));
    let folder = words.next().map_or_else(|| std::env::temp_dir().join("hermod-purge-bench"), PathBuf::from);
    let _ = std::fs::remove_dir_all(&folder);
    let store = open(&folder, false, None);
    pay_in(&store, ACCOUNT).await;
    store.close().await.expect("the store closes");
    fill(&folder, OLDEST_DAYS, messages);
    let mut store = open(&folder, false, None);
    println!("alone             {}", purge(&store, None).await);
    let mut next = 0;
    for run in 1..=PAIRS {
        let alone = accept(&store, &mut next, rate, seconds).await;
        fill(&folder, OLDEST_DAYS - run, messages);
        // The store reads which days exist when it is opened.
        store.close().await.expect("the store closes");
        store = open(&folder, false, None);
        let mut purging = JoinSet::new();
        let purged = store.clone();
        purging.spawn(async move { purge(&purged, Some(PAUSE_MIN)).await });
        let beside = accept(&store, &mut next, rate, seconds).await;
        println!("accepted alone    {alone}");
        println!("accepted beside   {beside}, purged {}", purging.join_all().await.concat());
    }
    store.close().await.expect("the store closes");
    let _ = std::fs::remove_dir_all(&folder);
}

/// Writes the rows of messages that were delivered `days_ago`.
fn fill(folder: &Path, days_ago: u64, messages: u64) {
    let connection = Connection::open(folder.join("hermod.db")).expect("the store's file");
    let at = wall_clock().minus(Duration::from_secs(days_ago * DAY_S));
    let (first, day, at) = (MessageId::first_at(at).as_i64(), at.day().get(), at.as_millis());
    let numbers =
        format!("WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < {messages} - 1)");
    let text = "Your code is 123456. It is valid for ten minutes; do not share it.";
    let rows = format!(
        "BEGIN;
         {numbers} INSERT INTO message (id, account, connection, carrier, source, dest, text, encoding, parts, reference,
                 cost, expires_at, state, dlr, err, settled_at)
             SELECT {first} + i, 1, 1, 1, 'Hermod', 491510000000 + i, '{text}', 0, 1, 0, 65000, {at}, 3, 1, 0, {at} FROM n;
         CREATE TABLE remote_{day} (
             carrier INTEGER NOT NULL, key BLOB NOT NULL, raw BLOB NOT NULL, account INTEGER NOT NULL,
             message INTEGER NOT NULL, part INTEGER NOT NULL, dest INTEGER NOT NULL, at INTEGER NOT NULL,
             PRIMARY KEY (carrier, key, raw)) WITHOUT ROWID, STRICT;
         {numbers} INSERT INTO remote_{day} SELECT 1, randomblob(12), x'', 1, {first} + i, 1, 491510000000 + i, {at} FROM n;
         {numbers} INSERT INTO timeline SELECT {first} + i, {at}, 1, 'resent', 'resend 1 after no answer' FROM n;
         UPDATE step_counter SET reserved = (SELECT max(rowid) FROM timeline);
         {numbers} INSERT INTO webhook_past (account, kind, id, state, ended_at, attempts, message, at, connection, told, err, form)
             SELECT 1, 1, {first} + i, 1, {at}, 1, {first} + i, {at}, 1, 1, 0, 1 FROM n;
         {numbers} INSERT INTO webhook_attempt SELECT 1, 1, {first} + i, 1, {at}, 12, 200, NULL, x'7b7d' FROM n;
         COMMIT;"
    );
    connection.execute_batch(&rows).expect("old rows");
}

/// Purges until nothing is left, with or without pauses. Returns the rates as text.
#[expect(clippy::disallowed_methods, reason = "a benchmark waits by the machine's clock")]
async fn purge(store: &Store, pause_min: Option<Duration>) -> String {
    let (began, mut all, mut longest) = (instant(), Purged::default(), Duration::ZERO);
    loop {
        let step = instant();
        let purged = store.purge(KEEP, wall_clock()).await.expect("the store purges");
        if purged.is_nothing() {
            break;
        }
        let took = step.elapsed();
        longest = longest.max(took);
        all.texts += purged.texts;
        all.messages += purged.messages;
        all.carrier_ids += purged.carrier_ids;
        all.webhook_events += purged.webhook_events;
        if let Some(pause_min) = pause_min {
            tokio::time::sleep((4 * took).max(pause_min)).await;
        }
    }
    let took = began.elapsed();
    let rate = |rows: u64| u128::from(rows) * 1_000 / took.as_millis().max(1);
    format!(
        "{} messages/s (texts, carrier ids {}/s, records {}/s, webhook events {}/s), longest step {} us",
        rate(all.texts),
        rate(all.carrier_ids),
        rate(all.messages),
        rate(all.webhook_events),
        longest.as_micros()
    )
}

/// Accepts messages at a fixed rate for a number of seconds. Returns the latencies as text.
async fn accept(store: &Store, next: &mut u64, rate: u64, seconds: u64) -> String {
    let started = instant();
    let mut clock = tokio::time::interval(Duration::from_millis(1));
    let mut sending = JoinSet::new();
    let (mut sent, messages) = (0, rate * seconds);
    while sent < messages {
        clock.tick().await;
        let elapsed = u64::try_from(started.elapsed().as_micros()).expect("not that long");
        while sent < messages.min(elapsed * rate / 1_000_000) {
            let (store, number) = (store.clone(), *next);
            sending.spawn(async move {
                let started = instant();
                store.accept(submission(ACCOUNT, number)).await.expect("the store answers");
                started.elapsed().as_micros()
            });
            (sent, *next) = (sent + 1, *next + 1);
        }
    }
    let mut took = sending.join_all().await;
    took.sort_unstable();
    let at = |thousandth: usize| took[(took.len() - 1) * thousandth / 1_000];
    format!("p50 {} us, p99 {} us, p99.9 {} us", at(500), at(990), at(999))
}
