//! `cargo xtask bench queue`: messages that queue for a carrier that is down, and the drain when it returns.

use std::time::Duration;

use clap::Args;
use serde_json::Value;

use super::gateway::{Carrier, Gateway, free_address};
use super::process::Process;
use super::programs::Programs;
use super::{failure, load_average, start_watch};
use crate::shell::{Failure, Outcome};

const DRAIN_WAIT: Duration = Duration::from_secs(900);

#[derive(Args)]
pub(crate) struct Options {
    /// Messages in the queue
    #[arg(long, default_value_t = 1_000_000)]
    messages: u64,
    /// Fail above this much memory, in MiB
    #[arg(long, default_value_t = 300)]
    memory_mib: u64,
}

pub(crate) fn run(programs: &Programs, options: &Options) -> Outcome {
    println!("load average before: {}", load_average());
    let address = free_address()?;
    let gateway = Gateway::start(programs, &address)?;
    super::pause(Duration::from_secs(2));
    println!("idle memory          {:>9} MiB", gateway.usage()?.resident_bytes >> 20);
    let accepted = fill(programs, &gateway, options.messages)?;
    let waiting = gateway.usage()?;
    println!("{accepted} messages are queued for a carrier that is down");
    println!(
        "memory while waiting {:>9} MiB, {} MiB at most",
        waiting.resident_bytes >> 20,
        waiting.resident_peak_bytes >> 20
    );
    let carrier = Carrier::start_at(programs, &address, &["--receipt-after", "1ms"])?;
    let started = start_watch();
    gateway.wait_until_settled(accepted, DRAIN_WAIT)?;
    let took = started.elapsed();
    let peak = gateway.usage()?.resident_peak_bytes >> 20;
    #[expect(clippy::cast_precision_loss, reason = "a count of messages, for a rate")]
    let rate = accepted as f64 / took.as_secs_f64();
    println!("\ndrained in           {:>9.1} s after it returned, {rate:.0} /s", took.as_secs_f64());
    println!("memory in all        {peak:>9} MiB at most");
    gateway.end_and_audit(accepted)?;
    carrier.end()?;
    println!("load average after:  {}", load_average());
    if peak > options.memory_mib {
        return Err(failure(format!("{peak} MiB is above {} MiB", options.memory_mib)));
    }
    Ok(())
}

fn fill(programs: &Programs, gateway: &Gateway, messages: u64) -> Result<u64, Failure> {
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
