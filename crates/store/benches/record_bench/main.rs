//! Measures the record with many messages: how long each kind of search, timeline and statistic takes, and the size per message.
//!
//! `cargo bench -p hermod-store --features fill --bench record_bench -- [messages] [folder] [queries] [fill-only]`
//!
//! Fills a record over 30 days in 500 accounts as the follower does, without a message store; only the account for text searches
//! gets its messages through the store. A folder that was filled with as many messages before is used again. Exits with 1 if a
//! query is slower than it should be. With `fill-only` it adds the messages to the record of the folder, and measures nothing.

mod fill;
mod measure;
#[path = "../common/setup.rs"]
mod setup;
#[path = "../common/traffic.rs"]
mod traffic;

use fill::BenchTraffic;
use setup::{instant, open, wall_clock};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() -> ExitCode {
    let mut words = std::env::args().skip(1).filter(|word| !word.starts_with("--"));
    let messages: u64 = words.next().map_or(10_000_000, |word| word.parse().expect("a number"));
    let given = words.next().map(PathBuf::from);
    let queries: u64 = words.next().map_or(300, |word| word.parse().expect("a number"));
    let folder = given.clone().unwrap_or_else(|| std::env::temp_dir().join("hermod-record-bench"));
    if words.next().as_deref() == Some("fill-only") {
        fill::fill(&folder, &BenchTraffic::ending_at(messages, wall_clock().as_millis()));
        return ExitCode::SUCCESS;
    }
    let marker = folder.join(format!("filled-{messages}"));
    let traffic = match std::fs::read_to_string(&marker) {
        Ok(end) => BenchTraffic::ending_at(messages, end.trim().parse().expect("a time in the marker")),
        Err(_) => {
            let traffic = BenchTraffic::ending_at(messages, wall_clock().as_millis());
            make(&folder, &traffic).await;
            std::fs::write(&marker, traffic.end_ms.to_string()).expect("the marker");
            traffic
        }
    };
    let store = open(&folder, true, None);
    store.record().flush().await.expect("the record is complete");
    let is_fast = measure::measure_all(&store, &traffic, queries).await;
    store.close().await.expect("the store closes");
    let bytes = std::fs::metadata(folder.join("record.db")).expect("the record").len();
    println!("size              {} octets per message, {} MiB", bytes / messages.max(1), bytes >> 20);
    if given.is_none() {
        let _ = std::fs::remove_dir_all(&folder);
    }
    if is_fast { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

async fn make(folder: &Path, traffic: &BenchTraffic) {
    let _ = std::fs::remove_dir_all(folder);
    let began = instant();
    let store = open(folder, true, None);
    fill::send_texts(&store, traffic).await;
    fill::note_requests(&store, traffic).await;
    store.close().await.expect("the store closes");
    println!("texts             {} in {:.1} s", fill::TEXTS, began.elapsed().as_secs_f64());
    let began = instant();
    fill::fill(folder, traffic);
    let took = began.elapsed();
    #[expect(clippy::cast_precision_loss, reason = "a rate needs no more precision")]
    let each = took.as_secs_f64() * 1e6 / traffic.messages as f64;
    println!("filled            {} in {:.0} s, {each:.1} us each", traffic.messages, took.as_secs_f64());
}
