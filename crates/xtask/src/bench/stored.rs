//! `cargo xtask bench stored`: the rate at saturation of a gateway with millions of stored messages and idempotency keys of the
//! day, compared with the same gateway when it was empty.

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
    #[arg(long, default_value_t = 20)]
    seconds: u64,
    /// Fail below this ratio
    #[arg(long, default_value_t = 0.9)]
    floor: f64,
}

pub(crate) fn run(programs: &Programs, options: &Options) -> Outcome {
    println!("load average before: {}", load_average());
    let carrier = Carrier::start(programs, &["--receipt-after", "1ms"])?;
    let (gateway, smpp) = Gateway::start_for(programs, &carrier.address, 1)?;
    let mut bench = Bench { programs, options, gateway: &gateway, smpp: &smpp, accepted: 0 };
    let empty = bench.measure()?;
    println!("empty              {empty:>9.0} /s");
    let filled = bench.fill()?;
    println!("stored             {filled:>9} messages, each with an idempotency key");
    let full = bench.measure()?;
    println!("with these         {full:>9.0} /s");
    let memory = gateway.usage()?.resident_peak_bytes >> 20;
    println!("memory             {memory:>9} MiB at most");
    let ratio = full / empty;
    println!("ratio              {ratio:>9.3}   (SMPP, one bind, window {WINDOW}, receipts on)");
    println!("load average after:  {}", load_average());
    let accepted = bench.accepted;
    gateway.end_and_audit(accepted)?;
    carrier.end_and_compare(accepted)?;
    if ratio < options.floor {
        return Err(failure(format!("the ratio {ratio:.3} is below {}", options.floor)));
    }
    Ok(())
}

struct Bench<'a> {
    programs: &'a Programs,
    options: &'a Options,
    gateway: &'a Gateway,
    smpp: &'a Smpp,
    accepted: u64,
}

impl Bench<'_> {
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
