//! Measures the duration of a start, of the reads of a rollback, and of sweeps, with many messages whose receipts never came.
//!
//! `cargo run --release -p hermod-store --example start_bench -- [messages] [folder]`
//!
//! First all of them are in the table `part`, as releases before schema 13 left them; then sweeps move them to `late_part`, and the
//! same is measured again.

#[path = "common/setup.rs"]
mod setup;

use hermod_domain::ids::MessageId;
use hermod_store::Store;
use rusqlite::Connection;
use setup::{instant, open, wall_clock};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Age of the messages.
const AGO: Duration = Duration::from_secs(30 * 86_400);

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() {
    let mut words = std::env::args().skip(1);
    let messages: u64 = words.next().map_or(2_000_000, |word| word.parse().expect("a number"));
    let folder = words.next().map_or_else(|| std::env::temp_dir().join("hermod-start-bench"), PathBuf::from);
    let _ = std::fs::remove_dir_all(&folder);
    open(&folder, false, None).close().await.expect("the store closes");
    fill(&folder, messages);
    println!("{messages} messages whose receipts never came, among the parts");
    let store = measure(&folder).await;
    let (moving, mut sweeps) = (instant(), 1);
    while count(&folder, "part") > 0 {
        store.sweep(wall_clock()).await.expect("a sweep");
        sweeps += 1;
    }
    println!("moved             in {sweeps} sweeps, {} ms", moving.elapsed().as_millis());
    store.close().await.expect("the store closes");
    println!("{} of them among the late parts", count(&folder, "late_part"));
    measure(&folder).await.close().await.expect("the store closes");
    let _ = std::fs::remove_dir_all(&folder);
}

async fn measure(folder: &Path) -> Store {
    let began = instant();
    let store = open(folder, false, None);
    println!("start             {} ms", began.elapsed().as_millis());
    let connection = Connection::open(folder.join("hermod.db")).expect("the store's file");
    let began = instant();
    let lanes = "SELECT count(*) FROM (SELECT carrier, account, sum(state IN (0, 2)), sum(state = 1),
         sum(state IN (0, 2) AND due_at = 0) FROM part GROUP BY carrier, account)";
    connection.query_row(lanes, [], |row| row.get::<_, i64>(0)).expect("a number");
    println!("rollback          {} ms for the counts of the lanes", began.elapsed().as_millis());
    let began = instant();
    store.sweep(wall_clock()).await.expect("a sweep");
    println!("sweep             {} ms", began.elapsed().as_millis());
    store
}

fn count(folder: &Path, table: &str) -> i64 {
    let connection = Connection::open(folder.join("hermod.db")).expect("the store's file");
    connection.query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get(0)).expect("a number")
}

/// Writes messages that were reported UNKNOWN, and their parts.
fn fill(folder: &Path, messages: u64) {
    let connection = Connection::open(folder.join("hermod.db")).expect("the store's file");
    let at = wall_clock().minus(AGO);
    let (first, at) = (MessageId::first_at(at).as_i64(), at.as_millis());
    let numbers =
        format!("WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < {messages} - 1)");
    let rows = format!(
        "BEGIN;
         {numbers} INSERT INTO message (id, account, connection, carrier, source, dest, text, encoding, parts, reference,
                 cost, expires_at, state, dlr, err, settled_at)
             SELECT {first} + i, 1 + i % 20, 1, 1, 'Hermod', 491510000000 + i, 'hello', 0, 1, 0, 65000, {at}, 1, 6, 0, NULL
             FROM n;
         {numbers} INSERT INTO part (carrier, account, message, no, state, doubts, resend, attempts, due_at, expires_at)
             SELECT 1, 1 + i % 20, {first} + i, 1, 6, 0, 3, 0, 0, {at} FROM n;
         COMMIT;"
    );
    connection.execute_batch(&rows).expect("old rows");
}
