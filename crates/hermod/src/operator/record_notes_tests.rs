//! Unit tests of `record_notes.rs`.

use super::*;

#[test]
fn lag_is_mentioned_when_it_matters() {
    assert_eq!(behind(RecordView { lag_ms: 600, catching_up: 0 }), "");
    let text = behind(RecordView { lag_ms: 61_500, catching_up: 0 });
    assert_eq!(text, "\nThe record is 1 min 1 s behind: this may be incomplete.\n");
    assert!(behind(RecordView { lag_ms: 0, catching_up: 12 }).contains("lacks 12 messages"));
}

#[test]
fn times_are_written_in_the_unit_that_suits_them() {
    for (ms, expect) in [
        (14, "14 ms"),
        (1_204, "1.2 s"),
        (63_000, "1 min 3 s"),
        (7_260_000, "2 h 1 min"),
        (90_000_000, "1 d 1 h"),
    ] {
        assert_eq!(time(ms), expect);
    }
}

#[test]
fn bar_is_relative_to_the_largest_count() {
    assert_eq!([0, 1, 50, 100].map(|count| bar(count, 100, 4)), ["", "█", "██", "████"]);
    assert_eq!(bar(u64::MAX, u64::MAX, 3), "███");
    assert_eq!(bar(0, 0, 3), "");
}
