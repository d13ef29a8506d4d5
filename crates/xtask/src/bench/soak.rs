//! Samples of the gateway's memory during a long load, and how fast it grows.

use std::time::Duration;

use super::bed::{Bed, HEALTHY, Loaded, rest};
use super::failure;
use super::figures::{ACCEPTED, ANONYMOUS, RESIDENT};
use super::load::{Load, Loads, Over, WITH_KEYS};
use super::phases::Stage;
use super::stopwatch;
use super::webhooks::LAST_POSTS;
use crate::gateway_files::Customer;
use crate::shell::Outcome;

/// Time between two samples of the memory.
const SAMPLE_EVERY: Duration = Duration::from_secs(5);
/// Samples between two printed lines.
const PRINTED_EVERY: usize = 12;
const MIB: f64 = 1_048_576.0;

/// The customers: name, how each sends, and its share in hundredths. The last gets reports by webhook.
const LOADS: [(&str, Over, u64); 3] = [
    ("keys", Over::Http { connections: 32, flags: WITH_KEYS }, 34),
    ("binds", Over::Smpp { binds: 2, window: 50, tls: false }, 33),
    ("webhooks", Over::Http { connections: 32, flags: "" }, 33),
];

pub(super) fn customers() -> Vec<Customer> {
    let webhook = |name| (name == "webhooks").then(|| HEALTHY.to_owned());
    LOADS.map(|(name, ..)| Customer { webhook: webhook(name), ..Customer::new(name) }).into()
}

/// Warms up, loads, and says how fast the memory grows, by the slopes of the straight lines through the samples, and how many messages
/// of the customer with a webhook had no post.
pub(super) fn measure(stage: &mut Stage<'_>) -> Outcome {
    let count = |name| stage.options.count(name);
    let (minutes, rate, warm_up) = (count("minutes"), count("rate"), count("warm-up"));
    let each = |load: &dyn Fn(Over, u64) -> Load| -> Loads {
        customers().into_iter().zip(LOADS.map(|(_, over, share)| load(over, share))).collect()
    };
    let warm_up = each(&|over, share| Load::messages(over, warm_up * share / 100));
    let loads = each(&|over, share| Load::seconds(over, minutes * 60).at(rate * share / 100));
    let accepted =
        |loaded: &Loaded| loaded.customers.last().map_or(0.0, |(_, figures)| figures.value(ACCEPTED));
    let warm = accepted(&stage.bed.load(&warm_up, rest)?);
    stage.results.say("memory after the warm-up", stage.bed.gateway().usage()?.value(RESIDENT), "MiB");
    let (started, mut samples) = (stopwatch(), Vec::new());
    let loaded = stage.bed.load(&loads, |bed: &Bed<'_>| {
        super::pause(SAMPLE_EVERY);
        let (usage, settled) = (bed.gateway().usage()?, bed.settled()? as f64);
        let (seconds, resident) = (started.elapsed().as_secs_f64(), usage.value(RESIDENT));
        samples.push((seconds, settled, resident));
        if samples.len().is_multiple_of(PRINTED_EVERY) {
            let anonymous = usage.value(ANONYMOUS);
            println!(
                "{seconds:>6.0} s {settled:>10} settled {resident:>7.1} MiB resident, {anonymous:.1} MiB of it anonymous"
            );
        }
        Ok(())
    })?;
    let accepted = warm + accepted(&loaded);
    stage.add("", loaded);
    super::pause(LAST_POSTS);
    stage.say_posts(accepted)?;
    let too_few = || failure("too few samples: let it run longer");
    let minutes = samples.iter().map(|(seconds, _, mib)| (seconds / 60.0, *mib));
    stage.results.say("growth", slope(minutes).ok_or_else(too_few)?, "MiB per minute");
    let messages = samples.iter().map(|(_, settled, mib)| (*settled, mib * MIB));
    stage.results.say("growth", slope(messages).ok_or_else(too_few)?, "bytes per message");
    Ok(())
}

/// Returns the slope of the straight line with the least squares of its distances.
fn slope(points: impl Iterator<Item = (f64, f64)>) -> Option<f64> {
    let points: Vec<(f64, f64)> = points.collect();
    let number = points.len() as f64;
    let x_mean = points.iter().map(|(x, _)| x).sum::<f64>() / number;
    let y_mean = points.iter().map(|(_, y)| y).sum::<f64>() / number;
    let above: f64 = points.iter().map(|(x, y)| (x - x_mean) * (y - y_mean)).sum();
    let below: f64 = points.iter().map(|(x, _)| (x - x_mean) * (x - x_mean)).sum();
    (points.len() > 2 && below > 0.0).then(|| above / below)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slope_of_points_around_a_line_is_that_of_the_line() {
        let points = (0..100_u32).map(|x| (f64::from(x), 3.0 * f64::from(x) + f64::from(x % 2)));
        let slope = slope(points).expect("enough points");
        assert!((slope - 3.0).abs() < 0.01, "{slope}");
        assert_eq!(super::slope([(1.0, 1.0); 5].into_iter()), None);
    }
}
