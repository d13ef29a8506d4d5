//! How far the record is behind under load, and what live watchers cost. The queries are measured by a benchmark of the store,
//! `record_bench`, which also fills records.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use super::bed::Loaded;
use super::failure;
use super::figures::{BEHIND, CPU, OFFERED};
use super::load::{Load, Over};
use super::phases::Stage;
use crate::shell::{self, Failure, Outcome};

const LAG: &str = "hermod_record_lag_seconds";
const POLL: Duration = Duration::from_millis(50);
/// The offered load with watchers.
const WATCHED_RATE: u64 = 1_000;
/// How long the gateway may work off a load. That is not counted here: the watchers would cost in this time, too.
const IDLE_WAIT: Duration = Duration::from_secs(20);
/// A watcher looks this often whether it is to leave.
const READ_WAIT: Duration = Duration::from_millis(500);

/// Runs the benchmark of the store, which fails if a query is too slow.
pub(super) fn run_benchmark(words: &[&str]) -> Outcome {
    let cargo = ["bench", "--profile", "dist", "--package", "hermod-store", "--features", "fill"];
    let benchmark = ["--bench", "record_bench", "--"];
    shell::run(shell::command("cargo", &[&cargo[..], &benchmark, words].concat()))
}

/// Measures the queries, unless they are not wanted. Keeps the filled record in the folder that is named, or uses it.
pub(super) fn measure_queries(stage: &mut Stage<'_>) -> Outcome {
    let options = stage.options;
    if options.is("without-queries") {
        return Ok(());
    }
    let temporary = std::env::temp_dir().join("hermod-record-bench");
    let folder = options.text("folder").map_or(temporary.to_string_lossy(), Into::into);
    let [messages, queries] = ["messages", "queries"].map(|name| options.count(name).to_string());
    let measured = run_benchmark(&[&messages, &folder, &queries]);
    if options.text("folder").is_none() {
        std::fs::remove_dir_all(&*folder).map_err(failure)?;
    }
    measured
}

/// Loads, and measures how far the record is behind, in seconds. Fails if the gateway has no such metric.
fn load(stage: &mut Stage<'_>, rate: u64) -> Result<Loaded, Failure> {
    let load = Load::seconds(Over::bind(100), stage.options.count("seconds")).at(rate);
    let mut most = 0.0_f64;
    let mut loaded = stage.bed.load(&load.alone(), |bed| {
        let lag = bed.gateway().metrics()?.total(LAG);
        most = most.max(lag.ok_or_else(|| failure(format!("the gateway has no metric {LAG}")))?);
        super::pause(POLL);
        Ok(())
    })?;
    loaded.all.set(BEHIND, most);
    stage.bed.gateway().wait_until_idle(IDLE_WAIT)?;
    Ok(loaded)
}

/// Measures how far the record is behind at two loads.
pub(super) fn measure_lag(stage: &mut Stage<'_>) -> Outcome {
    for (variant, rate) in [("1,000/s", 1_000), ("10,000/s", 10_000)] {
        let loaded = load(stage, rate)?;
        stage.add(variant, loaded);
    }
    Ok(())
}

/// Measures the gateway's CPU without and with watchers.
pub(super) fn measure_watchers(stage: &mut Stage<'_>) -> Outcome {
    // The share of a core.
    let cores = |loaded: &Loaded| loaded.all.value(CPU) * loaded.all.value(OFFERED) / 1e6;
    let number = stage.options.count("watchers");
    let without = load(stage, WATCHED_RATE)?;
    let (address, token) = (stage.bed.gateway().address.clone(), stage.bed.gateway().token()?);
    let (stop, frames) = (AtomicBool::new(false), AtomicU64::new(0));
    let with = std::thread::scope(|scope| {
        let watch = || watch(&address, &token, &stop, &frames);
        let watchers: Vec<_> = (0..number).map(|_| scope.spawn(watch)).collect();
        let with = load(stage, WATCHED_RATE);
        stop.store(true, Ordering::Relaxed);
        for watcher in watchers {
            watcher.join().map_err(|_| failure("a watcher panicked"))??;
        }
        with
    })?;
    let cost = cores(&with) - cores(&without);
    stage.add("unwatched", without);
    stage.add("watched", with);
    stage.results.say("reads of frames by all watchers", frames.into_inner() as f64, "");
    stage.results.say("cost of all watchers", cost * 100.0, "% of a core");
    Ok(())
}

/// Watches until told to stop. Counts the reads that brought something.
fn watch(address: &str, token: &str, stop: &AtomicBool, frames: &AtomicU64) -> Outcome {
    let mut stream = TcpStream::connect(address).map_err(failure)?;
    stream.set_read_timeout(Some(READ_WAIT)).map_err(failure)?;
    let request = format!(
        "GET /operator/v1/live HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {token}\r\nAccept: text/event-stream\r\n\r\n"
    );
    stream.write_all(request.as_bytes()).map_err(failure)?;
    let mut octets = [0; 64 * 1024];
    let mut is_first = true;
    while !stop.load(Ordering::Relaxed) {
        match stream.read(&mut octets) {
            Ok(0) => return Err(failure("a watch ended early")),
            Ok(read) if is_first && !octets[..read].starts_with(b"HTTP/1.1 200") => {
                return Err(failure("a watch was refused"));
            }
            Ok(_) => {
                is_first = false;
                frames.fetch_add(1, Ordering::Relaxed);
            }
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {}
            Err(error) => return Err(failure(error)),
        }
    }
    Ok(())
}
