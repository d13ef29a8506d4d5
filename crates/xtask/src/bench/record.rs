//! `cargo xtask bench record`: queries over millions of recorded messages, how far the record is behind under load, and what
//! live watchers cost.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use clap::Args;

use super::Programs;
use super::bed::{Bed, Loaded};
use super::gateway::Setup;
use super::load::Load;
use super::metrics::Metrics;
use super::{Judged, failure, float, missed};
use crate::shell::{self, Failure, Outcome};

/// Offered loads, and the longest time that the record may be behind, in seconds.
const LAGS: [(u64, f64); 2] = [(1_000, 1.0), (10_000, 5.0)];
/// The offered load with watchers.
const WATCHED_RATE: u64 = 1_000;
/// The share of one core that all watchers may cost.
const WATCHERS_COST_MAX: f64 = 0.05;
const LAG: &str = "hermod_record_lag_seconds";
const POLL: Duration = Duration::from_millis(50);
/// A watcher looks this often whether it is to leave.
const READ_WAIT: Duration = Duration::from_millis(500);

#[derive(Args)]
pub(crate) struct RecordOptions {
    /// Recorded messages, over 30 days in 500 accounts
    #[arg(long, default_value_t = 10_000_000)]
    messages: u64,
    /// Keep the filled record in this folder, or use one that was filled before
    #[arg(long, value_name = "DIR")]
    folder: Option<PathBuf>,
    /// Measurements of each kind of query
    #[arg(long, default_value_t = 300)]
    queries: u64,
    /// Seconds of each load
    #[arg(long, default_value_t = 20)]
    seconds: u64,
    /// Live watchers
    #[arg(long, default_value_t = 200)]
    watchers: usize,
    /// Measure the gateway only
    #[arg(long)]
    without_queries: bool,
}

pub(super) fn run(programs: &Programs, options: &RecordOptions) -> Judged {
    if !options.without_queries {
        run_queries(options)?;
    }
    let mut bed = Bed::start(programs, Setup::default())?;
    let mut missed = Vec::new();
    for (rate, most) in LAGS {
        missed.extend(measure_lag(&mut bed, options, rate, most)?);
    }
    missed.extend(measure_watchers(&mut bed, options)?);
    bed.end()?;
    Ok(missed)
}

/// Runs the benchmark of the store, which fails if a query is too slow.
fn run_queries(options: &RecordOptions) -> Outcome {
    let (messages, queries) = (options.messages.to_string(), options.queries.to_string());
    let temporary = std::env::temp_dir().join("hermod-record-bench");
    let folder = options.folder.as_ref().unwrap_or(&temporary);
    let mut args = vec!["run", "--profile", "dist", "--package", "hermod-store", "--example", "record_bench"];
    let path = folder.to_string_lossy();
    args.extend(["--", &messages, &path, &queries]);
    let measured = shell::run(shell::command("cargo", &args));
    if options.folder.is_none() {
        std::fs::remove_dir_all(folder).map_err(failure)?;
    }
    measured
}

/// Runs a load. Returns it with the longest time that the record was behind, in seconds.
fn load(bed: &mut Bed<'_>, options: &RecordOptions, rate: u64) -> Result<(Loaded, f64), Failure> {
    let mut lag = 0.0_f64;
    let load = Load { rate: Some(rate), ..Load::smpp(options.seconds) };
    let loaded = bed.load_while(&load, |bed| {
        lag = lag.max(lag_of(&bed.gateway().metrics()?)?);
        super::pause(POLL);
        Ok(())
    })?;
    bed.gateway().wait_until_idle()?;
    Ok((loaded, lag))
}

/// Returns how far the record is behind, in seconds. Fails if the gateway has no such metric.
fn lag_of(metrics: &Metrics) -> Result<f64, Failure> {
    metrics.total(LAG).ok_or_else(|| failure(format!("the gateway has no metric {LAG}")))
}

fn measure_lag(bed: &mut Bed<'_>, options: &RecordOptions, rate: u64, most: f64) -> Judged {
    let (loaded, lag) = load(bed, options, rate)?;
    let each = loaded.cost.gateways.record_cpu.as_secs_f64() * 1e6 / float(loaded.accepted.max(1));
    println!("{rate:>6}/s offered    behind at most {lag:.2} s; record {each:.1} us CPU per message");
    Ok(missed(lag > most, || format!("the record was {lag:.2} s behind at {rate}/s, more than {most} s")))
}

/// Measures the gateway's CPU without and with watchers.
fn measure_watchers(bed: &mut Bed<'_>, options: &RecordOptions) -> Judged {
    let cpu = |loaded: &Loaded| loaded.cost.gateways.cpu.as_secs_f64();
    let without = cpu(&load(bed, options, WATCHED_RATE)?.0);
    let (address, token) = bed.gateway().operator()?;
    let (stop, frames) = (AtomicBool::new(false), AtomicU64::new(0));
    let with = std::thread::scope(|scope| {
        let watch = || watch(&address, &token, &stop, &frames);
        let watchers: Vec<_> = (0..options.watchers).map(|_| scope.spawn(watch)).collect();
        let with = load(bed, options, WATCHED_RATE);
        stop.store(true, Ordering::Relaxed);
        for watcher in watchers {
            watcher.join().map_err(|_| failure("a watcher panicked"))??;
        }
        with.map(|(loaded, _)| cpu(&loaded))
    })?;
    let cost = (with - without) / float(options.seconds);
    println!(
        "{} watchers       {:.1} % of one core at {WATCHED_RATE}/s: {with:.2} s CPU with them, {without:.2} s without, in {} s; \
         {} reads of frames",
        options.watchers,
        cost * 100.0,
        options.seconds,
        frames.load(Ordering::Relaxed)
    );
    Ok(missed(cost > WATCHERS_COST_MAX, || format!("the watchers cost {:.1} % of a core", cost * 100.0)))
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
            Ok(read) => {
                if is_first && !octets[..read].starts_with(b"HTTP/1.1 200") {
                    return Err(failure("a watch was refused"));
                }
                is_first = false;
                frames.fetch_add(1, Ordering::Relaxed);
            }
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {}
            Err(error) => return Err(failure(error)),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_metric_of_the_lag_fails() {
        let lag = |response: &str| {
            lag_of(&Metrics::new(response.to_owned())).map_err(|failure| failure.to_string())
        };
        assert_eq!(lag("hermod_record_lag_seconds 0.25\n"), Ok(0.25));
        let missing = "the gateway has no metric hermod_record_lag_seconds";
        assert_eq!(lag("hermod_batches_total 12\n"), Err(missing.to_owned()));
    }
}
