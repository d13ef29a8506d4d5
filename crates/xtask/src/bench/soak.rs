//! `cargo xtask bench soak`: a constant load over HTTP, over SMPP and with webhooks for minutes, and the memory of the gateway
//! meanwhile. Fails if it grows. The caches of the databases are filled before, as fast as the gateway accepts messages: at a constant
//! load that takes several minutes.

use std::time::{Duration, Instant};

use clap::Args;
use serde_json::Value;

use super::Programs;
use super::bed::{Bed, Loaded, check_all_sent, rest};
use super::gateway::Setup;
use super::load::{Length, Load, Over, WITH_KEYS};
use super::process::{Process, Usage};
use super::{Judged, failure, float, missed, stopwatch};
use crate::gateway_files::Customer;
use crate::shell::Failure;

/// The customers: name, how each sends, and its share of the rate in hundredths.
const LOADS: [(&str, Over, u64); 3] = [
    ("keys", Over::Http { connections: 32, flags: WITH_KEYS }, 34),
    ("binds", Over::Smpp { binds: 2, window: 50, tls: false }, 33),
    (POSTED, Over::Http { connections: 32, flags: &[] }, 33),
];
/// The customer who gets reports by webhook.
const POSTED: &str = "webhooks";
/// How long the last posts may take.
const LAST_POSTS: Duration = Duration::from_secs(3);
/// Time between two samples of the memory.
const SAMPLE_EVERY: Duration = Duration::from_secs(5);
/// Samples between two printed lines.
const PRINTED_EVERY: usize = 12;

#[derive(Args)]
pub(crate) struct SoakOptions {
    /// Minutes of load
    #[arg(long, default_value_t = 10)]
    minutes: u64,
    /// Messages per second
    #[arg(long, default_value_t = 900)]
    rate: u64,
    /// Messages before that, which fill the caches
    #[arg(long, default_value_t = 1_500_000)]
    warm_up: u64,
    /// Fail above this growth, in bytes per message. Filters of keys and carrier ids take up to four.
    #[arg(long, default_value_t = 16.0)]
    growth: f64,
}

/// The memory of the gateway at one moment.
#[derive(Clone, Copy)]
struct Sample {
    seconds: f64,
    settled: u64,
    resident: u64,
    anonymous: u64,
}

pub(super) fn run(programs: &Programs, options: &SoakOptions) -> Judged {
    let mut receiver = Process::start(&programs.simulator, &["webhooks", "--listen", "127.0.0.1:0"])?;
    let url = receiver.line()?;
    let customers = LOADS.map(|(name, _, _)| Customer {
        webhook: (name == POSTED).then(|| url.clone()),
        ..Customer::new(name)
    });
    let setup = Setup { customers: customers.to_vec(), receipt_after: "50ms", ..Setup::default() };
    let mut bed = Bed::start(programs, setup)?;
    let loads = |rate: Option<u64>, length: &dyn Fn(u64) -> Length| -> Vec<(Customer, Load)> {
        let load =
            |(_, over, share)| Load { over, rate: rate.map(|all| all * share / 100), length: length(share) };
        customers.iter().cloned().zip(LOADS.map(load)).collect()
    };
    let warm_up = loads(None, &|share| Length::Messages(options.warm_up * share / 100));
    let mut accepted = posted_to(&bed.offer_each(&warm_up, rest)?);
    println!(
        "{} messages to warm up, {:.1} MiB resident",
        options.warm_up,
        mib(bed.gateway().usage()?.resident_bytes)
    );
    let load = loads(Some(options.rate), &|_| Length::Seconds(options.minutes * 60));
    let (started, mut samples) = (stopwatch(), Vec::new());
    let loaded = bed.offer_each(&load, |bed| {
        super::pause(SAMPLE_EVERY);
        samples.push(Sample::take(bed, started)?);
        if let Some(sample) = samples.last().filter(|_| samples.len().is_multiple_of(PRINTED_EVERY)) {
            sample.print();
        }
        Ok(())
    })?;
    accepted += posted_to(&loaded);
    super::pause(LAST_POSTS);
    bed.end()?;
    let caught: Value = serde_json::from_str(receiver.end_and_read()?.trim()).map_err(failure)?;
    let posts = caught["posts"].as_u64().unwrap_or(0);
    println!("webhook posts        {posts:>9} of {accepted} messages");
    check_all_sent(&loaded.reports)?;
    println!("accepted             {:>9.0} /s", loaded.per_second);
    let unposted = missed(posts < accepted, || format!("{accepted} messages have {posts} webhook posts"));
    Ok([unposted, judge(options, &samples)?].concat())
}

/// Returns how many messages of the customer with a webhook were accepted.
fn posted_to(loaded: &Loaded) -> u64 {
    let reports = LOADS.iter().zip(&loaded.reports);
    reports.filter(|((name, ..), _)| *name == POSTED).map(|(_, report)| report.accepted).sum()
}

impl Sample {
    fn take(bed: &Bed<'_>, started: Instant) -> Result<Sample, Failure> {
        let Usage { resident_bytes, anonymous_bytes, .. } = bed.gateway().usage()?;
        let (seconds, settled) = (started.elapsed().as_secs_f64(), bed.settled()?);
        Ok(Sample { seconds, settled, resident: resident_bytes, anonymous: anonymous_bytes })
    }

    fn print(&self) {
        println!(
            "{:>6.0} s {:>10} settled {:>7.1} MiB resident, {:.1} MiB of it anonymous",
            self.seconds,
            self.settled,
            mib(self.resident),
            mib(self.anonymous)
        );
    }
}

fn judge(options: &SoakOptions, samples: &[Sample]) -> Judged {
    let per_minute = slope(samples.iter().map(|sample| (sample.seconds / 60.0, float(sample.resident))))
        .ok_or_else(too_few)?;
    let per_message = slope(samples.iter().map(|sample| (float(sample.settled), float(sample.resident))))
        .ok_or_else(too_few)?;
    println!(
        "growth               {per_message:>9.1} bytes per message, {:.2} MiB per minute",
        per_minute / 1_048_576.0
    );
    Ok(missed(per_message > options.growth, || {
        format!("memory grows by {per_message:.1} bytes per message, and {} are allowed", options.growth)
    }))
}

fn too_few() -> Failure {
    failure("too few samples: let it run longer")
}

/// Returns the slope of the straight line with the least squares of its distances.
fn slope(points: impl Iterator<Item = (f64, f64)>) -> Option<f64> {
    let points: Vec<(f64, f64)> = points.collect();
    let number = float(points.len() as u64);
    let mean = |sum: f64| sum / number;
    let x_mean = mean(points.iter().map(|(x, _)| x).sum());
    let y_mean = mean(points.iter().map(|(_, y)| y).sum());
    let above: f64 = points.iter().map(|(x, y)| (x - x_mean) * (y - y_mean)).sum();
    let below: f64 = points.iter().map(|(x, _)| (x - x_mean) * (x - x_mean)).sum();
    (points.len() > 2 && below > 0.0).then(|| above / below)
}

fn mib(bytes: u64) -> f64 {
    float(bytes) / 1_048_576.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slope_of_points_around_a_line_is_that_of_the_line() {
        let points = (0..100_u32).map(|x| (f64::from(x), 3.0 * f64::from(x) + f64::from(x % 2)));
        let slope = slope(points).expect("enough points");
        assert!((slope - 3.0).abs() < 0.01, "{slope}");
    }

    #[test]
    fn slope_needs_three_points_at_different_times() {
        assert_eq!(slope([(1.0, 1.0), (2.0, 2.0)].into_iter()), None);
        assert_eq!(slope([(1.0, 1.0); 5].into_iter()), None);
    }
}
