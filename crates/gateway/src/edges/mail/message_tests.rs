//! Unit tests of `message.rs`.

use super::*;

fn mail(subject: &str, text: &str) -> String {
    let mail = Mail { to: "ann@example.com".to_owned(), subject: subject.to_owned(), text: text.to_owned() };
    encode(&mail, "sms@example.org", "id", Timestamp::parse("2026-11-15T09:30:02Z").unwrap())
}

#[test]
fn message_has_its_headers_and_doubled_dots() {
    let message = mail("Hello", "one\n.two\n");
    for line in [
        "From: Hermod <sms@example.org>",
        "To: <ann@example.com>",
        "Subject: Hello",
        "Date: Sun, 15 Nov 2026 09:30:02 +0000",
        "Message-ID: <id@example.org>",
        "Content-Transfer-Encoding: 7bit",
    ] {
        assert!(message.contains(&format!("{line}\r\n")), "{line}: {message}");
    }
    assert!(message.ends_with("\r\n\r\none\r\n..two\r\n"), "{message}");
}

#[test]
fn other_letters_are_encoded_and_add_no_header() {
    let message = mail("Grüße\r\nBcc: eve@example.com", "Grüße");
    let (head, body) = message.split_once("\r\n\r\n").unwrap();
    assert!(!head.contains("\r\nBcc:"), "{head}");
    assert!(head.contains("Subject: =?utf-8?B?"), "{head}");
    assert_eq!(STANDARD.decode(body.trim()).unwrap(), "Grüße".as_bytes());
    assert!(mail("x", &"y".repeat(1_000)).contains("base64"));
    assert!(mail(&"ä".repeat(100), "x").lines().all(|line| line.len() <= 100));
}
