//! Unit tests of `reader.rs`.

use super::*;

#[test]
fn short_body_and_missing_null_have_different_statuses() {
    let status = CommandStatus::INVSRCADR;
    assert_eq!(FieldReader::new(b"12").text("f", 3, status), Err(ended("f")));
    assert_eq!(FieldReader::new(b"123").text("f", 3, status), Err(FieldError { status, field: "f" }));
    assert_eq!(FieldReader::new(b"12\0").text("f", 3, status), Ok(&b"12"[..]));
    assert_eq!(FieldReader::new(b"\0").text("f", 1, status), Ok(&b""[..]));
    assert_eq!(FieldReader::new(b"").text("f", 1, status), Err(ended("f")));
}

#[test]
fn lenient_reader_cuts_strings_that_are_too_long_or_have_no_null() {
    let status = CommandStatus::INVSRCADR;
    for (octets, value, rest, cut) in [
        (&b"12\0rest"[..], &b"12"[..], &b"rest"[..], None),
        (b"123456\0rest", b"12", b"rest", Some("f")),
        (b"123\x01\x01rest", b"12", b"\x01\x01rest", Some("f")),
    ] {
        let mut reader = FieldReader::lenient(octets);
        assert_eq!(reader.text("f", 3, status), Ok(value));
        assert_eq!((reader.rest(), reader.cut()), (rest, cut));
    }
    assert_eq!(FieldReader::lenient(b"123456").text("f", 3, status), Err(ended("f")));
    assert_eq!(FieldReader::lenient(b"12").text("f", 3, status), Err(ended("f")));
}

#[test]
fn short_message_may_contain_nulls() {
    let mut reader = FieldReader::new(b"\x03\0\0\0rest");
    assert_eq!(reader.short_message("f", 254), Ok(Hidden(b"\0\0\0")));
    assert_eq!(reader.rest(), b"rest");
}
