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
#[path = "messages_tests.rs"]
mod tests;
