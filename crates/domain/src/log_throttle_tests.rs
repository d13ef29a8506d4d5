//! Unit tests of `log_throttle.rs`.

use super::*;

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_millis(1_790_000_000_000 + seconds * 1000)
}

#[test]
fn first_line_is_written_and_further_ones_are_counted_per_interval() {
    let mut throttle = LogThrottle::new(Duration::from_secs(60), 10);
    let written = (0..3_000).filter(|_| throttle.should_log("a", at(0))).count();
    assert_eq!(written, 1);
    assert_eq!(throttle.due(at(59)), []);
    assert_eq!(throttle.due(at(60)), [SuppressedLines { kind: Some("a"), times: 2_999 }]);
    assert!(!throttle.should_log("a", at(61)), "repeated, so it is still counted");
    assert_eq!(throttle.due(at(120)), [SuppressedLines { kind: Some("a"), times: 1 }]);
    assert_eq!(throttle.due(at(180)), [], "it has stopped");
    assert!(throttle.should_log("a", at(181)), "and is news again");
}

#[test]
fn kinds_beyond_the_limit_are_counted_together() {
    let mut throttle = LogThrottle::new(Duration::from_secs(60), 10);
    let written = (0..1_000).filter(|kind| throttle.should_log(*kind, at(0))).count();
    assert_eq!((written, throttle.kinds.len()), (10, 10));
    assert_eq!(throttle.due(at(1)), [SuppressedLines { kind: None, times: 990 }]);
    assert_eq!(throttle.due(at(60)), []);
    assert!(throttle.should_log(11, at(60)), "there is room again");
}
