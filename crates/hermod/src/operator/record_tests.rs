//! Unit tests of `record.rs`.

use super::*;

#[test]
fn status_says_what_the_record_lacks() {
    let status =
        |enabled, lag_ms, catching_up| status_text(RecordStatusView { enabled, lag_ms, catching_up });
    assert_eq!(status(true, 0, 0), "The record is complete.");
    assert_eq!(status(true, 300, 0), "The record is 300 ms behind.");
    assert_eq!(status(true, 300, 7), "The record is catching up: 7 messages are left to read.");
    assert!(status(false, 0, 0).contains("[record]"));
}
