//! `cargo xtask bench record`: queries over millions of recorded messages, how far the record is behind under load, and what
//! live watchers cost.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use clap::Args;

use super::gateway::{Carrier, Gateway, Smpp};
use super::process::Usage;
use super::programs::Programs;
use super::smpp_load::{SmppLoad, SmppReport};
use super::{failure, load_average};
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
const SETTLE_WAIT: Duration = Duration::from_secs(60);
const WINDOW: u32 = 100;

#[derive(Args)]
pub(crate) struct Options {
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

pub(crate) fn run(programs: &Programs, options: &Options) -> Outcome {
    println!("load average before: {}", load_average());
    if !options.without_queries {
        run_queries(options)?;
    }
    let mut bench = Bench::start(programs, options)?;
    let behind =
        LAGS.iter().map(|(rate, most)| bench.measure_lag(*rate, *most)).collect::<Result<Vec<_>, _>>();
    let missed = [behind?, vec![bench.measure_watchers()?]].concat().into_iter().flatten();
    let missed: Vec<String> = missed.collect();
    bench.end()?;
    println!("load average after:  {}", load_average());
    if missed.is_empty() { Ok(()) } else { Err(failure(missed.join("; "))) }
}

/// Runs the benchmark of the store, which fails if a query is too slow.
fn run_queries(options: &Options) -> Outcome {
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

/// A gateway with its carrier.
struct Bench<'a> {
    programs: &'a Programs,
    options: &'a Options,
    carrier: Carrier,
    gateway: Gateway,
    smpp: Smpp,
    accepted: u64,
}

/// One load.
struct Measured {
    report: SmppReport,
    usage: Usage,
    /// The longest time that the record was behind, in seconds.
    lag: f64,
}

impl<'a> Bench<'a> {
    fn start(programs: &'a Programs, options: &'a Options) -> Result<Bench<'a>, Failure> {
        let carrier = Carrier::start(programs, &["--receipt-after", "1ms"])?;
        let (gateway, smpp) = Gateway::start_for(programs, &carrier.address, 1)?;
        Ok(Bench { programs, options, carrier, gateway, smpp, accepted: 0 })
    }

    fn end(self) -> Outcome {
        self.gateway.end_and_audit(self.accepted)?;
        self.carrier.end_and_compare(self.accepted)
    }

    /// Runs a load and reads meanwhile how far the record is behind.
    fn load(&mut self, rate: u64) -> Result<Measured, Failure> {
        let load = SmppLoad {
            address: &self.smpp.plain,
            binds: 1,
            window: WINDOW,
            certificate: None,
            rate: Some(rate),
            seconds: self.options.seconds,
            first: self.accepted,
        };
        let before = self.gateway.usage()?;
        let (report, lag) = std::thread::scope(|scope| {
            let running = scope.spawn(|| load.run(self.programs));
            let mut lag = 0.0_f64;
            while !running.is_finished() {
                lag = lag.max(self.gateway.metrics()?.total(LAG).unwrap_or(0.0));
                super::pause(POLL);
            }
            let report = running.join().map_err(|_| failure("the load panicked"))??;
            Ok::<_, Failure>((report, lag))
        })?;
        let usage = self.gateway.usage()?.since(before);
        report.require_no_errors()?;
        self.accepted += report.accepted;
        self.gateway.wait_until_settled(self.accepted, SETTLE_WAIT)?;
        self.gateway.wait_until_idle()?;
        Ok(Measured { report, usage, lag })
    }

    /// Returns what was missed.
    fn measure_lag(&mut self, rate: u64, most: f64) -> Result<Option<String>, Failure> {
        let Measured { report, usage, lag } = self.load(rate)?;
        #[expect(clippy::cast_precision_loss, reason = "counts of a benchmark")]
        let each = usage.record_cpu.as_secs_f64() * 1e6 / report.accepted.max(1) as f64;
        println!("{rate:>6}/s offered    behind at most {lag:.2} s; record {each:.1} us CPU per message");
        Ok((lag > most).then(|| format!("the record was {lag:.2} s behind at {rate}/s, more than {most} s")))
    }

    /// Measures the gateway's CPU without and with watchers. Returns what was missed.
    fn measure_watchers(&mut self) -> Result<Option<String>, Failure> {
        let without = self.load(WATCHED_RATE)?.usage;
        let (address, token) = self.gateway.operator()?;
        let (stop, frames) = (AtomicBool::new(false), AtomicU64::new(0));
        let with = std::thread::scope(|scope| {
            let watch = || watch(&address, &token, &stop, &frames);
            let watchers: Vec<_> = (0..self.options.watchers).map(|_| scope.spawn(watch)).collect();
            let with = self.load(WATCHED_RATE);
            stop.store(true, Ordering::Relaxed);
            for watcher in watchers {
                watcher.join().map_err(|_| failure("a watcher panicked"))??;
            }
            with
        })?;
        #[expect(clippy::cast_precision_loss, reason = "a number of seconds")]
        let cost = (with.usage.cpu.as_secs_f64() - without.cpu.as_secs_f64()) / self.options.seconds as f64;
        println!(
            "{} watchers       {:.1} % of one core at {WATCHED_RATE}/s: {:.2} s CPU with them, {:.2} s without, in {} s; \
             {} reads of frames",
            self.options.watchers,
            cost * 100.0,
            with.usage.cpu.as_secs_f64(),
            without.cpu.as_secs_f64(),
            self.options.seconds,
            frames.load(Ordering::Relaxed)
        );
        Ok((cost > WATCHERS_COST_MAX).then(|| format!("the watchers cost {:.1} % of a core", cost * 100.0)))
    }
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
