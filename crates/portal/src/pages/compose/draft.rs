//! What a person typed, as a submission as far as it goes.

use crate::forms::Field;
use hermod_domain::phone::Msisdn;
use hermod_domain::refusal::Refusal;
use hermod_domain::sender::Sender;
use hermod_domain::submission::Submission;
use hermod_domain::text::MessageText;

/// A message while it is written.
pub(super) enum MessageDraft {
    Whole(Box<Submission>),
    /// Something is missing or invalid. A field that is empty is not wrong yet.
    Partial {
        text: Option<MessageText>,
        refusals: Vec<Refusal>,
    },
}

impl MessageDraft {
    pub(super) fn of(from: &str, to: &str, text: &str) -> MessageDraft {
        let mut refusals = Vec::new();
        let to = parsed(&plain_number(to), &mut refusals, Msisdn::parse);
        let from = parsed(from.trim(), &mut refusals, Sender::parse);
        let text = parsed(&with_line_feeds(text), &mut refusals, MessageText::parse);
        match (to, text) {
            (Some(to), Some(text)) if refusals.is_empty() => {
                MessageDraft::Whole(Box::new(Submission::plain(to, from, text)))
            }
            (_, text) => MessageDraft::Partial { text, refusals },
        }
    }
}

/// Parses a value that is not empty, and notes why it is invalid.
fn parsed<T, E: Into<Refusal>>(
    value: &str,
    refusals: &mut Vec<Refusal>,
    parse: impl Fn(&str) -> Result<T, E>,
) -> Option<T> {
    if value.is_empty() {
        return None;
    }
    match parse(value) {
        Ok(value) => Some(value),
        Err(refusal) => {
            refusals.push(refusal.into());
            None
        }
    }
}

/// Leaves out what people write between the digits of a number.
fn plain_number(text: &str) -> String {
    text.chars().filter(|sign| !sign.is_whitespace() && !"-()./".contains(*sign)).collect()
}

/// Browsers send a line break as two characters, which would be charged.
fn with_line_feeds(text: &str) -> String {
    text.replace("\r\n", "\n")
}

/// Returns the field of the recipient with what is wrong.
pub(super) fn to_field(to: &str) -> Field {
    let number = plain_number(to);
    match Msisdn::parse(&number) {
        Err(refusal) if !number.is_empty() => {
            Field::invalid(to, Refusal::InvalidNumber(refusal).sentence().replace('`', ""))
        }
        _ => Field::new(to),
    }
}

/// Returns the field of the text with what is wrong.
pub(super) fn text_field(text: &str) -> Field {
    let plain = with_line_feeds(text);
    match MessageText::parse(&plain) {
        Err(refusal) if !plain.is_empty() => Field::invalid(text, Refusal::from(refusal).sentence()),
        _ => Field::new(text),
    }
}

#[cfg(test)]
#[path = "draft_tests.rs"]
mod tests;
