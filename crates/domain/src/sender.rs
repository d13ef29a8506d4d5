//! Sender IDs: what a handset shows as the origin of a message, a short name or a number.

use std::fmt;
use std::hash::{Hash, Hasher};

pub const NAME_CHARS_MAX: usize = 11;
pub const NUMBER_DIGITS_MIN: usize = 3;
pub const NUMBER_DIGITS_MAX: usize = 15;
/// Numbers up to this length, written without a plus, are short codes: no subscriber number in international format is
/// as short.
pub const SHORT_CODE_DIGITS_MAX: usize = 6;

const OCTETS_MAX: usize = 1 + NUMBER_DIGITS_MAX;

/// A sender ID exactly as the customer wrote it. The longest has sixteen octets, so it is copied and never allocated.
///
/// A number with and without its plus is the same sender, so that approval of one form covers the other.
#[derive(Clone, Copy)]
pub struct Sender {
    octets: [u8; OCTETS_MAX],
    length: u8,
    kind: SenderKind,
}

/// The kind of a sender ID, from which SMPP derives the type of number (TON).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SenderKind {
    Alphanumeric,
    /// A number in international format, with or without its plus.
    International,
    ShortCode,
}

/// The rule that a text breaks as a sender ID.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SenderRefusal {
    #[error("it must be a string")]
    NotText,
    #[error("no sender was letters and the connection has no default sender")]
    NoDefault,
    #[error("it is empty")]
    Empty,
    #[error("a name has at most 11 characters, not {0}")]
    NameTooLong(usize),
    #[error("a name consists of the letters A to Z, digits, space, - _ . and &")]
    Characters,
    #[error("a name needs at least one letter")]
    NoLetter,
    #[error("a number has 3 to 15 digits, not {0}")]
    NumberLength(usize),
}

impl Sender {
    /// Parses a sender ID. A number is an optional `+` and 3 to 15 digits; anything else is a name of 1 to 11 letters A
    /// to Z in either case, digits, spaces and `- _ . &`, with at least one letter.
    pub fn parse(text: &str) -> Result<Sender, SenderRefusal> {
        if text.is_empty() {
            return Err(SenderRefusal::Empty);
        }
        let digits = text.strip_prefix('+').unwrap_or(text);
        if !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()) {
            return Sender::parse_number(text, digits);
        }
        if !text.bytes().all(is_name_octet) {
            return Err(SenderRefusal::Characters);
        }
        if text.len() > NAME_CHARS_MAX {
            return Err(SenderRefusal::NameTooLong(text.len()));
        }
        if !text.bytes().any(|b| b.is_ascii_alphabetic()) {
            return Err(SenderRefusal::NoLetter);
        }
        Ok(Sender::keep(text, SenderKind::Alphanumeric))
    }

    fn parse_number(text: &str, digits: &str) -> Result<Sender, SenderRefusal> {
        if !(NUMBER_DIGITS_MIN..=NUMBER_DIGITS_MAX).contains(&digits.len()) {
            return Err(SenderRefusal::NumberLength(digits.len()));
        }
        let with_plus = digits.len() < text.len();
        let short = digits.len() <= SHORT_CODE_DIGITS_MAX;
        let kind = if short && !with_plus { SenderKind::ShortCode } else { SenderKind::International };
        Ok(Sender::keep(text, kind))
    }

    fn keep(text: &str, kind: SenderKind) -> Sender {
        let mut octets = [0; OCTETS_MAX];
        octets[..text.len()].copy_from_slice(text.as_bytes());
        Sender { octets, length: u8::try_from(text.len()).expect("at most 16 octets"), kind }
    }

    pub const fn kind(&self) -> SenderKind {
        self.kind
    }

    /// Returns the sender as the customer wrote it, with the plus if there was one.
    pub fn as_str(&self) -> &str {
        let octets = &self.octets[..usize::from(self.length)];
        std::str::from_utf8(octets).expect("a sender is ASCII")
    }

    /// Returns the form by which look-alike names are compared: in capitals, digits as the letters they resemble,
    /// without punctuation. A number is returned unchanged.
    #[must_use]
    pub fn appearance(self) -> Sender {
        if self.kind != SenderKind::Alphanumeric {
            return self;
        }
        let mut appearance = Sender { octets: [0; OCTETS_MAX], length: 0, kind: self.kind };
        let letters = self.as_str().bytes().filter(u8::is_ascii_alphanumeric);
        let mut letters = letters.map(|octet| octet.to_ascii_lowercase()).peekable();
        while let Some(octet) = letters.next() {
            let letter = match (octet, letters.peek()) {
                (b'r', Some(b'n')) => b'M',
                (b'v', Some(b'v')) => b'W',
                (octet, _) => look_alike(octet),
            };
            // Skips the second letter of a pair that looks like one.
            if matches!((octet, letter), (b'r', b'M') | (b'v', b'W')) {
                letters.next();
            }
            appearance.octets[usize::from(appearance.length)] = letter;
            appearance.length += 1;
        }
        appearance
    }

    /// Returns the sender without its plus, as an SMPP address holds it.
    pub fn address(&self) -> &str {
        let text = self.as_str();
        text.strip_prefix('+').unwrap_or(text)
    }
}

/// Returns the capital letter that an octet looks like.
fn look_alike(octet: u8) -> u8 {
    match octet {
        b'0' => b'O',
        b'1' | b'l' | b'i' => b'I',
        b'2' => b'Z',
        b'3' => b'E',
        b'4' => b'A',
        b'5' => b'S',
        b'6' => b'G',
        b'7' => b'T',
        b'8' => b'B',
        other => other.to_ascii_uppercase(),
    }
}

// ASCII only: letters beyond it survive some networks and arrive as question marks from others.
fn is_name_octet(octet: u8) -> bool {
    octet.is_ascii_alphanumeric() || matches!(octet, b' ' | b'-' | b'_' | b'.' | b'&')
}

impl PartialEq for Sender {
    fn eq(&self, other: &Sender) -> bool {
        (self.kind, self.address()) == (other.kind, other.address())
    }
}

impl Eq for Sender {}

impl Hash for Sender {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.kind, self.address()).hash(state);
    }
}

impl fmt::Display for Sender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Debug for Sender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Sender({:?})", self.as_str())
    }
}

text_form!(Sender: SenderRefusal, by as_str);

#[cfg(test)]
#[path = "sender_tests.rs"]
mod tests;
