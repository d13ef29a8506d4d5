//! Unit tests of `messages.rs`.

use super::*;

fn messages() -> HttpMessages {
    let keys = KeyMode::Prefixed("run7".to_owned());
    HttpMessages::new(("+4915100000998", 3), Some("Hermod"), "say \"é\" ", keys).expect("good messages")
}

#[track_caller]
fn check_body(index: u64, expect: &str) {
    assert_eq!(std::str::from_utf8(&messages().body(index)).expect("UTF-8"), expect);
}

#[test]
fn bodies_differ_only_in_recipient_and_text() {
    check_body(0, r#"{"to":"+4915100000998","from":"Hermod","text":"say \"é\" 0000000000"}"#);
    check_body(2, r#"{"to":"+4915100001000","from":"Hermod","text":"say \"é\" 0000000002"}"#);
    check_body(3, r#"{"to":"+4915100000998","from":"Hermod","text":"say \"é\" 0000000003"}"#);
}

#[test]
fn body_has_recipient_and_text_of_the_message() {
    let messages = messages();
    for index in [0, 1, 4711, 9_999_999_999] {
        let body: serde_json::Value = serde_json::from_slice(&messages.body(index)).expect("JSON");
        assert_eq!(body["to"], messages.recipient(index));
        assert_eq!(body["text"], messages.text(index));
    }
    assert_eq!(messages.key(12).as_deref(), Some("run7-0000000012"));
}

#[test]
fn body_without_sender_and_keys_has_neither() {
    let messages =
        HttpMessages::new(("+4915100000000", 10), None, "x", KeyMode::None).expect("good messages");
    assert_eq!(messages.body(5), r#"{"to":"+4915100000005","text":"x0000000005"}"#);
    assert_eq!(messages.key(5), None);
}

#[test]
fn clock_recipient_is_the_time_of_the_request() {
    let messages = HttpMessages::new((CLOCK, 1_000), None, "x", KeyMode::None).expect("good messages");
    let before = clock_number(runtime::unix_time());
    let body: serde_json::Value = serde_json::from_slice(&messages.body(7)).expect("JSON");
    let sent: u64 = body["to"].as_str().and_then(|to| to.strip_prefix('+')?.parse().ok()).expect("a number");
    assert!(sent >= before && sent <= clock_number(runtime::unix_time()), "{before} {sent}");
}

#[track_caller]
fn check_refusal(recipients: (&str, u64), expect: &str) {
    let refusal =
        HttpMessages::new(recipients, None, "", KeyMode::None).expect_err("the recipients are invalid");
    assert_eq!(refusal.to_string(), expect);
}

#[test]
fn invalid_recipients_are_rejected() {
    let rule = "expected a plus, a first digit 1 to 9 and 7 to 15 digits in all";
    for text in ["4915100000000", "+0915100000000", "+123456", "+1234567890123456", "+49151x", ""] {
        check_refusal((text, 1), &format!("{text:?} is not a recipient: {rule}"));
    }
    check_refusal(("+9999999", 2), "2 recipients from +9999999 would not all have 7 digits");
    check_refusal(("+9999999", 0), "0 recipients from +9999999 would not all have 7 digits");
}
