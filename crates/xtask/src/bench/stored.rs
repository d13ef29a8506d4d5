//! `cargo xtask bench stored`: the rate at saturation of a gateway with millions of stored messages and idempotency keys of the
//! day, compared in turn with gateways that are empty.

use clap::Args;

use super::Programs;
use super::bed::Bed;
use super::gateway::Setup;
use super::load::{Length, Load, Over, WITH_KEYS};
use super::{Judged, median, missed};
use crate::shell::Failure;

/// Fills the store, step by step.
const FILL: Load =
    Load { over: Over::Http { connections: 64, flags: WITH_KEYS }, rate: None, length: Length::Seconds(20) };

#[derive(Args)]
pub(crate) struct StoredOptions {
    /// Messages to store, each with an idempotency key
    #[arg(long, default_value_t = 10_000_000)]
    messages: u64,
    /// Seconds of each measurement
    #[arg(long, default_value_t = 15)]
    seconds: u64,
    /// Compare this many times, in turn with a gateway that is empty
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
    /// Fail below this ratio
    #[arg(long, default_value_t = 0.9)]
    floor: f64,
}

pub(super) fn run(programs: &Programs, options: &StoredOptions) -> Judged {
    let mut full = Bed::start(programs, Setup::default())?;
    let mut filled = 0;
    while filled < options.messages {
        filled += full.load(&FILL)?.accepted;
        eprint!("\r{filled} of {} messages are stored ", options.messages);
    }
    full.gateway().wait_until_idle()?;
    println!("\nstored             {filled:>9} messages, each with an idempotency key");
    let mut ratios = Vec::new();
    for round in 1..=options.rounds {
        // In turn, because the machine's speed changes. A new store each time, so that it is empty.
        let mut empty = Bed::start(programs, Setup::default())?;
        let (without, with) = (rate(&mut empty, options.seconds)?, rate(&mut full, options.seconds)?);
        empty.end()?;
        let ratio = with / without;
        println!("round {round:<12} {without:>9.0} /s empty, {with:>9.0} /s with these, ratio {ratio:.3}");
        ratios.push(ratio);
    }
    println!("memory             {:>9} MiB at most", full.gateway().usage()?.resident_peak_bytes >> 20);
    let ratio = median(ratios).unwrap_or_default();
    println!("ratio              {ratio:>9.3}   median (SMPP, one bind, window 100, receipts on)");
    full.end()?;
    Ok(missed(ratio < options.floor, || format!("the ratio {ratio:.3} is below {}", options.floor)))
}

/// Returns the rate of full lifecycles at saturation.
fn rate(bed: &mut Bed<'_>, seconds: u64) -> Result<f64, Failure> {
    let rate = bed.load(&Load::smpp(seconds))?.per_second;
    bed.gateway().wait_until_idle()?;
    Ok(rate)
}
