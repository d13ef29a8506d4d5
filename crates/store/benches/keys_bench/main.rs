//! Compares messages with idempotency keys to messages without, in a store that holds the keys of many days.
//!
//! `cargo bench -p hermod-store --bench keys_bench -- [--fill | --measure] [keys] [days] [messages a round] [rounds] [folder]`
//!
//! `--fill` only fills the folder. `--measure` only measures a folder that was filled with the same arguments.
//!
//! The keys of each day are written as one sealed bucket. Then the store merges them, as it does every few seconds. After that,
//! rounds of messages without and with new keys alternate: first they are only accepted, then a link records a response to every
//! part at once and its receipt with the next read.

#[path = "../common/carrier.rs"]
mod carrier;
mod link;
#[path = "../common/setup.rs"]
mod setup;
#[path = "../common/traffic.rs"]
mod traffic;

use hermod_domain::carrier::IdConversion;
use hermod_domain::ids::{AccountId, CarrierId, MessageId};
use hermod_domain::money::Money;
use hermod_domain::phone::Msisdn;
use hermod_domain::time::Day;
use hermod_engine::state::idempotency_keys::{BLOCKS_PER_SEGMENT, blocks_for, build_segments};
use hermod_engine::tables::KeyEntry;
use hermod_store::{AcceptOutcome, Acceptance, Duplicate, KeyClaim, LinkKind, LinkNumber, Store};
use rusqlite::{Connection, params};
use setup::{instant, open, wall_clock};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use tokio::task::JoinSet;
use traffic::{pay_in, submission};

const ACCOUNT: AccountId = AccountId::new(1);
/// Concurrent submissions.
const SENDERS: u64 = 1_000;
/// Old keys that are repeated at the end.
const REPEATED: u64 = 10_000;
/// Message ids per day: 2^18 per millisecond.
const IDS_PER_DAY: u64 = 86_400_000 << 18;

struct Plan {
    keys: u64,
    days: u64,
    messages: u64,
    rounds: u64,
    folder: PathBuf,
}

fn main() {
    let (fills, measures) = (is_given("--fill"), is_given("--measure"));
    let mut words = std::env::args().skip(1).filter(|word| !word.starts_with("--"));
    let mut number = |default| words.next().map_or(default, |word| word.parse().expect("a number"));
    let (keys, days, messages, rounds) = (number(100_000_000), number(400), number(50_000), number(5));
    let folder = words.next().map_or_else(|| std::env::temp_dir().join("hermod-keys-bench"), PathBuf::from);
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    runtime.expect("a runtime").block_on(async {
        let plan = Plan { keys, days, messages, rounds, folder };
        if !measures {
            prepare(&plan).await;
        }
        if !fills {
            run(&plan).await;
        }
        if !fills && !measures {
            let _ = std::fs::remove_dir_all(&plan.folder);
        }
    });
}

fn is_given(option: &str) -> bool {
    std::env::args().any(|word| word == option)
}

async fn prepare(plan: &Plan) {
    let folder = &plan.folder;
    let _ = std::fs::remove_dir_all(folder);
    let store = open(folder, false, None);
    pay_in(&store, ACCOUNT).await;
    store.close().await.expect("the store closes");
    let started = instant();
    fill(plan);
    println!("filled            {} keys of {} days in {:.0} s", plan.keys, plan.days, seconds(started));
    let store = open(folder, false, None);
    merge(&store, folder).await;
    store.close().await.expect("the store closes");
}

async fn run(plan: &Plan) {
    let (started, before) = (instant(), memory("VmRSS:"));
    let store = open(&plan.folder, false, None);
    println!("start             {:.2} s, memory {before} to {} MB", seconds(started), memory("VmRSS:"));
    measure(&store, plan).await;
    println!("memory            {} MB, {} MB at most", memory("VmRSS:"), memory("VmHWM:"));
    repeat_old_keys(&store, plan).await;
    store.close().await.expect("the store closes");
}

/// Writes a bucket for each day before today.
fn fill(plan: &Plan) {
    let connection = Connection::open(plan.folder.join("hermod.db")).expect("the database");
    connection.execute_batch("PRAGMA synchronous = OFF").expect("a setting");
    for day in 0..plan.days {
        let mut entries: Vec<KeyEntry> = keys_of(plan, day).map(|number| entry(plan, number)).collect();
        entries.sort_unstable_by_key(|entry| entry.digest);
        let all = connection.unchecked_transaction().expect("a transaction");
        write_bucket(&all, i64::try_from(day).expect("small") + 1, &entries).expect("a bucket");
        all.commit().expect("a commit");
    }
}

fn write_bucket(connection: &Connection, id: i64, entries: &[KeyEntry]) -> rusqlite::Result<()> {
    let keys = u64::try_from(entries.len()).expect("a size");
    let blocks = blocks_for(keys);
    for segment in build_segments(entries, blocks) {
        let first = id << 32 | i64::from(segment.no * BLOCKS_PER_SEGMENT);
        for (row, block) in (first..).zip(&segment.blocks) {
            let mut blob = Vec::new();
            for KeyEntry { digest, message, fingerprint } in block {
                blob.extend_from_slice(digest);
                blob.extend_from_slice(&message.as_i64().to_be_bytes());
                blob.extend_from_slice(&fingerprint.to_be_bytes());
            }
            connection
                .prepare_cached("INSERT INTO key_block VALUES (?1, ?2)")?
                .execute(params![row, blob])?;
        }
        let words = segment.filter.iter().flat_map(|block| block.0);
        let filter: Vec<u8> = words.flat_map(u64::to_be_bytes).collect();
        let row = id << 32 | i64::from(segment.no);
        connection.prepare_cached("INSERT INTO key_filter VALUES (?1, ?2)")?.execute(params![row, filter])?;
    }
    let messages = || entries.iter().map(|entry| entry.message.as_i64());
    connection.execute(
        "INSERT INTO key_bucket (id, state, blocks, keys, first, last) VALUES (?1, 2, ?2, ?3, ?4, ?5)",
        params![id, blocks, keys.cast_signed(), messages().min(), messages().max()],
    )?;
    Ok(())
}

/// Returns the numbers of a day's keys.
fn keys_of(plan: &Plan, day: u64) -> std::ops::Range<u64> {
    plan.keys * day / plan.days..plan.keys * (day + 1) / plan.days
}

fn entry(plan: &Plan, number: u64) -> KeyEntry {
    let today = wall_clock().day().get();
    let first_day = Day::new(today - i64::try_from(plan.days).expect("small"));
    let first = MessageId::first_at(first_day.start()).as_i64().cast_unsigned();
    let since = u128::from(number) * u128::from(plan.days * IDS_PER_DAY) / u128::from(plan.keys);
    let message = first + u64::try_from(since).expect("within the days");
    let KeyClaim { digest, fingerprint } = claim(number);
    KeyEntry { digest, message: MessageId::from_i64(message.cast_signed()).expect("an id"), fingerprint }
}

fn claim(number: u64) -> KeyClaim {
    let mixed = |number: u64| {
        let mixed = (number ^ (number >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    };
    let mut digest = [0; 16];
    digest[..8].copy_from_slice(&mixed(number + 1).to_be_bytes());
    digest[8..].copy_from_slice(&mixed(!number).to_be_bytes());
    KeyClaim { digest, fingerprint: number }
}

async fn merge(store: &Store, folder: &Path) {
    let connection = Connection::open(folder.join("hermod.db")).expect("the database");
    let look = || {
        let query = "SELECT count(*), max(id), sum(state), sum(keys), (SELECT count(*) FROM key_filter)
                     FROM key_bucket";
        let row = |row: &rusqlite::Row<'_>| {
            Ok([row.get::<_, i64>(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?])
        };
        connection.query_row(query, [], row).expect("figures of the buckets")
    };
    let started = instant();
    let mut before = look();
    loop {
        store.merge_keys().await.expect("a merge");
        let after = look();
        if after == before {
            break;
        }
        before = after;
    }
    println!("merged            to {} buckets of {} keys in {:.0} s", before[0], before[3], seconds(started));
}

#[expect(clippy::disallowed_methods, reason = "a benchmark ends its tasks itself")]
async fn measure(store: &Store, plan: &Plan) {
    let merging = merge_periodically(store.clone());
    measure_rounds("accepted", store, plan, CarrierId::new(1), &AtomicU64::new(u64::MAX)).await;
    let (carrier, recorded) = (CarrierId::new(2), Arc::new(AtomicU64::new(0)));
    let port =
        store.open_link(carrier, LinkNumber(1), LinkKind::Sends, IdConversion::None).await.expect("a link");
    let carrying = tokio::spawn(link::carry(port, recorded.clone()));
    measure_rounds("whole lives", store, plan, carrier, &recorded).await;
    carrying.abort();
    merging.abort();
}

/// Sends rounds of messages. A round ends once the receipts of its messages are recorded.
async fn measure_rounds(what: &str, store: &Store, plan: &Plan, carrier: CarrierId, recorded: &AtomicU64) {
    let mut rates = [Vec::new(), Vec::new()];
    let mut cpu = [Vec::new(), Vec::new()];
    // Above the keys of an earlier run in the same folder.
    let mut next = plan.keys + (wall_clock().as_millis().cast_unsigned() << 20);
    for round in 0..=plan.rounds {
        for ((with_keys, rates), cpu) in [false, true].into_iter().zip(&mut rates).zip(&mut cpu) {
            let before = writer_cpu();
            let rate = send_all(store, plan, carrier, with_keys.then_some(next), recorded).await;
            next += plan.messages;
            // The first round warms up the caches and is not counted.
            if round > 0 {
                rates.push(rate);
                cpu.push(per_message(writer_cpu() - before, plan.messages));
            }
        }
    }
    println!("{what}:");
    let [without, with] = &mut rates;
    println!("without keys      {} messages/s", list(without));
    println!("with keys         {} messages/s", list(with));
    println!("ratio of medians  {:.3}", median(with) / median(without));
    let [without, with] = &mut cpu;
    println!("writer's CPU      {:.2} us without, {:.2} us with, a message", median(without), median(with));
}

#[expect(clippy::cast_precision_loss, reason = "figures for people")]
fn per_message(nanos: u64, messages: u64) -> f64 {
    nanos as f64 / 1_000.0 / messages as f64
}

/// Returns the CPU time of the writer thread in nanoseconds.
fn writer_cpu() -> u64 {
    let tasks = std::fs::read_dir("/proc/self/task").expect("Linux").flatten();
    let writer = tasks.map(|task| task.path()).find(|path| {
        std::fs::read_to_string(path.join("comm")).is_ok_and(|name| name.trim() == "hermod-writer")
    });
    // The thread has no name for a moment after the start.
    let Some(path) = writer else { return 0 };
    let stat = std::fs::read_to_string(path.join("schedstat")).expect("Linux");
    stat.split(' ').next().and_then(|word| word.parse().ok()).expect("a number")
}

/// Merges keys every 5 seconds, as the gateway does.
#[expect(clippy::disallowed_methods, reason = "a benchmark ends its tasks itself")]
fn merge_periodically(store: Store) -> tokio::task::AbortHandle {
    let task = tokio::spawn(async move {
        let mut clock = tokio::time::interval(Duration::from_secs(5));
        loop {
            clock.tick().await;
            store.merge_keys().await.expect("a merge");
        }
    });
    task.abort_handle()
}

async fn send_all(
    store: &Store,
    plan: &Plan,
    carrier: CarrierId,
    first_key: Option<u64>,
    recorded: &AtomicU64,
) -> f64 {
    let messages = plan.messages;
    let all = recorded.load(Ordering::Relaxed).saturating_add(messages);
    let next = Arc::new(AtomicU64::new(0));
    let mut sending = JoinSet::new();
    let started = instant();
    for _ in 0..SENDERS {
        let (store, next) = (store.clone(), next.clone());
        sending.spawn(async move {
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                if number >= messages {
                    return;
                }
                let key = first_key.map(|first| claim(first + number));
                let outcome = store.accept(message(carrier, number, key)).await.expect("the store answers");
                assert!(matches!(outcome, AcceptOutcome::Accepted { .. }), "{outcome:?}");
            }
        });
    }
    sending.join_all().await;
    while recorded.load(Ordering::Relaxed) < all {
        tokio::task::yield_now().await;
    }
    #[expect(clippy::cast_precision_loss, reason = "figures for people")]
    let rate = messages as f64 / seconds(started);
    rate
}

async fn repeat_old_keys(store: &Store, plan: &Plan) {
    let started = instant();
    for number in (0..REPEATED).map(|step| step * (plan.keys / REPEATED).max(1)).filter(|no| *no < plan.keys)
    {
        let KeyEntry { message, .. } = entry(plan, number);
        let found = store.find_key(claim(number)).await.expect("the store answers");
        assert_eq!(found, Some(Duplicate { message, is_same_request: true }), "key {number}");
    }
    println!("old keys          {REPEATED} of all ages found, {:.0} us each", seconds(started) * 1e6 / 1e4);
}

fn message(carrier: CarrierId, number: u64, key: Option<KeyClaim>) -> Acceptance {
    let to = Msisdn::from_number(4_915_100_000_000 + number % 100_000_000).expect("a number");
    Acceptance { carrier, to, cost: Money::from_micros(1), key, ..submission(ACCOUNT, number) }
}

fn seconds(since: Instant) -> f64 {
    since.elapsed().as_secs_f64()
}

fn median(rates: &mut [f64]) -> f64 {
    rates.sort_unstable_by(f64::total_cmp);
    rates[rates.len() / 2]
}

fn list(rates: &[f64]) -> String {
    rates.iter().map(|rate| format!("{rate:.0}")).collect::<Vec<_>>().join(" ")
}

/// Returns a value of /proc/self/status in MB.
fn memory(name: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux");
    let line = status.lines().find_map(|line| line.strip_prefix(name)).expect("a line");
    let kib: u64 = line.trim().trim_end_matches(" kB").parse().expect("a number");
    kib / 1024
}
