//! Composing a message: the form, and a preview made by the code that splits, prices and checks real messages.

use crate::elements::Notice;
use crate::forms::{Field, Select};
use crate::layout::Shell;
use askama::Template;
use serde::Serialize;

/// `GET /accounts/{account}/compose`, and the same page after `POST` with its preview.
///
/// The form has `connection`, `from`, `to`, `text`, `once`, `confirmed_price` and `csrf`. "Check" posts it to `compose`; "Send" posts it
/// to `compose/send`. The script posts it to `compose/preview` while the person types and expects a [`Preview`] as JSON.
#[derive(Clone, Debug, Template)]
#[template(path = "compose.html")]
pub struct ComposePage {
    pub shell: Shell,
    /// The open connections; `None` if there is only one.
    pub connection: Option<Select>,
    /// The approved senders.
    pub from: Select,
    pub to: Field,
    pub text: Field,
    /// The idempotency key of this form: submitting it twice sends one message.
    pub once: String,
    /// `None` until the form was checked.
    pub preview: Option<Preview>,
    /// Why the message was not sent.
    pub notice: Option<Notice>,
}

/// What would happen to the message. Serialises to what the script expects.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Preview {
    /// The message in one sentence, for screen readers: `2 parts, UCS-2, 0.150 EUR to Germany`.
    pub summary: String,
    pub parts: Vec<PreviewPart>,
    /// Encoding, characters, country, network, price per part, cost.
    pub facts: Vec<PreviewFact>,
    /// Why the text needs UCS-2 and what replacing saves: `3 characters force UCS-2. Without them: 1 part instead of 2.`
    pub forced_words: String,
    pub forced: Vec<ForcedCharacter>,
    /// The errors that sending would return, in the order of checks.
    pub rejections: Vec<SendRejection>,
    /// The price that the person confirms, such as `0.150`; empty if there is none.
    pub price: String,
    /// The words of the button: `Send for 0.150 EUR`.
    pub send_label: String,
    pub can_send: bool,
}

/// One part of the text.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct PreviewPart {
    /// The text in order, split where marking changes.
    pub runs: Vec<TextRun>,
    /// How much of the part it uses, such as `67 of 70 characters`.
    pub used: String,
}

/// A stretch of text.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct TextRun {
    pub text: String,
    /// Whether these characters are not in the GSM 03.38 alphabet.
    pub is_marked: bool,
}

/// A name and a value of the preview.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct PreviewFact {
    pub name: String,
    pub value: String,
}

/// A character that is not in the GSM 03.38 alphabet.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ForcedCharacter {
    pub character: String,
    /// Such as `left double quotation mark`.
    pub name: String,
    pub count: usize,
    /// What to write instead; empty to leave it out; `None` if there is nothing like it.
    pub replacement: Option<String>,
}

/// An error that sending would return.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct SendRejection {
    /// Such as `SENDER_NOT_APPROVED`.
    pub code: String,
    /// What is wrong and what to do.
    pub text: String,
    /// Where to do it.
    pub href: Option<String>,
}

#[cfg(test)]
#[path = "compose_tests.rs"]
mod tests;
