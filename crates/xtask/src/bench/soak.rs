//! `cargo xtask bench soak`: a constant load for minutes, and the memory of the gateway meanwhile. Fails if it grows. The caches
//! of the databases are filled before, as fast as the gateway accepts messages: at a constant load that takes several minutes.

use std::time::Duration;

use clap::Args;

use super::gateway::{Carrier, Gateway};
use super::http_load::{HttpLoad, HttpReport};
use super::process::Usage;
use super::programs::Programs;
use super::queue;
use super::{failure, load_average, start_watch};
use crate::shell::{Failure, Outcome};

/// Time between two samples of the memory.
const SAMPLE_EVERY: Duration = Duration::from_secs(5);
/// Samples between two printed lines.
const PRINTED_EVERY: usize = 12;
/// Time for all accepted messages to be settled after the load.
const SETTLE_WAIT: Duration = Duration::from_secs(300);

#[derive(Args)]
pub(crate) struct Options {
    /// Minutes of load
    #[arg(long, default_value_t = 10)]
    minutes: u64,
    /// Messages per second
    #[arg(long, default_value_t = 900)]
    rate: u64,
    /// Messages before that, which fill the caches
    #[arg(long, default_value_t = 500_000)]
    warm_up: u64,
    /// Fail above this growth, in bytes per message. Filters of keys and carrier ids take four.
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

pub(crate) fn run(programs: &Programs, options: &Options) -> Outcome {
    println!("load average before: {}", load_average());
    let carrier = Carrier::start(programs, &["--receipt-after", "50ms"])?;
    let gateway = Gateway::start(programs, &carrier.address)?;
    let filled = queue::fill(programs, &gateway, options.warm_up)?;
    gateway.wait_until_settled(filled, SETTLE_WAIT)?;
    println!("{filled} messages to warm up, {:.1} MiB resident", mib(gateway.usage()?.resident_bytes));
    let (url, credentials) = (gateway.base_url.clone(), gateway.credentials());
    let load = HttpLoad {
        url: &url,
        credentials,
        connections: 64,
        keys: true,
        rate: Some(options.rate),
        seconds: options.minutes * 60,
        first: 0,
    };
    let started = start_watch();
    let running = load.start(programs)?;
    let mut samples = Vec::new();
    while started.elapsed() < Duration::from_secs(options.minutes * 60) {
        super::pause(SAMPLE_EVERY);
        let Usage { resident_bytes, anonymous_bytes, .. } = gateway.usage()?;
        let sample = Sample {
            seconds: started.elapsed().as_secs_f64(),
            settled: gateway.settled()?,
            resident: resident_bytes,
            anonymous: anonymous_bytes,
        };
        samples.push(sample);
        if samples.len().is_multiple_of(PRINTED_EVERY) {
            sample.print();
        }
    }
    let (report, _) = running.finish()?;
    gateway.wait_until_settled(filled + report.accepted, SETTLE_WAIT)?;
    gateway.end_and_audit(filled + report.accepted)?;
    carrier.end()?;
    println!("load average after:  {}", load_average());
    judge(options, &report, &samples)
}

impl Sample {
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

fn judge(options: &Options, report: &HttpReport, samples: &[Sample]) -> Outcome {
    let per_minute = slope(samples.iter().map(|sample| (sample.seconds / 60.0, count(sample.resident))))
        .ok_or_else(too_few)?;
    let per_message = slope(samples.iter().map(|sample| (count(sample.settled), count(sample.resident))))
        .ok_or_else(too_few)?;
    println!("accepted             {:>9.0} /s   ({} errors)", report.per_second, report.errors());
    println!(
        "growth               {:>9.1} bytes per message, {:.2} MiB per minute",
        per_message,
        per_minute / 1_048_576.0
    );
    if report.errors() > 0 {
        return Err(failure(format!("{} requests were not accepted", report.errors())));
    }
    if per_message > options.growth {
        return Err(failure(format!(
            "memory grows by {per_message:.1} bytes per message, and {} are allowed",
            options.growth
        )));
    }
    Ok(())
}

fn too_few() -> Failure {
    failure("too few samples: let it run longer")
}

/// Returns the slope of the straight line with the least squares of its distances.
fn slope(points: impl Iterator<Item = (f64, f64)>) -> Option<f64> {
    let points: Vec<(f64, f64)> = points.collect();
    let number = count(points.len() as u64);
    let mean = |sum: f64| sum / number;
    let x_mean = mean(points.iter().map(|(x, _)| x).sum());
    let y_mean = mean(points.iter().map(|(_, y)| y).sum());
    let above: f64 = points.iter().map(|(x, y)| (x - x_mean) * (y - y_mean)).sum();
    let below: f64 = points.iter().map(|(x, _)| (x - x_mean) * (x - x_mean)).sum();
    (points.len() > 2 && below > 0.0).then(|| above / below)
}

#[expect(clippy::cast_precision_loss, reason = "figures with a few digits")]
fn count(number: u64) -> f64 {
    number as f64
}

fn mib(bytes: u64) -> f64 {
    count(bytes) / 1_048_576.0
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
