//! Unit tests of `time.rs`.

use super::*;

#[test]
fn months_are_calendar_months() {
    let at = |text| Timestamp::parse(text).unwrap();
    for (from, months, expect) in [
        ("2026-11-15T10:20:30Z", 0, "2026-11-15T10:20:30Z"),
        ("2026-11-15T10:20:30Z", 3, "2027-02-15T10:20:30Z"),
        ("2027-01-31T00:00:00Z", 1, "2027-02-28T00:00:00Z"),
        ("2027-12-31T23:59:59Z", 2, "2028-02-29T23:59:59Z"),
        ("2026-11-15T10:20:30Z", 1_200, "2126-11-15T10:20:30Z"),
    ] {
        assert_eq!(at(from).plus_months(months), Some(at(expect)), "{from} {months}");
    }
    assert_eq!(at("2026-11-15T10:20:30Z").plus_months(u32::MAX), None);
}

#[track_caller]
fn check(unix_ms: i64, expect: &str) {
    let at = Timestamp::from_millis(unix_ms);
    assert_eq!(format!("{} {} {}", at.to_iso(), at.to_receipt_minute(), at.day()), expect);
}

#[test]
fn epoch_is_written() {
    check(0, "1970-01-01T00:00:00Z 7001010000 1970-01-01");
}

#[test]
fn leap_day_is_written() {
    check(1_709_164_800_000, "2024-02-29T00:00:00Z 2402290000 2024-02-29");
}

#[test]
fn fractions_of_a_second_are_cut_off_even_before_1970() {
    check(1_735_689_599_999, "2024-12-31T23:59:59Z 2412312359 2024-12-31");
    check(-1, "1969-12-31T23:59:59Z 6912312359 1969-12-31");
}

#[test]
fn utc_time_is_converted_or_does_not_exist() {
    let at = Timestamp::from_utc((2024, 2, 29), (23, 59, 59)).unwrap();
    assert_eq!(at.to_iso(), "2024-02-29T23:59:59Z");
    for (date, time) in [((2023, 2, 29), (0, 0, 0)), ((2024, 13, 1), (0, 0, 0)), ((2024, 1, 1), (24, 0, 0))] {
        assert_eq!(Timestamp::from_utc(date, time), None, "{date:?} {time:?}");
    }
}

#[test]
fn times_outside_the_calendar_are_written_as_its_ends() {
    check(i64::MAX, "9998-12-31T23:59:59Z 9812312359 9998-12-31");
    check(i64::MIN, "0001-01-01T00:00:00Z 0101010000 0001-01-01");
}

#[test]
fn arithmetic_saturates_and_ages_are_never_negative() {
    let noon = Timestamp::from_millis(43_200_000);
    let second = Duration::from_secs(1);
    assert_eq!(noon.plus(second).as_millis(), 43_201_000);
    assert_eq!(noon.minus(second).as_millis(), 43_199_000);
    assert_eq!(noon.plus(second).since(noon), second);
    assert_eq!(noon.since(noon.plus(second)), Duration::ZERO);
    assert_eq!(Timestamp::from_millis(i64::MAX).plus(second).as_millis(), i64::MAX);
    assert_eq!(Timestamp::from_millis(i64::MIN).minus(Duration::MAX).as_millis(), i64::MIN);
    let all_time = Timestamp::from_millis(i64::MAX).since(Timestamp::from_millis(i64::MIN));
    assert_eq!(all_time.as_millis(), i64::MAX.unsigned_abs().into());
}

#[test]
fn days_and_times_are_parsed() {
    let read = |text| Timestamp::parse(text).map(Timestamp::to_iso).unwrap_or_default();
    assert_eq!(read("2026-01-31"), "2026-01-31T00:00:00Z");
    assert_eq!(read("2026-01-31T12:00:00Z"), "2026-01-31T12:00:00Z");
    assert_eq!(read("2026-01-31 12:00:00Z"), "2026-01-31T12:00:00Z");
    assert_eq!(read("2026-01-31T12:00:00.5+02:00"), "2026-01-31T10:00:00Z");
    for text in [
        "",
        "2026",
        "2026-1-31",
        "2026-02-30",
        "20260131",
        "2026-01-31T12:00:00",
        "12:00:00",
        "0000-01-01",
        "-009999-01-01T00:00:00Z",
        "tomorrow",
        "2026-01-31x",
    ] {
        assert_eq!(read(text), "", "{text:?}");
    }
    assert_eq!(Day::parse("2024-02-29").map(|day| day.to_string()).as_deref(), Some("2024-02-29"));
    assert_eq!(Day::parse("2026-01-31T12:00:00Z"), None);
}

#[test]
fn day_starts_at_midnight() {
    let day = Timestamp::from_millis(1_709_200_000_123).day();
    assert_eq!(day.start().to_iso(), "2024-02-29T00:00:00Z");
    assert_eq!(day.next().start().to_iso(), "2024-03-01T00:00:00Z");
    assert_eq!(Timestamp::from_millis(-1).day(), Day::new(-1));
}
