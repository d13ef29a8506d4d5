//! A carrier that accepts everything and answers nothing, while another carrier of the route is idle.

use std::time::Duration;

use super::bed::Bed;
use super::failure;
use super::figures::ACCEPTED;
use super::gateway::{free_address, fresh_folder, remove};
use super::load::{Load, Over};
use super::phases::Stage;
use super::process::Process;
use super::{pause, stopwatch};
use crate::gateway_files::write;
use crate::shell::{Failure, Outcome};

const POLL: Duration = Duration::from_millis(50);
/// After the load, for answers of the carrier that was stopped.
const LATE_ANSWERS: Duration = Duration::from_secs(5);

/// The route's second carrier. Capitals are placeholders.
const IDLE_CARRIER: &str = r#"
[[carrier]]
name = "bench"
window = WINDOW

[[carrier]]
name = "idle"
address = "ADDRESS"
system_id = "idle"
password = "idle"
window = WINDOW
rate = 1000000

[[route]]
prefix = "*"
carriers = ["bench", "idle"]
"#;

/// Sends at a constant rate, stops the first carrier's process after a sixth of the time, and continues it after the last message, so
/// that it sends the receipts that it owes. Says how many messages were sent more often than once.
pub(super) fn measure(stage: &mut Stage<'_>) -> Outcome {
    let count = |name| stage.options.count(name);
    let (seconds, rate, window) = (count("seconds"), count("rate"), count("window"));
    let address = free_address()?;
    let words = format!("carrier --listen {address} --receipt-after 1ms");
    let mut idle = Process::start(&stage.bed.binaries.simulator, &words)?;
    // The line with its address says that it listens.
    idle.line()?;
    let folder = fresh_folder()?;
    let file = folder.join("idle.toml");
    write(&file, &IDLE_CARRIER.replace("ADDRESS", &address).replace("WINDOW", &window.to_string()))?;
    stage.bed.gateway().hermod(&["apply", &file.to_string_lossy()])?;
    remove(&folder)?;

    let carrier = stage.bed.take_carrier()?;
    let started = stopwatch();
    let load = Duration::from_secs(seconds);
    let mut signals = [(load / 6, "STOP"), (load, "CONT")].into_iter().peekable();
    let loads = Load::seconds(Over::bind(1_000), seconds).at(rate).alone();
    let loaded = stage.bed.load(&loads, |_: &Bed<'_>| {
        if let Some((_, signal)) = signals.next_if(|(at, _)| started.elapsed() >= *at) {
            carrier.signal(signal)?;
        }
        pause(POLL);
        Ok(())
    })?;
    let accepted = loaded.all.value(ACCEPTED);
    stage.add("", loaded);
    pause(LATE_ANSWERS);
    let [first, second] = [submits(&carrier.end()?)?, submits(&idle.end()?)?];
    stage.results.say("sent to the carrier that turned mute", first, "messages");
    stage.results.say("sent to the idle carrier", second, "messages");
    stage.results.say("sent more often than once", first + second - accepted, "messages");
    Ok(())
}

/// Returns how many messages a carrier got, by its counts.
fn submits(counts: &str) -> Result<f64, Failure> {
    let count = counts.lines().find_map(|line| line.strip_prefix("submits")?.trim().parse().ok());
    count.ok_or_else(|| failure(format!("the carrier counted no submits: {counts}")))
}
