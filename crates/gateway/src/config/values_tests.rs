//! Unit tests of `values.rs`.

use super::*;

#[track_caller]
fn check_period(text: &str, expect: &str) {
    let actual = Period::parse(text)
        .map_or("refused".to_owned(), |period| format!("{} ms, shown {period}", period.0.as_millis()));
    assert_eq!(actual, expect, "{text:?}");
}

#[track_caller]
fn check_bytes(text: &str, expect: &str) {
    let actual =
        Bytes::parse(text).map_or("refused".to_owned(), |bytes| format!("{} B, shown {bytes}", bytes.0));
    assert_eq!(actual, expect, "{text:?}");
}

#[test]
fn durations_are_parsed_and_printed_in_the_largest_exact_unit() {
    check_period("500ms", "500 ms, shown 500ms");
    check_period("15s", "15000 ms, shown 15s");
    check_period("90s", "90000 ms, shown 90s");
    check_period("120s", "120000 ms, shown 2m");
    check_period("72h", "259200000 ms, shown 3d");
    check_period("0s", "0 ms, shown 0ms");
    for text in ["", "s", "15", "1.5s", "-1s", "15 s", "15S", "1h30m", "15sec", "99999999999999999d"] {
        check_period(text, "refused");
    }
}

#[test]
fn sizes_are_parsed_and_printed_in_the_largest_exact_unit() {
    check_bytes("512B", "512 B, shown 512B");
    check_bytes("64KiB", "65536 B, shown 64KiB");
    check_bytes("1024KiB", "1048576 B, shown 1MiB");
    check_bytes("2GiB", "2147483648 B, shown 2GiB");
    for text in ["", "64", "64MB", "64mib", "0.5GiB", "99999999999GiB"] {
        check_bytes(text, "refused");
    }
}

#[test]
fn networks_are_parsed_and_printed_in_canonical_form() {
    for (text, expect) in [
        ("10.0.0.0/8", "10.0.0.0/8"),
        ("10.1.2.3/8", "10.0.0.0/8"),
        ("192.0.2.7", "192.0.2.7"),
        ("192.0.2.7/32", "192.0.2.7"),
        ("2001:DB8::/32", "2001:db8::/32"),
        ("::1", "::1"),
        ("::ffff:10.0.0.0/104", "10.0.0.0/8"),
        ("::ffff:192.0.2.7", "192.0.2.7"),
        ("0.0.0.0/0", "0.0.0.0/0"),
        ("::/0", "::/0"),
    ] {
        assert_eq!(IpNetwork::parse(text).unwrap().to_string(), expect, "{text}");
    }
    for text in ["", "10.0.0.0/33", "10.0.0/8", "10.0.0.0/", "example.com", "::1/129", "1", " 10.0.0.1"] {
        assert_eq!(IpNetwork::parse(text), None, "{text}");
    }
}
