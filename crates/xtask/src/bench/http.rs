//! `cargo xtask bench http`: messages per second end to end, compared with an endpoint that stores nothing and the same
//! client.

use std::time::Duration;

use clap::Args;

use super::gateway::{Carrier, Gateway};
use super::http_load::{HttpLoad, HttpReport};
use super::process::{Process, Usage};
use super::programs::Programs;
use super::{failure, load_average, ms, start_watch};
use crate::shell::{Failure, Outcome};

/// Time for all accepted messages to be settled after the load.
const SETTLE_WAIT: Duration = Duration::from_secs(120);

#[derive(Args)]
pub(crate) struct Options {
    /// Seconds of load; the reference is measured as long, half before and half after
    #[arg(long, default_value_t = 20)]
    seconds: u64,
    /// Connections, each with one request in flight
    #[arg(long, default_value_t = 64)]
    connections: u32,
    /// Give every message an idempotency key
    #[arg(long)]
    keys: bool,
    /// Fail below this ratio
    #[arg(long, default_value_t = 0.25)]
    floor: f64,
}

pub(crate) fn run(programs: &Programs, options: &Options) -> Outcome {
    println!("load average before: {}", load_average());
    let half = (options.seconds / 2).max(1);
    let before = reference(programs, options, half)?;
    let measured = measure(programs, options)?;
    let after = reference(programs, options, half)?;
    let empty = f64::midpoint(before.per_second, after.per_second);
    let ratio = measured.per_second / empty;
    println!("\nempty endpoint       {:>9.0} /s before, {:.0} /s after", before.per_second, after.per_second);
    measured.print();
    println!(
        "ratio                {ratio:>9.3}   (end to end / empty endpoint, same client, {} connections)",
        options.connections
    );
    println!("load average after:  {}", load_average());
    if ratio < options.floor {
        return Err(failure(format!("the ratio {ratio:.3} is below {}", options.floor)));
    }
    Ok(())
}

fn reference(programs: &Programs, options: &Options, seconds: u64) -> Result<HttpReport, Failure> {
    let mut endpoint = Process::start(&programs.simulator, &["empty-http", "--port", "0"])?;
    let url = endpoint.line()?;
    let load = load(programs, options, &url, ("key", "secret"), seconds)?;
    println!("empty endpoint: {:.0} requests/s", load.per_second);
    endpoint.end()?;
    Ok(load)
}

/// The measured gateway.
struct Measured {
    load: HttpReport,
    /// Messages settled per second, from the first request until the last receipt was recorded.
    per_second: f64,
    settled: u64,
    gateway: Usage,
    carrier: Usage,
}

fn measure(programs: &Programs, options: &Options) -> Result<Measured, Failure> {
    let carrier = Carrier::start(programs, &["--receipt-after", "1ms"])?;
    let gateway = Gateway::start(programs, &carrier.address)?;
    let before = (gateway.usage()?, carrier.usage()?);
    let started = start_watch();
    let load = load(programs, options, &gateway.base_url, gateway.credentials(), options.seconds)?;
    let settled = gateway.wait_until_settled(load.accepted, SETTLE_WAIT)?;
    let took = started.elapsed();
    let after = (gateway.usage()?, carrier.usage()?);
    gateway.end_and_audit(load.accepted)?;
    carrier.end()?;
    #[expect(clippy::cast_precision_loss, reason = "a count of messages, for a rate with three digits")]
    let per_second = settled as f64 / took.as_secs_f64();
    Ok(Measured {
        load,
        per_second,
        settled,
        gateway: after.0.since(before.0),
        carrier: after.1.since(before.1),
    })
}

impl Measured {
    fn print(&self) {
        let HttpReport { answered, failed, accepted, p50_us, p99_us, p999_us, per_second, .. } = self.load;
        println!("hermod end to end    {:>9.0} /s   ({} settled)", self.per_second, self.settled);
        println!(
            "  accepted           {per_second:>9.0} /s   ({accepted} of {answered} responses, {failed} failed)"
        );
        println!(
            "  latency of 202     {:>9.1} ms p50, {:.1} ms p99, {:.1} ms p99.9",
            ms(p50_us),
            ms(p99_us),
            ms(p999_us)
        );
        let per_message = |amount: u128| amount / u128::from(self.settled.max(1));
        println!(
            "  CPU per message    {:>9} us gateway, {} us carrier",
            per_message(self.gateway.cpu.as_micros()),
            per_message(self.carrier.cpu.as_micros())
        );
        println!(
            "  written            {:>9} bytes per message",
            per_message(self.gateway.written_bytes.into())
        );
        println!("  memory             {:>9} MiB at most", self.gateway.resident_peak_bytes >> 20);
    }
}

fn load(
    programs: &Programs,
    options: &Options,
    url: &str,
    credentials: (&str, &str),
    seconds: u64,
) -> Result<HttpReport, Failure> {
    let Options { connections, keys, .. } = *options;
    HttpLoad { url, credentials, connections, keys, rate: None, seconds, first: 0 }.run(programs)
}
