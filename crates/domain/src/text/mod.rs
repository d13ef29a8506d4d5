//! Message text: its limit, its two alphabets ([`gsm7`], [`ucs2`]), how it falls into parts ([`segment`]), and what else
//! a customer may say about it ([`shape`]).

pub mod gsm7;
pub mod iso8859;
pub mod segment;
pub mod shape;
mod smart;
pub mod ucs2;

use std::fmt;
use std::sync::Arc;

pub use segment::{Encoding, Measure, Segments};
pub use shape::{Joined, Shape};

/// The longest text, in Unicode code points: neither parts nor bytes. It makes 11 parts of plain GSM-7, 24 of UCS-2
/// and 49 if it is nothing but emoji.
pub const TEXT_CHARS_MAX: usize = 1600;

/// A text that can be sent: 1 to 1600 characters. Cheap to clone, because the store and the queue both hold it.
///
/// Binary messages are texts too, of [`Encoding::Octets`]: each octet is the character of the same number.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct MessageText(Arc<str>);

/// Why a text cannot be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TextRefusal {
    #[error("the text is empty")]
    Empty,
    #[error("the text has {chars} characters, more than {TEXT_CHARS_MAX}")]
    TooLong { chars: usize },
}

impl MessageText {
    pub fn parse(text: &str) -> Result<MessageText, TextRefusal> {
        if text.is_empty() {
            return Err(TextRefusal::Empty);
        }
        // No text has more characters than bytes, so most need no counting.
        if text.len() > TEXT_CHARS_MAX {
            let chars = text.chars().count();
            if chars > TEXT_CHARS_MAX {
                return Err(TextRefusal::TooLong { chars });
            }
        }
        Ok(MessageText(text.into()))
    }

    /// Binary data, to be sent as [`Encoding::Octets`].
    pub fn of_octets(octets: &[u8]) -> Result<MessageText, TextRefusal> {
        let text: String = octets.iter().copied().map(char::from).collect();
        MessageText::parse(&text)
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Encoding and number of parts: what a price needs to know.
    pub fn measure(&self) -> Measure {
        segment::measure(self)
    }

    /// The same where the customer chose the alphabet.
    pub fn measure_in(&self, encoding: Encoding) -> Measure {
        segment::measure_in(self, encoding)
    }

    /// In GSM-7 if typographic characters were all that kept it out of it, otherwise as it is.
    #[must_use]
    pub fn with_plain_punctuation(&self) -> MessageText {
        smart::in_gsm7(self).unwrap_or_else(|| self.clone())
    }

    /// The parts themselves: what a carrier is sent.
    pub fn segments(&self) -> Segments<'_> {
        Segments::of(self)
    }

    /// The parts in an alphabet that has every character of the text.
    pub fn segments_in(&self, encoding: Encoding) -> Segments<'_> {
        Segments::of_encoding(self, encoding)
    }
}

/// Never the text itself, which has no business in a log.
impl fmt::Debug for MessageText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "MessageText({} bytes)", self.0.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expect: Result<(), TextRefusal>) {
        assert_eq!(MessageText::parse(text).map(|parsed| assert_eq!(parsed.as_str(), text)), expect);
    }

    #[test]
    fn texts_have_1_to_1600_characters_however_many_bytes() {
        check("", Err(TextRefusal::Empty));
        check(" ", Ok(()));
        for letter in ["a", "é", "€", "😀"] {
            check(&letter.repeat(1600), Ok(()));
            check(&letter.repeat(1601), Err(TextRefusal::TooLong { chars: 1601 }));
        }
    }

    #[test]
    fn a_logged_text_does_not_show_itself() {
        assert_eq!(format!("{:?}", MessageText::parse("secret").unwrap()), "MessageText(6 bytes)");
    }
}
