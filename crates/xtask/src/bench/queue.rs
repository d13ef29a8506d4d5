//! `cargo xtask bench queue`: messages that queue for a carrier that is down, and the drain when it returns. Another customer sends a
//! few messages before and during the drain: its responses must not wait for the queue.

use std::time::Duration;

use clap::Args;
use serde_json::Value;

use super::gateway::{Carrier, Gateway, free_address};
use super::http_load::{HttpLoad, HttpReport};
use super::process::Process;
use super::programs::Programs;
use super::{failure, load_average, ms, nodes, start_watch};
use crate::shell::{Failure, Outcome};

const DRAIN_WAIT: Duration = Duration::from_secs(900);
/// The customer that sends beside the queue.
const BESIDE: &str = "beside";
const BESIDE_SECONDS: u64 = 5;
/// The number of its first message while the queue drains.
const BESIDE_SECOND: u64 = 100_000_000;

#[derive(Args)]
pub(crate) struct Options {
    /// Messages in the queue
    #[arg(long, default_value_t = 1_000_000)]
    messages: u64,
    /// Fail above this much memory, in MiB
    #[arg(long, default_value_t = 300)]
    memory_mib: u64,
    /// Run on PostgreSQL
    #[arg(long)]
    on_postgres: bool,
    /// Messages per second that another customer sends before and during the drain
    #[arg(long, default_value_t = 200)]
    beside: u64,
    /// Fail below this many drained messages per second
    #[arg(long)]
    floor: Option<f64>,
}

pub(crate) fn run(programs: &Programs, options: &Options) -> Outcome {
    println!("load average before: {}", load_average());
    let address = free_address()?;
    let database = options.on_postgres.then(|| nodes::start_database(programs, false)).transpose()?;
    let url = database.as_ref().map(|(_, database)| nodes::url_of(database));
    let customers = [BESIDE.to_owned()];
    let (gateway, _) = Gateway::start_for_customers(programs, &address, &customers, url.as_deref(), None)?;
    super::pause(Duration::from_secs(2));
    println!("idle memory          {:>9} MiB", gateway.usage()?.resident_bytes >> 20);
    let (key, secret) = (format!("key-{BESIDE}"), format!("secret-of-no-importance-{BESIDE}"));
    let beside = |first| HttpLoad {
        url: &gateway.base_url,
        credentials: (&key, &secret),
        connections: 16,
        keys: false,
        rate: Some(options.beside),
        seconds: BESIDE_SECONDS,
        first,
    };
    let before = {
        let carrier = Carrier::start_at(programs, &address, &["--receipt-after", "1ms"])?;
        let before = beside(0).run(programs)?;
        gateway.wait_until_settled(before.accepted, DRAIN_WAIT)?;
        carrier.end()?;
        before
    };
    let accepted = fill(programs, &gateway, options.messages)?;
    let waiting = gateway.usage()?;
    println!("{accepted} messages are queued for a carrier that is down");
    println!(
        "memory while waiting {:>9} MiB, {} MiB at most",
        waiting.resident_bytes >> 20,
        waiting.resident_peak_bytes >> 20
    );
    let carrier = Carrier::start_at(programs, &address, &["--receipt-after", "1ms"])?;
    let waiting = (before.accepted, before.accepted + accepted);
    let (rate, during) = drain(programs, &gateway, waiting, &beside(BESIDE_SECOND))?;
    let all = before.accepted + accepted + during.accepted;
    gateway.wait_until_settled(all, DRAIN_WAIT)?;
    let peak = gateway.usage()?.resident_peak_bytes >> 20;
    for (when, report) in [("before", &before), ("during", &during)] {
        let (p50, p99) = (ms(report.p50_us), ms(report.p99_us));
        println!("response {when:<11} {p50:>9.1} ms p50, {p99:.1} ms p99");
    }
    println!("memory in all        {peak:>9} MiB at most");
    gateway.end_and_audit(all)?;
    carrier.end()?;
    if let Some((folder, database)) = database {
        database.stop()?;
        std::fs::remove_dir_all(folder).map_err(failure)?;
    }
    println!("load average after:  {}", load_average());
    if peak > options.memory_mib {
        return Err(failure(format!("{peak} MiB is above {} MiB", options.memory_mib)));
    }
    if let Some(floor) = options.floor.filter(|floor| rate < *floor) {
        return Err(failure(format!("{rate:.0} messages per second are below {floor:.0}")));
    }
    Ok(())
}

/// Waits for the drain, in which the settled messages rise from the first to the second number, and runs `beside` meanwhile. Returns
/// the drained messages per second, and what the other customer saw.
fn drain(
    programs: &Programs,
    gateway: &Gateway,
    (settled, all): (u64, u64),
    beside: &HttpLoad<'_>,
) -> Result<(f64, HttpReport), Failure> {
    let (batches, returned) = (gateway.batches()?, start_watch());
    // The links reconnect by their own schedule, which is not part of the drain.
    let first = gateway.wait_until_settled(settled + 1, DRAIN_WAIT)?;
    let (reconnected, started) = (returned.elapsed().as_secs_f64(), start_watch());
    let load = beside.start(programs)?;
    let drained = gateway.wait_until_settled(all, DRAIN_WAIT)? - first;
    let (took, batches) = (started.elapsed().as_secs_f64(), gateway.batches()? - batches);
    #[expect(clippy::cast_precision_loss, reason = "a count of messages, for a rate")]
    let rate = drained as f64 / took;
    println!("\nfirst settled        {reconnected:>9.1} s after it returned");
    println!("drained in           {took:>9.1} s from then on, {rate:.0} /s, {batches} batches");
    Ok((rate, load.finish()?.0))
}

/// Sends messages as fast as the gateway accepts them. Returns how many it accepted.
pub(super) fn fill(programs: &Programs, gateway: &Gateway, messages: u64) -> Result<u64, Failure> {
    let (key, secret) = gateway.credentials();
    let count = messages.to_string();
    let args = [
        "http-load",
        "--json",
        "--url",
        &gateway.base_url,
        "--key",
        key,
        "--secret",
        secret,
        "--connections",
        "64",
        "--requests",
        &count,
    ];
    let mut generator = Process::start(&programs.simulator, &args)?;
    let report: Value = serde_json::from_str(&generator.line()?).map_err(failure)?;
    Ok(report["statuses"]["202"].as_u64().unwrap_or(0))
}
