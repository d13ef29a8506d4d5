//! Unit tests of `time.rs`.

use super::*;

#[test]
fn time_is_written_in_utc_with_milliseconds() {
    let cases = [
        (0, "1970-01-01T00:00:00.000Z"),
        (951_782_400_000, "2000-02-29T00:00:00.000Z"),
        (1_795_000_000_123, "2026-11-18T11:06:40.123Z"),
        (-1, "1969-12-31T23:59:59.999Z"),
    ];
    for (ms, expect) in cases {
        assert_eq!(Time(ms).iso(), expect);
    }
}

#[test]
fn time_element_names_its_precision_for_the_script() {
    let expect = r#"<time datetime="1970-01-01T00:00:00.000Z" title="1970-01-01T00:00:00.000Z" data-shows="day">1 Jan 1970</time>"#;
    assert_eq!(Time(0).to_day().to_string(), expect);
}
