//! Unit tests of `addresses.rs`.

use super::*;

fn address(text: &str) -> Address<'_> {
    let (kind, value) = text.split_once(' ').unwrap();
    let (ton, npi) = kind.split_once('/').unwrap();
    Address::new(ton.parse().unwrap(), npi.parse().unwrap(), value.as_bytes())
}

fn access(strict: bool) -> SmppAccess {
    SmppAccess { strict, ..SmppAccess::new("shop", "") }
}

#[test]
fn sender_kind_follows_from_ton_and_digits() {
    for (given, expect) in [
        ("5/0 Hermod", "Hermod Alphanumeric"),
        ("0/0 Hermod", "Hermod Alphanumeric"),
        ("1/1 4915112345678", "+4915112345678 International"),
        ("1/1 +4915112345678", "+4915112345678 International"),
        ("0/1 004915112345678", "+4915112345678 International"),
        ("0/0 4915112345678", "4915112345678 International"),
        ("3/0 80800", "80800 ShortCode"),
        ("6/0 80800", "80800 ShortCode"),
        ("0/1 80800", "80800 ShortCode"),
        ("1/1 80800", "+80800 International"),
        ("0/0 ", "none"),
        ("5/0 ThisIsTooLong", "0xa"),
        ("5/0 Bad!", "0xa"),
        ("1/1 12", "0xa"),
        ("1/1 +", "0xa"),
        ("9/99 Hermod", "Hermod Alphanumeric"),
    ] {
        let shown = match sender(address(given), &access(false)) {
            Ok(Some(sender)) => format!("{sender} {:?}", sender.kind()),
            Ok(None) => "none".to_owned(),
            Err(status) => format!("{:#x}", status.0),
        };
        assert_eq!(shown, expect, "{given}");
    }
    assert_eq!(sender(Address::new(5, 0, b"\xff"), &access(false)), Err(CommandStatus::INVSRCADR));
}

#[test]
fn callback_num_is_read_if_it_is_a_number() {
    for (value, expect) in [
        (&b"\x01\x01\x014915700000001"[..], Some("+4915700000001")),
        (b"\x01\x00\x00004915700000001", Some("+4915700000001")),
        (b"\x01\x01\x01+4915700000001", Some("+4915700000001")),
        (b"\x01\x03\x0080800\0", Some("80800")),
        (b"\x01\x05\x00Hermod", None),
        (b"\x00\x01\x01\x94\x51", None),
        (b"\x01\x01\x01", None),
        (b"\x01", None),
        (b"\x01\x01\x01\xff", None),
    ] {
        let read = callback(value).map(|number| number.to_string());
        assert_eq!(read.as_deref(), expect, "{}", value.escape_ascii());
    }
}

#[test]
fn recipient_must_be_an_international_number() {
    for (given, expect) in [
        ("1/1 4915112345678", "+4915112345678"),
        ("0/0 +4915112345678", "+4915112345678"),
        ("2/1 004915112345678", "+4915112345678"),
        ("9/9 4915112345678", "+4915112345678"),
        ("1/1 015112345678", "0xb"),
        ("1/1 123456", "0xb"),
        ("1/1 1234567890123456", "0xb"),
        ("5/0 Hermod", "0xb"),
        ("1/1 ", "0xb"),
    ] {
        let shown = match recipient(address(given), &access(false)) {
            Ok(number) => number.to_string(),
            Err(status) => format!("{:#x}", status.0),
        };
        assert_eq!(shown, expect, "{given}");
    }
}

#[test]
fn strict_connection_rejects_undefined_ton_and_npi() {
    let strict = access(true);
    let known = Address::new(1, 1, b"4915112345678");
    let cases = [(7, 1, 0x50), (1, 2, 0x51)];
    assert!(recipient(known, &strict).is_ok());
    for (ton, npi, expect) in cases {
        let odd = Address { ton, npi, ..known };
        assert_eq!(recipient(odd, &strict).map_err(|status| status.0), Err(expect));
        assert_eq!(sender(odd, &strict).map_err(|status| status.0), Err(expect - 8));
    }
}
