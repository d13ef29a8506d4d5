//! The messages of a run, computed from their index: recipient, text, idempotency key and JSON body. The body is written once
//! as a template; each request copies it and fills in its digits.

use std::time::Duration;

use bytes::Bytes;
use serde::Serialize;
use thiserror::Error;

use crate::load::recipients::{Recipients, RecipientsRefusal, write_digits};
use crate::runtime;
use crate::webhooks::clock_number;

/// Replaces the first recipient: see [`HttpMessages::new`].
pub const CLOCK: &str = "clock";

/// Digits of the counter in texts and keys, so that every body has the same length.
const COUNTER_DIGITS: usize = 10;
/// Placeholders of recipient and counter in the template.
const RECIPIENT_MARK: char = '\u{1}';
const COUNTER_MARK: char = '\u{2}';

/// Whether requests carry an `Idempotency-Key`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeyMode {
    None,
    /// The prefix, a dash and the counter.
    Prefixed(String),
}

/// The messages of a run, which differ in recipient, text and key.
#[derive(Debug, Clone)]
pub struct HttpMessages {
    recipients: Recipients,
    /// Each recipient is the time of its request.
    is_clock: bool,
    text_prefix: String,
    keys: KeyMode,
    body: Vec<u8>,
    /// Where the recipient's digits start in the body.
    recipient_at: usize,
    /// Where the counter's digits start in the body.
    counter_at: usize,
}

/// Why the parameters are invalid.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum MessagesRefusal {
    #[error(transparent)]
    Recipients(#[from] RecipientsRefusal),
    #[error("an idempotency key of {0} bytes is longer than 255 or not printable ASCII")]
    BadKey(usize),
    #[error("a sender or text prefix must not contain control characters")]
    ControlCharacter,
}

#[derive(Serialize)]
struct Body<'a> {
    to: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    from: Option<&'a str>,
    text: String,
}

impl HttpMessages {
    /// `recipients` is the first number (`+` and digits) and the number of recipients; a longer run starts again with the
    /// first. With [`CLOCK`] instead of a number each recipient is the time of its request. Without `from` the connection's
    /// default sender is used.
    pub fn new(
        recipients: (&str, u64),
        from: Option<&str>,
        text_prefix: &str,
        keys: KeyMode,
    ) -> Result<HttpMessages, MessagesRefusal> {
        let (first, count) = recipients;
        let is_clock = first == CLOCK;
        let recipients = if is_clock {
            Recipients::new(&format!("+{}", clock_number(Duration::ZERO)), count)?
        } else {
            Recipients::new(first, count)?
        };
        if let KeyMode::Prefixed(prefix) = &keys {
            let length = prefix.len() + 1 + COUNTER_DIGITS;
            if length > 255 || !prefix.bytes().all(|b| b.is_ascii_graphic()) {
                return Err(MessagesRefusal::BadKey(length));
            }
        }
        if text_prefix
            .chars()
            .chain(from.unwrap_or("").chars())
            .any(|c| c == RECIPIENT_MARK || c == COUNTER_MARK)
        {
            return Err(MessagesRefusal::ControlCharacter);
        }
        let (body, recipient_at, counter_at) = lay_out(from, text_prefix, recipients.digits);
        Ok(HttpMessages {
            recipients,
            is_clock,
            text_prefix: text_prefix.to_owned(),
            keys,
            body,
            recipient_at,
            counter_at,
        })
    }

    /// The recipient with its plus.
    pub fn recipient(&self, index: u64) -> String {
        format!("+{}", self.number(index))
    }

    fn number(&self, index: u64) -> u64 {
        if self.is_clock {
            return clock_number(runtime::unix_time());
        }
        self.recipients.number(index)
    }

    pub fn text(&self, index: u64) -> String {
        format!("{}{index:0COUNTER_DIGITS$}", self.text_prefix)
    }

    pub fn key(&self, index: u64) -> Option<String> {
        match &self.keys {
            KeyMode::None => None,
            KeyMode::Prefixed(prefix) => Some(format!("{prefix}-{index:0COUNTER_DIGITS$}")),
        }
    }

    /// The JSON body of `POST /sms`.
    pub fn body(&self, index: u64) -> Bytes {
        let mut body = self.body.clone();
        write_digits(&mut body[self.recipient_at..][..self.recipients.digits], self.number(index));
        write_digits(&mut body[self.counter_at..][..COUNTER_DIGITS], index);
        Bytes::from(body)
    }
}

/// Writes the template and returns the positions of its placeholders.
fn lay_out(from: Option<&str>, text_prefix: &str, recipient_digits: usize) -> (Vec<u8>, usize, usize) {
    let mark = |mark: char, digits: usize| mark.to_string().repeat(digits);
    let marked = serde_json::to_string(&Body {
        to: format!("+{}", mark(RECIPIENT_MARK, recipient_digits)),
        from,
        text: format!("{text_prefix}{}", mark(COUNTER_MARK, COUNTER_DIGITS)),
    })
    .expect("strings are JSON");
    // JSON writes a control character as \u00xx: six characters that become one digit.
    let body = marked.replace("\\u0001", "\u{1}").replace("\\u0002", "\u{2}");
    let recipient_at = body.find(RECIPIENT_MARK).expect("the body holds its recipient");
    let counter_at = body.find(COUNTER_MARK).expect("the body holds its counter");
    (body.into_bytes(), recipient_at, counter_at)
}

#[cfg(test)]
mod tests {
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
        let sent: u64 =
            body["to"].as_str().and_then(|to| to.strip_prefix('+')?.parse().ok()).expect("a number");
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
}
