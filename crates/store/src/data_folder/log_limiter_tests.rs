//! Unit tests of `log_limiter.rs`.

use super::*;

#[test]
fn condition_that_changes_twice_a_second_is_logged_four_times_in_ten_minutes() {
    let limiter = LogLimiter::good();
    let start = Timestamp::from_millis(1_794_659_400_000);
    let mut logged = Vec::new();
    for half_seconds in 0..2 * 1_200 {
        let now = start.plus(Duration::from_millis(500 * half_seconds));
        if limiter.should_log(half_seconds % 2 == 1, now) {
            logged.push(half_seconds / 2);
        }
    }
    assert_eq!(logged, [0, 0, 1, 1, 600, 600, 601, 601]);
}

#[test]
fn last_condition_of_a_window_is_logged_when_the_next_window_begins() {
    let limiter = LogLimiter::good();
    let start = Timestamp::from_millis(1_794_659_400_000);
    for good in [false, true, false, true, false] {
        limiter.should_log(good, start);
    }
    assert!(!limiter.should_log(false, start.plus(WINDOW / 2)), "the window has no line left");
    assert!(limiter.should_log(false, start.plus(WINDOW)), "it is still bad");
    assert!(!limiter.should_log(false, start.plus(WINDOW)));
}
