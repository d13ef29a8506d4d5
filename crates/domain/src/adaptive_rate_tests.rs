//! Unit tests of `adaptive_rate.rs`.

use super::*;

const PAUSE: Duration = Duration::from_secs(1);

fn at(ms: i64) -> Timestamp {
    Timestamp::from_millis(ms)
}

/// Accepts `per_second` parts per second within a time range.
fn accept(rate: &mut AdaptiveRate, per_second: i64, ms: std::ops::Range<i64>) {
    let count = (ms.end - ms.start) * per_second / 1000;
    (0..count).for_each(|part| rate.accepted(at(ms.start + part * 1000 / per_second)));
}

#[test]
fn throttled_rate_restarts_from_the_accepted_rate() {
    for (full, accepted, expect) in
        [(1_000_000, 700, 665), (1_000_000, 50, 48), (1_000_000, 5_000, 4_750), (100, 700, 95)]
    {
        let mut rate = AdaptiveRate::new(full, at(0));
        assert_eq!(rate.get(), full);
        accept(&mut rate, accepted, 0..10_000);
        rate.throttled(PAUSE, at(10_000));
        let near = expect - 1..=expect + 1;
        assert!(near.contains(&rate.get()), "{full} configured, {accepted} accepted: {}", rate.get());
    }
}

#[test]
fn rate_climbs_back_over_thirty_pauses_and_then_probes_by_two_per_cent() {
    for (pause_s, climb_s) in [(1, 30), (5, 150)] {
        let mut rate = AdaptiveRate::new(10_000, at(0));
        accept(&mut rate, 1_000, 0..10_000);
        rate.throttled(Duration::from_secs(pause_s), at(10_000));
        rate.step(at(1_000_000));
        assert_eq!(rate.get(), 950, "nothing grows during the pause");
        rate.opened(at(0));
        for (second, expect) in [(climb_s / 2, 975), (climb_s, 1_000), (climb_s + 2, 1_020)] {
            rate.step(at(second * 1_000));
            let near = expect - 1..=expect + 1;
            assert!(near.contains(&rate.get()), "after {second} s: {}, not {expect}", rate.get());
        }
        rate.step(at((climb_s + 200) * 1_000));
        assert_eq!((rate.get(), rate.reduced()), (10_000, None), "free again");
    }
}

#[test]
fn burst_after_a_pause_is_not_learned_as_the_rate() {
    let mut rate = AdaptiveRate::new(1_000_000, at(0));
    accept(&mut rate, 3_000, 0..5_000);
    rate.throttled(PAUSE, at(5_000));
    rate.opened(at(6_000));
    // A burst of 700 parts in a quarter second after the pause: 560 per second including the pause.
    accept(&mut rate, 2_800, 6_000..6_250);
    rate.throttled(PAUSE, at(6_250));
    assert_eq!(rate.get(), 532);
    rate.opened(at(7_250));
    rate.step(at(8_250));
    assert_eq!(rate.get(), 560, "an estimate that is too low is left at once");
}

#[test]
fn idle_link_is_not_treated_as_slow() {
    let mut rate = AdaptiveRate::new(1_000, at(0));
    accept(&mut rate, 1_000, 60_000..60_100);
    rate.throttled(PAUSE, at(60_100));
    assert_eq!(rate.get(), 380, "100 in a quarter of a second");
}

#[test]
fn carrier_that_accepts_nothing_is_tried_at_one_per_second() {
    let mut rate = AdaptiveRate::new(1_000, at(0));
    rate.throttled(PAUSE, at(5));
    assert_eq!(rate.get(), 1);
}

#[test]
fn rate_is_restored_after_throttling_of_a_single_recipient() {
    let mut rate = AdaptiveRate::new(1_000, at(0));
    let before = rate.reduced();
    accept(&mut rate, 10, 0..5_000);
    rate.throttled(PAUSE, at(5_000));
    assert!(rate.get() < 20);
    rate.restore(before, at(6_000));
    assert_eq!(rate.get(), 1_000);
}
