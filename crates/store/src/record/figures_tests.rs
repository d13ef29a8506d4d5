//! Unit tests of `figures.rs`.

use super::*;

#[test]
fn quantiles_are_right_within_a_fifth() {
    let mut times = TimeHistogram::default();
    (1..=1_000).for_each(|ms| times.add(Duration::from_millis(ms)));
    for (share, exact) in [(0.5, 500), (0.95, 950), (1.0, 1_000)] {
        let found = times.quantile(share).unwrap().as_millis();
        assert!((exact..=exact * 6 / 5).contains(&found), "{share}: {found}");
    }
    assert_eq!(TimeHistogram::default().quantile(0.5), None);
}

#[test]
fn longest_time_has_a_class() {
    let mut times = TimeHistogram::default();
    times.add(Duration::MAX);
    times.add(Duration::from_secs(400 * 86_400));
    assert!(times.quantile(0.5).unwrap() >= Duration::from_secs(400 * 86_400));
}

#[test]
fn intervals_begin_at_whole_minutes_hours_and_days() {
    let at = Timestamp::from_millis(1_800_001_234_567);
    for resolution in Resolution::ALL {
        let start = resolution.start_of(at);
        assert!(start <= at && at < start.plus(resolution.length()));
        assert_eq!(resolution.start_of(start), start);
    }
}
