//! Unit tests of `purge.rs`.

use super::*;

#[test]
fn pause_shrinks_while_the_purge_continues() {
    for (steps_took_s, step_took_ms, expect_ms) in [
        (0, 3, 50),
        (4, 3, 50),
        (5, 3, 25),
        (10, 3, 12),
        (60, 0, 2),
        (86_400, 1, 4),
        (60, 10, 40),
        (60, 500, 2_000),
        (60, 86_400_000, 60_000),
    ] {
        let pause = pause(Duration::from_secs(steps_took_s), Duration::from_millis(step_took_ms));
        assert_eq!(pause.as_millis(), expect_ms, "{steps_took_s} s, {step_took_ms} ms");
    }
}

#[test]
fn clock_far_ahead_of_the_newest_message_is_limited() {
    const DAY: u64 = 86_400_000;
    let at = |days: u64| Timestamp::from_millis(i64::try_from(days * DAY).unwrap());
    for (now, newest, days_since_start, expect) in [
        (20_000, None, 0, 20_000),
        (20_000, Some(19_999), 0, 20_000),
        (20_000, Some(19_993), 0, 20_000),
        (20_365, Some(20_000), 0, 20_007),
        (20_465, Some(20_000), 100, 20_107),
        (20_000, Some(20_400), 0, 20_000),
    ] {
        let retention_time = retention_time(at(now), newest.map(at), Moment(days_since_start * DAY));
        assert_eq!(retention_time, at(expect), "{now} after {newest:?}");
    }
}
