//! Prints what the number data costs: milliseconds to read it, nanoseconds to look a number up, memory held.
//! `cargo bench -p hermod-domain --bench numbers_speed`

use std::hint::black_box;
use std::time::Duration;

use hermod_domain::numbers::Numbers;
use hermod_domain::phone::Msisdn;

const NUMBERS: u64 = 100_000;
const BATCHES: u32 = 20;

#[expect(clippy::disallowed_methods, reason = "a stopwatch for people, not part of the product")]
fn timed(what: impl FnOnce()) -> Duration {
    let start = std::time::Instant::now();
    what();
    start.elapsed()
}

/// Numbers all over the world, never two neighbours in a row: the worst for a cache.
fn numbers() -> Vec<Msisdn> {
    let spread = |step: u64| 10_000_000_000 + step.wrapping_mul(0x9E37_79B9_7F4A_7C15) % 980_000_000_000;
    (0..NUMBERS).filter_map(|step| Msisdn::from_number(spread(step))).collect()
}

fn resident_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap_or_default();
    line.split_whitespace().nth(1).and_then(|kib| kib.parse().ok()).unwrap_or_default()
}

fn main() {
    let numbers = numbers();
    let before = resident_kib();
    let reading = timed(|| {
        black_box(Numbers::embedded());
    });
    println!("read once                 {:>8} us", reading.as_micros());
    println!("resident memory           {:>8} KiB more", resident_kib().saturating_sub(before));

    let data = Numbers::embedded();
    let known = numbers.iter().filter(|number| data.find(**number).country.is_some()).count();
    let batch = || {
        for number in &numbers {
            black_box(data.find(black_box(*number)));
        }
    };
    let fastest = (0..BATCHES).map(|_| timed(batch)).min().unwrap_or_default();
    println!(
        "look up                   {:>8} ns ({known} of {NUMBERS} have a country)",
        fastest.as_nanos() / u128::from(NUMBERS)
    );
}
