//! `cargo xtask bench binds`: memory and CPU of idle SMPP binds.

use std::time::Duration;

use clap::Args;
use serde_json::Value;

use super::Programs;
use super::bed::Bed;
use super::gateway::Setup;
use super::process::Process;
use super::{Judged, failure, float, missed, stopwatch};
use crate::gateway_files::PASSWORD;
use crate::shell::{Failure, Outcome};

/// Binds that are opened and closed before the measurement, so that one-time costs are not counted.
const WARM_UP: u32 = 64;
/// From the last bind to the first measurement.
const SETTLE: Duration = Duration::from_secs(2);
/// From the last measurement to the end of the hold.
const SLACK_SECONDS: u64 = 5;

#[derive(Args)]
pub(crate) struct BindsOptions {
    /// Idle binds
    #[arg(long, default_value_t = 10_000)]
    binds: u32,
    /// Binds opened per second
    #[arg(long, default_value_t = 500)]
    rate: u32,
    /// How long the binds are observed, in seconds
    #[arg(long, default_value_t = 60)]
    seconds: u64,
    /// A thousand binds for five seconds, to test the benchmark
    #[arg(long)]
    short: bool,
    /// Fail above this many KiB per bind
    #[arg(long, default_value_t = 16.0)]
    kib_per_bind: f64,
}

pub(super) fn run(programs: &Programs, options: &BindsOptions) -> Judged {
    let (binds, seconds) = if options.short { (1_000, 5) } else { (options.binds, options.seconds) };
    let bed = Bed::start(programs, Setup { sockets: binds.into(), ..Setup::default() })?;
    let (gateway, address) = (bed.gateway(), &bed.gateway().listeners.smpp);
    let mut warm_up = idle(programs, address, WARM_UP, options.rate, 0)?;
    finish(&mut warm_up)?;
    super::pause(SETTLE);
    let before = gateway.usage()?;

    let hold = seconds + SETTLE.as_secs() + SLACK_SECONDS;
    let mut idle = idle(programs, address, binds, options.rate, hold)?;
    let standing: Value = serde_json::from_str(&idle.line()?).map_err(failure)?;
    super::pause(SETTLE);
    let bound = gateway.usage()?;
    let watch = stopwatch();
    super::pause(Duration::from_secs(seconds));
    let held = gateway.usage()?;
    let watched = watch.elapsed();
    let report: Value = serde_json::from_str(&idle.line()?).map_err(failure)?;

    let count = standing["bound"].as_u64().unwrap_or(0);
    let grown = held.resident_bytes.saturating_sub(before.resident_bytes);
    let kib = float(grown) / 1024.0 / float(count.max(1));
    println!(
        "\nbound                {count:>9}      in {:.1} s, {} us of the gateway's CPU each",
        standing["binding_s"].as_f64().unwrap_or(0.0),
        bound.since(before).cpu.as_micros() / u128::from(count.max(1))
    );
    println!(
        "memory               {:>9} MiB  before {} MiB, {} MiB at most",
        held.resident_bytes >> 20,
        before.resident_bytes >> 20,
        held.resident_peak_bytes >> 20
    );
    println!("  per bind           {kib:>9.1} KiB  (at most {} KiB)", options.kib_per_bind);
    let idle_share = held.since(bound).cpu.as_secs_f64() / watched.as_secs_f64() * 100.0;
    println!("CPU while idle       {idle_share:>9.2} %    of one core over {:.0} s", watched.as_secs_f64());
    println!("alive at the end     {:>9}", report["alive"].as_u64().unwrap_or(0));
    bed.end()?;
    let fared_well =
        ["bound", "alive", "unbound"].iter().all(|name| report[*name].as_u64() == Some(u64::from(binds)));
    let most = options.kib_per_bind;
    Ok([
        missed(!fared_well, || format!("not all {binds} binds succeeded: {report}")),
        missed(!options.short && kib > most, || format!("{kib:.1} KiB per bind exceed {most}")),
    ]
    .concat())
}

fn idle(
    programs: &Programs,
    address: &str,
    binds: u32,
    rate: u32,
    hold_seconds: u64,
) -> Result<Process, Failure> {
    let (binds, rate, hold) = (binds.to_string(), rate.to_string(), format!("{hold_seconds}s"));
    let customer =
        ["smpp-idle", "--json", "--address", address, "--system-id", "bench", "--password", PASSWORD];
    let args = [&customer[..], &["--binds", &binds, "--rate", &rate, "--hold", &hold]].concat();
    Process::start(&programs.simulator, &args)
}

/// Reads the report.
fn finish(idle: &mut Process) -> Outcome {
    idle.line()?;
    let report: Value = serde_json::from_str(&idle.line()?).map_err(failure)?;
    match report["bound"].as_u64() {
        Some(bound) if bound == u64::from(WARM_UP) => Ok(()),
        _ => Err(failure(format!("the first binds failed: {report}"))),
    }
}
