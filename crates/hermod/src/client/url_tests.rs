//! Unit tests of `url.rs`.

use super::*;

#[track_caller]
fn check(text: &str, expect: &str) {
    let parsed = Url::parse(text, "/api/v1");
    assert_eq!(parsed.map_or_else(|error| error, |url| format!("{url} as {}", url.host())), expect);
}

#[test]
fn valid_urls_are_normalised() {
    check("https://sms.example.com", "https://sms.example.com/api/v1 as sms.example.com");
    check("https://SMS.example.com:443/", "https://sms.example.com/api/v1 as sms.example.com");
    check("http://127.0.0.1:8080/api/v1/", "http://127.0.0.1:8080/api/v1 as 127.0.0.1");
    check("http://[::1]:8080", "http://[::1]:8080/api/v1 as ::1");
    check("http://[::1]/below/api", "http://[::1]/below/api as ::1");
}

#[test]
fn invalid_urls_are_rejected_with_the_reason() {
    for (text, expect) in [
        ("", "it must begin with https:// or http://"),
        ("sms.example.com", "it must begin with https:// or http://"),
        ("ftp://sms.example.com", "it must begin with https:// or http://"),
        ("https://", "its host, port or path is not valid"),
        ("https://a b", "its host, port or path is not valid"),
        ("https://[::1", "its host, port or path is not valid"),
        ("https://[::1]x", "its port must be"),
        ("https://exämple.com", "its host, port or path is not valid"),
        ("https://a.com:", "its port must be"),
        ("https://a.com:0", "its port must be"),
        ("https://a.com:+80", "its port must be"),
        ("https://a.com:65536", "its port must be"),
        ("https://a.com/x?y=1", "it must not have a query"),
        ("https://a.com/#x", "it must not have a query"),
        ("https://a.com/\r\nX: y", "its host, port or path is not valid"),
        ("https://key:secret@a.com", "must not contain a user name"),
    ] {
        let error = Url::parse(text, "/api/v1").expect_err(text);
        assert!(error.contains(expect), "{text}: {error}");
    }
}

#[test]
fn only_the_loopback_is_private_without_encryption() {
    for (text, expect) in [
        ("https://a.com", true),
        ("http://a.com", false),
        ("http://localhost:80", true),
        ("http://127.9.9.9", true),
        ("http://[::1]", true),
        ("http://10.0.0.1", false),
        ("http://127.1", false),
        ("http://localhost.example.com", false),
    ] {
        assert_eq!(Url::parse(text, "").unwrap().is_private(), expect, "{text}");
    }
}

#[test]
fn names_in_a_path_are_escaped() {
    assert_eq!(escape("*/My Shop&Co"), "%2A%2FMy%20Shop%26Co");
    assert_eq!(escape("+49ä"), "%2B49%C3%A4");
}
