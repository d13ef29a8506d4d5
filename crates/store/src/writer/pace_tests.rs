//! Unit tests of `pace.rs`.

use super::*;

/// Runs batches of a drain that take `per_claim` for each claim. Returns how many the last one claimed.
fn drain(pace: &mut ClaimPace, batches: u32, per_claim: Duration, submitting: bool) -> u64 {
    for _ in 0..batches {
        let claimed = pace.allowed();
        pace.learn(true, per_claim * u32::try_from(claimed).expect("a limit"), submitting);
    }
    pace.allowed()
}

#[test]
fn batches_of_a_drain_stay_short_while_customers_submit_and_grow_when_nobody_does() {
    let mut pace = ClaimPace::default();
    let beside = drain(&mut pace, 100, Duration::from_micros(50), true);
    assert!((70..=115).contains(&beside), "{beside} claims at 50 us in 5 ms");
    let alone = drain(&mut pace, 100, Duration::from_micros(50), false);
    assert!((280..=450).contains(&alone), "{alone} claims at 50 us in 20 ms");
}

#[test]
fn claims_per_batch_are_bounded_in_both_directions() {
    let mut pace = ClaimPace::default();
    assert_eq!(drain(&mut pace, 100, Duration::from_millis(1), true), CLAIMS_MIN);
    assert_eq!(drain(&mut pace, 100, Duration::ZERO, true), CLAIMS_MAX);
}

#[test]
fn batches_below_the_limit_teach_nothing() {
    let mut pace = ClaimPace::default();
    let before = pace.allowed();
    (0..100).for_each(|_| pace.learn(false, Duration::ZERO, true));
    assert_eq!(pace.allowed(), before);
}
