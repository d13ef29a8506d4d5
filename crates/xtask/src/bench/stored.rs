//! `cargo xtask bench stored`: the rate at saturation of a gateway with millions of stored messages and idempotency keys of the
//! day, compared in turn with gateways that are empty.

use std::time::Duration;

use clap::Args;

use super::gateway::{Carrier, Gateway, Smpp};
use super::http_load::HttpLoad;
use super::programs::Programs;
use super::smpp_load::SmppLoad;
use super::{failure, load_average};
use crate::shell::{Failure, Outcome};

const SETTLE_WAIT: Duration = Duration::from_secs(120);
const WINDOW: u32 = 100;
const CONNECTIONS: u32 = 64;
/// Seconds of each step that fills the store.
const FILL_SECONDS: u64 = 20;

#[derive(Args)]
pub(crate) struct Options {
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

pub(crate) fn run(programs: &Programs, options: &Options) -> Outcome {
    println!("load average before: {}", load_average());
    let mut full = Bench::start(programs, options)?;
    let filled = full.fill()?;
    println!("stored             {filled:>9} messages, each with an idempotency key");
    let mut ratios = Vec::new();
    for round in 1..=options.rounds {
        // In turn, because the machine's speed changes. A new store each time, so that it is empty.
        let mut empty = Bench::start(programs, options)?;
        let (without, with) = (empty.measure()?, full.measure()?);
        empty.end()?;
        let ratio = with / without;
        println!("round {round:<12} {without:>9.0} /s empty, {with:>9.0} /s with these, ratio {ratio:.3}");
        ratios.push(ratio);
    }
    let memory = full.gateway.usage()?.resident_peak_bytes >> 20;
    println!("memory             {memory:>9} MiB at most");
    ratios.sort_by(f64::total_cmp);
    let ratio = ratios[ratios.len() / 2];
    println!("ratio              {ratio:>9.3}   median (SMPP, one bind, window {WINDOW}, receipts on)");
    println!("load average after:  {}", load_average());
    full.end()?;
    if ratio < options.floor {
        return Err(failure(format!("the ratio {ratio:.3} is below {}", options.floor)));
    }
    Ok(())
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

impl<'a> Bench<'a> {
    fn start(programs: &'a Programs, options: &'a Options) -> Result<Bench<'a>, Failure> {
        let carrier = Carrier::start(programs, &["--receipt-after", "1ms"])?;
        let (gateway, smpp) = Gateway::start_for(programs, &carrier.address, 1)?;
        Ok(Bench { programs, options, carrier, gateway, smpp, accepted: 0 })
    }

    /// Ends both, audits the store and compares the carrier's counts.
    fn end(self) -> Outcome {
        self.gateway.end_and_audit(self.accepted)?;
        self.carrier.end_and_compare(self.accepted)
    }

    /// Returns the rate of full lifecycles at saturation.
    fn measure(&mut self) -> Result<f64, Failure> {
        let load = SmppLoad {
            address: &self.smpp.plain,
            binds: 1,
            window: WINDOW,
            certificate: None,
            rate: None,
            seconds: self.options.seconds,
            first: self.accepted,
        }
        .run(self.programs)?;
        load.require_no_errors()?;
        self.count(load.accepted)?;
        Ok(load.per_second)
    }

    /// Stores the messages. Returns how many.
    fn fill(&mut self) -> Result<u64, Failure> {
        let mut filled = 0;
        while filled < self.options.messages {
            let load = HttpLoad {
                url: &self.gateway.base_url,
                credentials: self.gateway.credentials(),
                connections: CONNECTIONS,
                keys: true,
                rate: None,
                seconds: FILL_SECONDS,
                first: self.accepted,
            }
            .run(self.programs)?;
            if load.errors() > 0 {
                return Err(failure(format!("{} messages were not accepted", load.errors())));
            }
            filled += load.accepted;
            self.count(load.accepted)?;
            eprint!("\r{filled} of {} messages are stored ", self.options.messages);
        }
        eprintln!();
        Ok(filled)
    }

    fn count(&mut self, accepted: u64) -> Outcome {
        self.accepted += accepted;
        self.gateway.wait_until_settled(self.accepted, SETTLE_WAIT)?;
        self.gateway.wait_until_idle()
    }
}
