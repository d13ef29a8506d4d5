//! Unit tests of `store_address.rs`.

use super::*;

#[test]
fn password_is_not_printed() {
    for (url, expect) in [
        ("embedded", "embedded"),
        ("postgres://hermod@db/sms", "postgres://hermod@db/sms"),
        ("postgres://hermod:s3cret@db:5432/sms", "postgres://hermod:...@db:5432/sms"),
        ("postgresql://hermod:s3@cret@db/sms", "postgresql://hermod:...@db/sms"),
        (
            "postgres://hermod@db/sms?password=s3cret&sslmode=require",
            "postgres://hermod@db/sms?password=...&sslmode=require",
        ),
        ("postgres://hermod:s3cret@db/sms?password=s3@cret", "postgres://hermod:...@db/sms?password=..."),
        ("postgres://db/sms?user=hermod&password=s3@cret", "postgres://..."),
        ("postgres://db/sms?user=hermod&pass%77ord=s3cret", "postgres://db/sms?user=hermod&..."),
        ("postgres://db/sms?options=-c%20x=s3cret", "postgres://db/sms?options=..."),
        ("postgres://hermod:s3?cret@db/sms", "postgres://..."),
    ] {
        let address = StoreAddress::parse(url).expect("an address");
        assert_eq!((address.to_string(), format!("{address:?}")), (expect.to_owned(), expect.to_owned()));
    }
}

#[test]
fn other_addresses_are_rejected() {
    for text in ["", "sqlite", "mysql://db/sms", "postgres", "/var/lib/hermod"] {
        assert_eq!(StoreAddress::parse(text), None, "{text}");
    }
    assert!(StoreAddress::Postgres("postgres://db:port/sms".to_owned()).server().is_err());
    let (url, file) = split_off("postgres://db/sms?sslrootcert=/etc/ca.pem&sslmode=require", ROOT_CERT);
    assert_eq!((url.as_str(), file.as_deref()), ("postgres://db/sms?sslmode=require", Some("/etc/ca.pem")));
}
