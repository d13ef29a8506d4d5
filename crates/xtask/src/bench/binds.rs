//! Memory and CPU of idle SMPP binds.

use std::time::Duration;

use super::figures::{CPU, MEMORY, RESIDENT};
use super::phases::Stage;
use super::process::Process;
use super::{failure, stopwatch};
use crate::gateway_files::PASSWORD;
use crate::shell::{Failure, Outcome};

/// Binds that are opened and closed before the measurement, so that one-time costs are not counted.
const WARM_UP: u64 = 64;
/// From the last bind to the first measurement.
const SETTLE: Duration = Duration::from_secs(2);
/// From the last measurement to the end of the hold.
const SLACK_SECONDS: u64 = 5;

/// Opens binds, observes them, and says what they take.
pub(super) fn measure(stage: &mut Stage<'_>) -> Outcome {
    let (binds, seconds) = (stage.run.setup.sockets, stage.options.count("seconds"));
    let seconds = if stage.options.is("short") { 5 } else { seconds };
    let mut warm_up = idle(stage, WARM_UP, 0)?;
    warm_up.line()?;
    check_all(&warm_up.json()?, WARM_UP)?;
    super::pause(SETTLE);
    let before = stage.bed.gateway().usage()?;
    let mut idle = idle(stage, binds, seconds + SETTLE.as_secs() + SLACK_SECONDS)?;
    let bound = idle.json()?;
    super::pause(SETTLE);
    let gateway = stage.bed.gateway();
    let (opened, watch) = (gateway.usage()?, stopwatch());
    super::pause(Duration::from_secs(seconds));
    let (held, watched) = (gateway.usage()?, watch.elapsed());
    check_all(&idle.json()?, binds)?;

    let [per_bind, binds] = [1.0 / binds as f64, binds as f64];
    let grown = (held.value(RESIDENT) - before.value(RESIDENT)).max(0.0);
    let idle_share = (held.value(CPU) - opened.value(CPU)) / watched.as_secs_f64() / 1e6;
    for (name, value, unit) in [
        ("bound, and alive at the end", binds, "binds"),
        ("bound in", bound["binding_s"].as_f64().unwrap_or_default(), "s"),
        ("CPU of the gateway for each bind", (opened.value(CPU) - before.value(CPU)) * per_bind, "us"),
        ("memory before", before.value(RESIDENT), "MiB"),
        ("memory with the binds", held.value(RESIDENT), "MiB"),
        ("memory with the binds", held.value(MEMORY), "MiB at most"),
        ("memory for each bind", grown * 1_024.0 * per_bind, "KiB"),
        ("CPU while idle", idle_share * 100.0, "% of a core"),
    ] {
        stage.results.say(name, value, unit);
    }
    Ok(())
}

/// Starts a client that opens binds, holds them for this many seconds, checks each and unbinds.
fn idle(stage: &Stage<'_>, binds: u64, hold_seconds: u64) -> Result<Process, Failure> {
    let (address, rate) = (&stage.bed.gateway().listeners.smpp, stage.options.count("rate"));
    let customer = format!("--address {address} --system-id bench --password {PASSWORD}");
    let words = format!("smpp-idle --json {customer} --binds {binds} --rate {rate} --hold {hold_seconds}s");
    Process::start(&stage.bed.binaries.simulator, &words)
}

/// Fails unless all binds were opened, alive at the end, and unbound.
fn check_all(report: &serde_json::Value, binds: u64) -> Outcome {
    match ["bound", "alive", "unbound"].iter().all(|name| report[*name].as_u64() == Some(binds)) {
        true => Ok(()),
        false => Err(failure(format!("not all {binds} binds succeeded: {report}"))),
    }
}
