//! `cargo xtask bench webhooks`: reports to healthy endpoints while others are dead and have a long queue.

use std::time::Duration;

use clap::Args;
use serde_json::Value;

use super::gateway::{Carrier, Customer, Gateway, free_address};
use super::process::{Process, Usage};
use super::programs::Programs;
use super::{failure, load_average};
use crate::shell::{Failure, Outcome};

/// Customers whose endpoints are healthy. They share the rate.
const HEALTHY: u64 = 4;
/// How long the last posts may take.
const LAST_POSTS: Duration = Duration::from_secs(3);
const SETTLE_WAIT: Duration = Duration::from_secs(300);

#[derive(Args)]
pub(crate) struct Options {
    /// Messages per second, of all healthy customers together
    #[arg(long, default_value_t = 5_000)]
    rate: u64,
    /// How long to send them, in seconds
    #[arg(long, default_value_t = 30)]
    seconds: u64,
    /// Customers whose endpoints are dead: a third hangs, a third fails, a third is not there
    #[arg(long, default_value_t = 100)]
    dead: u64,
    /// Reports that wait for each of those
    #[arg(long, default_value_t = 10_000)]
    waiting: u64,
    /// Fail if one in a hundred takes longer from sending the message to the post, in milliseconds
    #[arg(long, default_value_t = 1_000)]
    p99_ms: u64,
}

/// The receivers of all webhooks.
struct Receivers {
    healthy: Process,
    dead: Vec<Process>,
    healthy_url: String,
    dead_urls: Vec<String>,
}

pub(crate) fn run(programs: &Programs, options: &Options) -> Outcome {
    println!("load average before: {}", load_average());
    let receivers = Receivers::start(programs)?;
    let carrier = Carrier::start(programs, &["--receipt-after", "1ms"])?;
    let customers = customers(options, &receivers);
    let (dead, healthy) = customers.split_at(usize::try_from(options.dead).map_err(failure)?);
    let gateway = Gateway::start_with_webhooks(programs, &carrier.address, &customers)?;
    for (number, customer) in dead.iter().enumerate() {
        fill(programs, &gateway, customer, options.waiting)?;
        eprint!(
            "\r{} of {} dead endpoints have {} reports waiting ",
            number + 1,
            dead.len(),
            options.waiting
        );
    }
    let filled = options.dead * options.waiting;
    gateway.wait_until_settled(filled, SETTLE_WAIT)?;
    println!("\n{} dead endpoints, {} reports for each", options.dead, options.waiting);

    let before = gateway.usage()?;
    let accepted = load(programs, &gateway, healthy, options)?;
    gateway.wait_until_settled(filled + accepted, SETTLE_WAIT)?;
    super::pause(LAST_POSTS);
    let used = gateway.usage()?.since(before);
    let caught = receivers.end()?;
    print(options, accepted, &caught, used);
    gateway.end_and_audit(filled + accepted)?;
    carrier.end()?;
    println!("load average after:  {}", load_average());
    judge(options, accepted, &caught)
}

impl Receivers {
    fn start(programs: &Programs) -> Result<Receivers, Failure> {
        let start = |behaviour: &str| {
            let args = ["webhooks", "--listen", "127.0.0.1:0", "--behaviour", behaviour];
            let mut process = Process::start(&programs.simulator, &args)?;
            let url = process.line()?;
            Ok::<_, Failure>((process, url))
        };
        let (healthy, healthy_url) = start("200")?;
        let (hangs, hangs_url) = start("hang")?;
        let (fails, fails_url) = start("503")?;
        let nobody = format!("http://{}/", free_address()?);
        let dead_urls = vec![hangs_url, fails_url, nobody];
        Ok(Receivers { healthy, dead: vec![hangs, fails], healthy_url, dead_urls })
    }

    /// Ends the receivers. Returns the report of the healthy one.
    fn end(self) -> Result<Value, Failure> {
        for dead in self.dead {
            dead.end()?;
        }
        serde_json::from_str(self.healthy.end_and_read()?.trim()).map_err(failure)
    }
}

/// Returns the customers, those with dead endpoints first.
fn customers(options: &Options, receivers: &Receivers) -> Vec<Customer> {
    let dead = (0..options.dead).zip(receivers.dead_urls.iter().cycle());
    let dead = dead.map(|(number, url)| Customer { name: format!("dead-{number}"), url: url.clone() });
    let healthy = (0..HEALTHY).map(|number| Customer {
        name: format!("healthy-{number}"),
        url: format!("{}{number}", receivers.healthy_url),
    });
    dead.chain(healthy).collect()
}

fn fill(programs: &Programs, gateway: &Gateway, customer: &Customer, messages: u64) -> Outcome {
    let count = messages.to_string();
    let mut generator =
        generator(programs, gateway, customer, &["--connections", "64", "--requests", &count])?;
    let accepted = accepted(&mut generator)?;
    if accepted != messages {
        return Err(failure(format!("{accepted} of {messages} messages of {} were accepted", customer.name)));
    }
    Ok(())
}

/// Sends the share of every healthy customer concurrently. Returns the number of accepted messages.
fn load(
    programs: &Programs,
    gateway: &Gateway,
    customers: &[Customer],
    options: &Options,
) -> Result<u64, Failure> {
    let (rate, duration) = ((options.rate / HEALTHY).to_string(), format!("{}s", options.seconds));
    let flags = ["--to", "clock", "--connections", "64", "--rate", &rate, "--duration", &duration];
    let started: Result<Vec<Process>, Failure> =
        customers.iter().map(|customer| generator(programs, gateway, customer, &flags)).collect();
    started?.iter_mut().map(accepted).sum()
}

fn generator(
    programs: &Programs,
    gateway: &Gateway,
    customer: &Customer,
    flags: &[&str],
) -> Result<Process, Failure> {
    let (key, secret) = (customer.key(), customer.secret());
    let mut args =
        vec!["http-load", "--json", "--url", &gateway.base_url, "--key", &key, "--secret", &secret];
    args.extend(flags);
    Process::start(&programs.simulator, &args)
}

fn accepted(generator: &mut Process) -> Result<u64, Failure> {
    let report: Value = serde_json::from_str(&generator.line()?).map_err(failure)?;
    Ok(report["statuses"]["202"].as_u64().unwrap_or(0))
}

fn print(options: &Options, accepted: u64, caught: &Value, used: Usage) {
    let delay = &caught["delay_ms"];
    println!(
        "healthy endpoints    {:>9} posts of {accepted} messages, {} a second",
        caught["posts"],
        accepted / options.seconds.max(1)
    );
    println!(
        "  sent to posted     {:>9} ms p50, {} ms p99, {} ms p99.9, {} ms at most",
        delay["p50"], delay["p99"], delay["p99.9"], delay["max"]
    );
    println!("  connections        {:>9}", caught["connections"]);
    let per_message = |amount: u128| amount / u128::from(accepted.max(1));
    println!(
        "  CPU per message    {:>9} us gateway, everything included: accepted, sent, receipted, posted, and the dead",
        per_message(used.cpu.as_micros())
    );
    println!("  written            {:>9} bytes per message", per_message(used.written_bytes.into()));
    println!("  memory             {:>9} MiB at most", used.resident_peak_bytes >> 20);
}

fn judge(options: &Options, accepted: u64, caught: &Value) -> Outcome {
    let (posts, wanted) = (caught["posts"].as_u64().unwrap_or(0), options.rate * options.seconds);
    if accepted * 100 < wanted * 99 {
        return Err(failure(format!("{accepted} of {wanted} messages were accepted in time")));
    }
    if posts < accepted {
        return Err(failure(format!("{posts} of {accepted} reports were posted")));
    }
    let p99 = caught["delay_ms"]["p99"].as_u64().unwrap_or(u64::MAX);
    if p99 > options.p99_ms {
        return Err(failure(format!("one in a hundred took longer than {p99} ms")));
    }
    Ok(())
}
