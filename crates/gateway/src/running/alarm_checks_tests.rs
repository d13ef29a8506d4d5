//! Unit tests of `alarm_checks.rs`.

use super::*;

const MIB: u64 = 1 << 20;

#[test]
fn disk_alarm_is_raised_before_messages_are_rejected_and_has_hysteresis() {
    let actual = |free: u64, raised: bool| {
        let accepting = free >= 256;
        let disk = DiskSpace { free_bytes: free * MIB, low_water_bytes: 256 * MIB, accepting };
        disk_low(disk, raised)
    };
    assert_eq!(actual(512, false), None);
    let low = "511 MiB are free; below 256 MiB new messages are rejected with 503";
    assert_eq!(actual(511, false).as_deref(), Some(low));
    assert!(actual(560, true).is_some(), "not yet far enough above the mark");
    assert_eq!(actual(564, true), None);
    let refused = "new messages are rejected with 503: 255 MiB are free, 256 MiB are needed";
    assert_eq!(actual(255, true).as_deref(), Some(refused));
}

#[test]
fn clock_is_behind_if_stored_messages_are_newer() {
    let at = |seconds: i64| Timestamp::from_millis(seconds * 1_000);
    assert_eq!(clock_behind(at(1_000), at(1_000)), None);
    assert_eq!(clock_behind(at(1_059), at(1_000)), None);
    assert!(clock_behind(at(4_600), at(1_000)).is_some_and(|actual| actual.contains("3600 s in the future")));
}

#[test]
fn record_alarm_is_raised_when_it_is_a_minute_behind() {
    let status = |seconds, catching_up, is_off| {
        record_behind(RecordStatus { lag: Duration::from_secs(seconds), catching_up, is_off, trouble: None })
    };
    assert_eq!(status(59, 0, false), None);
    assert_eq!(status(600, 0, true), None);
    assert!(status(60, 0, false).unwrap().starts_with("the record is 60 s behind: "));
    assert!(status(90, 7, false).unwrap().contains("has to read 7 messages"));
    let with = |trouble| record_behind(RecordStatus { trouble: Some(trouble), ..RecordStatus::default() });
    assert!(with(RecordTrouble::Unusable).unwrap().contains("cannot be opened"));
    assert!(with(RecordTrouble::Rebuilding).unwrap().contains("was moved aside"));
    assert!(with(RecordTrouble::Checking).unwrap().contains("is being checked"));
}
