//! Message text: its length limit, its encodings ([`gsm7`], [`ucs2`]), segmentation into parts ([`segment`]), and the
//! SMS options of SMPP customers ([`sms_options`]).

pub mod gsm7;
pub mod iso8859;
pub mod segment;
mod smart;
pub mod sms_options;
pub mod ucs2;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use std::fmt;
use std::sync::Arc;

pub use segment::{Encoding, Measure, Segments};
pub use smart::plain;
pub use sms_options::{ConcatPart, SmsOptions};

/// The longest text, in Unicode code points. It makes 11 parts of GSM-7, 24 of UCS-2, and 49 if it is all emoji.
pub const TEXT_CHARS_MAX: usize = 1600;

/// The text of a message: 1 to 1600 characters. Cheap to clone, because the store and the queue both hold it.
///
/// Binary messages are texts of [`Encoding::Octets`]: each octet is the character with the same code point.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct MessageText(Arc<str>);

/// Why a text is not a message text.
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
        // A text never has more characters than bytes, so short ones need no counting.
        if text.len() > TEXT_CHARS_MAX {
            let chars = text.chars().count();
            if chars > TEXT_CHARS_MAX {
                return Err(TextRefusal::TooLong { chars });
            }
        }
        Ok(MessageText(text.into()))
    }

    /// Wraps binary data, to be sent as [`Encoding::Octets`].
    pub fn of_octets(octets: &[u8]) -> Result<MessageText, TextRefusal> {
        let text: String = octets.iter().copied().map(char::from).collect();
        MessageText::parse(&text)
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the encoding and the number of parts, from which the price follows.
    pub fn measure(&self) -> Measure {
        segment::measure(self)
    }

    /// Returns the number of parts in the encoding that the customer chose.
    pub fn measure_in(&self, encoding: Encoding) -> Measure {
        segment::measure_in(self, encoding)
    }

    /// Returns the text with typographic characters replaced if that makes it GSM-7, otherwise unchanged.
    #[must_use]
    pub fn with_plain_punctuation(&self) -> MessageText {
        smart::in_gsm7(self).unwrap_or_else(|| self.clone())
    }

    /// Splits the text into the segments that are sent to a carrier.
    pub fn segments(&self) -> Segments<'_> {
        Segments::of(self)
    }

    /// Splits the text in an encoding that has all its characters.
    pub fn segments_in(&self, encoding: Encoding) -> Segments<'_> {
        Segments::of_encoding(self, encoding)
    }
}

/// Prints the length only: message texts are never logged.
impl fmt::Debug for MessageText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "MessageText({} bytes)", self.0.len())
    }
}

impl Serialize for MessageText {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for MessageText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<MessageText, D::Error> {
        let text = String::deserialize(deserializer)?;
        MessageText::parse(&text).map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests;
