//! Unit tests of `expiry.rs`.

use super::*;
use rcgen::{CertificateParams, KeyPair, date_time_ymd};

fn certificate_until(year: i32, month: u8, day: u8) -> Vec<u8> {
    let mut params = CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
    params.not_before = date_time_ymd(1999, 1, 1);
    params.not_after = date_time_ymd(year, month, day);
    params.self_signed(&KeyPair::generate().unwrap()).unwrap().der().to_vec()
}

#[test]
fn expiry_is_read_in_both_time_formats() {
    for (year, month, day, expect) in [
        (1999, 12, 31, "1999-12-31T00:00:00Z"),
        (2031, 2, 28, "2031-02-28T00:00:00Z"),
        // From 2050 on certificates write four digits.
        (2052, 2, 29, "2052-02-29T00:00:00Z"),
    ] {
        let found = not_after(&certificate_until(year, month, day)).unwrap();
        assert_eq!(found.to_iso(), expect);
    }
}

#[test]
fn truncated_or_corrupt_certificate_does_not_panic() {
    let whole = certificate_until(2031, 2, 28);
    for end in 0..whole.len() {
        assert_eq!(not_after(&whole[..end]), None, "cut at {end}");
    }
    for at in 0..whole.len() {
        for bit in 0..8 {
            let mut flipped = whole.clone();
            flipped[at] ^= 1 << bit;
            let _ = not_after(&flipped);
        }
    }
    assert_eq!(not_after(b""), None);
    assert_eq!(not_after(&[0x30, 0x84, 0xff, 0xff, 0xff, 0xff]), None);
}
