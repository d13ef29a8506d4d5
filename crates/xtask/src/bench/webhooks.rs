//! `cargo xtask bench webhooks`: reports to healthy endpoints while others are dead and have a long queue.

use std::time::Duration;

use clap::Args;
use serde_json::Value;

use super::Programs;
use super::bed::{Bed, rest};
use super::gateway::{Setup, free_address};
use super::load::{Length, Load, Over};
use super::process::Process;
use super::{Judged, failure, missed};
use crate::gateway_files::Customer;
use crate::shell::{Failure, Outcome};

/// Customers whose endpoints are healthy. They share the rate.
const HEALTHY: u64 = 4;
/// How long the last posts may take.
const LAST_POSTS: Duration = Duration::from_secs(3);
/// Open files for posts.
const WEBHOOK_SOCKETS: u64 = 10_000;

#[derive(Args)]
pub(crate) struct WebhooksOptions {
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

pub(super) fn run(programs: &Programs, options: &WebhooksOptions) -> Judged {
    let receivers = Receivers::start(programs)?;
    let customers = customers(options, &receivers);
    let (dead, healthy) = customers.split_at(usize::try_from(options.dead).map_err(failure)?);
    let setup = Setup { customers: customers.clone(), sockets: WEBHOOK_SOCKETS, ..Setup::default() };
    let mut bed = Bed::start(programs, setup)?;
    let fill = Load::http(Length::Messages(options.waiting));
    for (number, customer) in (1..).zip(dead) {
        let filled = bed.load_for(std::slice::from_ref(customer), &fill, rest)?;
        check_filled(customer, filled.accepted, options.waiting)?;
        eprint!("\r{number} of {} dead endpoints have {} reports waiting ", dead.len(), options.waiting);
    }
    println!("\n{} dead endpoints, {} reports for each", options.dead, options.waiting);
    let load = Load {
        over: Over::Http { connections: 64, flags: &["--to", "clock"] },
        rate: Some(options.rate / HEALTHY),
        length: Length::Seconds(options.seconds),
    };
    let before = bed.cost()?;
    let mut loaded = bed.offer(healthy, &load, rest)?;
    super::pause(LAST_POSTS);
    loaded.cost = bed.cost()?.since(before);
    let caught = receivers.end()?;
    let delay = &caught["delay_ms"];
    println!(
        "healthy endpoints    {:>9} posts of {} messages, {} a second",
        caught["posts"],
        loaded.accepted,
        loaded.accepted / options.seconds.max(1)
    );
    println!(
        "  sent to posted     {:>9} ms p50, {} ms p99, {} ms p99.9, {} ms at most",
        delay["p50"], delay["p99"], delay["p99.9"], delay["max"]
    );
    println!("  connections        {:>9}", caught["connections"]);
    // The CPU is that of everything: accepted, sent, receipted, posted, and the dead.
    loaded.print();
    bed.end()?;
    Ok(judge(options, loaded.accepted, &caught))
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
fn customers(options: &WebhooksOptions, receivers: &Receivers) -> Vec<Customer> {
    let dead = (0..options.dead).zip(receivers.dead_urls.iter().cycle());
    let dead = dead.map(|(number, url)| (format!("dead-{number}"), url.clone()));
    let healthy = (0..HEALTHY)
        .map(|number| (format!("healthy-{number}"), format!("{}{number}", receivers.healthy_url)));
    dead.chain(healthy).map(|(name, url)| Customer { webhook: Some(url), ..Customer::new(name) }).collect()
}

/// Fails if a dead endpoint has not as many reports as the benchmark is about.
fn check_filled(customer: &Customer, accepted: u64, waiting: u64) -> Outcome {
    if accepted == waiting {
        return Ok(());
    }
    Err(failure(format!("{accepted} of {waiting} messages of {} were accepted", customer.name)))
}

fn judge(options: &WebhooksOptions, accepted: u64, caught: &Value) -> Vec<String> {
    let (posts, wanted) = (caught["posts"].as_u64().unwrap_or(0), options.rate * options.seconds);
    let p99 = caught["delay_ms"]["p99"].as_u64().unwrap_or(u64::MAX);
    [
        missed(accepted * 100 < wanted * 99, || {
            format!("{accepted} of {wanted} messages were accepted in time")
        }),
        missed(posts < accepted, || format!("{posts} of {accepted} reports were posted")),
        missed(p99 > options.p99_ms, || format!("one in a hundred took longer than {p99} ms")),
    ]
    .concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endpoint_with_fewer_reports_than_wanted_fails() {
        let customer = Customer::new("dead-7");
        assert!(check_filled(&customer, 10, 10).is_ok());
        let failed = check_filled(&customer, 9, 10).map_err(|failure| failure.to_string());
        assert_eq!(failed, Err("9 of 10 messages of dead-7 were accepted".to_owned()));
    }
}
