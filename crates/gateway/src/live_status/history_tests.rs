//! Unit tests of `history.rs`.

use super::*;

fn accepted(count: u64) -> Traffic {
    Traffic { accepted: count, ..Traffic::default() }
}

#[test]
fn recent_traffic_is_the_difference_to_an_earlier_sample() {
    let mut history = History::default();
    assert_eq!(history.recent(&accepted(7), Moment(5)).minute, accepted(7), "since the start");
    // One a second, for a quarter of an hour.
    for second in 0..900 {
        history.note(accepted(second), Moment(second * 1000));
    }
    let recent = history.recent(&accepted(900), Moment(900_000));
    assert_eq!(recent.minute, accepted(60));
    assert_eq!(recent.five_minutes, accepted(300));
    assert_eq!(recent.ten_minutes, accepted(600));
    assert_eq!(recent.before, accepted(300));
    assert!(history.fine.noted.len() <= 62 && history.coarse.noted.len() <= 62);
}

#[test]
fn after_a_gap_the_last_sample_before_it_counts() {
    let mut history = History::default();
    history.note(accepted(10), Moment(0));
    history.note(accepted(20), Moment(3_600_000));
    assert_eq!(history.recent(&accepted(25), Moment(3_600_500)).minute, accepted(15));
    history.note(accepted(30), Moment(3_660_000));
    assert_eq!(history.recent(&accepted(31), Moment(3_660_000)).minute, accepted(11));
}

#[test]
fn traffic_since_the_last_accepted_part_is_counted_over_any_time() {
    let mut history = History::default();
    let failed = |accepted, timed_out| Traffic { accepted, timed_out, ..Traffic::default() };
    assert_eq!(history.recent(&failed(0, 3), Moment(0)).since_accepted, failed(0, 3), "since the start");
    history.note(failed(1, 3), Moment(1_000));
    for hour in 1..5_u64 {
        history.note(failed(1, 3 + hour), Moment(hour * 3_600_000));
    }
    let now = Moment(5 * 3_600_000);
    assert_eq!(history.recent(&failed(1, 8), now).since_accepted, failed(0, 5));
    assert_eq!(history.recent(&failed(2, 8), now).since_accepted, failed(0, 0), "accepted just now");
}

#[test]
fn forget_minute_restarts_only_the_minute() {
    let mut history = History::default();
    history.note(accepted(10), Moment(0));
    history.forget_minute(accepted(50), Moment(10_000));
    assert_eq!(history.recent(&accepted(51), Moment(11_000)).minute, accepted(1));
    assert_eq!(history.recent(&accepted(51), Moment(11_000)).ten_minutes, accepted(51));
}
