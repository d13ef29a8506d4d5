//! Unit tests of `totp.rs`.

use super::*;

/// "12345678901234567890", the secret of RFC 6238 appendix B.
const RFC_SECRET: &str = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ";

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_millis(seconds * 1_000)
}

#[test]
fn codes_are_those_of_rfc_6238() {
    assert_eq!(to_base32(b"12345678901234567890"), RFC_SECRET);
    // Appendix B, SHA-1, the last six of its eight digits.
    for (seconds, expect) in [
        (59, "287082"),
        (1_111_111_109, "081804"),
        (1_111_111_111, "050471"),
        (1_234_567_890, "005924"),
        (2_000_000_000, "279037"),
        (20_000_000_000, "353130"),
    ] {
        assert_eq!(code(&Secret::new(RFC_SECRET), at(seconds)).as_deref(), Some(expect));
    }
}

#[test]
fn code_is_accepted_one_step_early_and_late_and_no_longer() {
    let secret = Secret::new(RFC_SECRET);
    let now = code(&secret, at(3_000)).unwrap();
    for (seconds, is_accepted) in
        [(2_939, false), (2_970, true), (3_000, true), (3_059, true), (3_060, false)]
    {
        assert_eq!(matching_step(&secret, &now, at(seconds)).is_some(), is_accepted, "{seconds}");
    }
    assert_eq!(matching_step(&secret, "", at(3_000)), None);
}

#[test]
fn made_secrets_differ_and_can_be_read() {
    let (one, other) = (make_secret().unwrap(), make_secret().unwrap());
    assert_ne!(one, other);
    assert_eq!(from_base32(one.reveal()).unwrap().len(), SECRET_BYTES);
    assert!(uri("ann@example.com", &one).reveal().starts_with("otpauth://totp/Hermod:ann@example.com?"));
}
