//! Sender ids: what a handset shows as the origin of a message. Either a short name or a number.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

pub const NAME_CHARS_MAX: usize = 11;
pub const NUMBER_DIGITS_MIN: usize = 3;
pub const NUMBER_DIGITS_MAX: usize = 15;
/// Numbers up to this long, written without a plus, are short codes: no country has subscriber numbers in
/// international form that are as short.
pub const SHORT_CODE_DIGITS_MAX: usize = 6;

const OCTETS_MAX: usize = 1 + NUMBER_DIGITS_MAX;

/// A sender id exactly as it was given. Sixteen octets hold the longest one, so it is copied, never allocated.
///
/// A number is the same sender with and without its plus, so that one approved in one form can be used in the other.
#[derive(Clone, Copy)]
pub struct Sender {
    octets: [u8; OCTETS_MAX],
    length: u8,
    kind: SenderKind,
}

/// What an SMPP address needs to know to choose its type of number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SenderKind {
    Alphanumeric,
    /// A number in international form, with or without its plus.
    International,
    ShortCode,
}

/// Which rule a sender id breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SenderRefusal {
    #[error("it must be a string")]
    NotText,
    #[error("no sender was given and the connection has no default sender")]
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
    /// A number is an optional `+` and 3 to 15 digits; anything else is a name of 1 to 11 of the letters A to Z in
    /// either case, digits, space and `- _ . &`, at least one of them a letter.
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

    /// As it was given, with the plus if there was one.
    pub fn as_str(&self) -> &str {
        let octets = &self.octets[..usize::from(self.length)];
        std::str::from_utf8(octets).expect("a sender is ASCII")
    }

    /// What a hasty reader sees: in capitals, digits as the letters they look like, without punctuation. Names with the
    /// same appearance pass for each other. A number is its own appearance.
    #[must_use]
    pub fn appearance(self) -> Sender {
        if self.kind != SenderKind::Alphanumeric {
            return self;
        }
        let mut seen = Sender { octets: [0; OCTETS_MAX], length: 0, kind: self.kind };
        let given = self.as_str().bytes().filter(u8::is_ascii_alphanumeric);
        let mut given = given.map(|octet| octet.to_ascii_lowercase()).peekable();
        while let Some(octet) = given.next() {
            let letter = match (octet, given.peek()) {
                (b'r', Some(b'n')) => b'M',
                (b'v', Some(b'v')) => b'W',
                (octet, _) => appearance_of(octet),
            };
            // The second letter of a pair that reads as one.
            if matches!((octet, letter), (b'r', b'M') | (b'v', b'W')) {
                given.next();
            }
            seen.octets[usize::from(seen.length)] = letter;
            seen.length += 1;
        }
        seen
    }

    /// Without the plus: what goes into an SMPP address.
    pub fn address(&self) -> &str {
        let text = self.as_str();
        text.strip_prefix('+').unwrap_or(text)
    }
}

/// The letter that all octets which look like it are read as.
fn appearance_of(octet: u8) -> u8 {
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

impl FromStr for Sender {
    type Err = SenderRefusal;

    fn from_str(text: &str) -> Result<Sender, SenderRefusal> {
        Sender::parse(text)
    }
}

impl Serialize for Sender {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for Sender {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Sender, D::Error> {
        let text = String::deserialize(deserializer)?;
        Sender::parse(&text).map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[track_caller]
    fn check(text: &str, expect: &str) {
        let told = match Sender::parse(text) {
            Ok(sender) => {
                assert_eq!(sender.as_str(), text);
                format!("{:?} {}", sender.kind(), sender.address())
            }
            Err(refusal) => format!("{refusal:?}"),
        };
        assert_eq!(told, expect, "{text:?}");
    }

    #[test]
    fn names_have_up_to_eleven_characters_and_a_letter() {
        check("Hermod", "Alphanumeric Hermod");
        check("A", "Alphanumeric A");
        check("A&B-c_d.e 1", "Alphanumeric A&B-c_d.e 1");
        check("ABCDEFGHIJKL", "NameTooLong(12)");
        check("1-2", "NoLetter");
        check("   ", "NoLetter");
        check("", "Empty");
    }

    #[test]
    fn numbers_have_three_to_fifteen_digits() {
        check("123", "ShortCode 123");
        check("123456", "ShortCode 123456");
        check("1234567", "International 1234567");
        check("+123", "International 123");
        check("+4915112345678", "International 4915112345678");
        check("123456789012345", "International 123456789012345");
        check("12", "NumberLength(2)");
        check("+1234567890123456", "NumberLength(16)");
    }

    #[test]
    fn other_characters_are_refused_before_the_length_is() {
        for text in ["Müller", "A+B", "+", "+12a", "a\n", "a\0", "Acme!", "Ａcme", "name with a tab\t"] {
            check(text, "Characters");
        }
    }

    #[test]
    fn a_number_is_the_same_sender_with_and_without_its_plus() {
        let same = |one: &str, other: &str| {
            let approved = HashSet::from([Sender::parse(one).unwrap()]);
            approved.contains(&Sender::parse(other).unwrap())
        };
        assert!(same("+4915112345678", "4915112345678"));
        assert!(same("4915112345678", "+4915112345678"));
        assert!(same("Acme", "Acme"));
        assert!(!same("Acme", "ACME"));
        assert!(!same("12345", "+12345"));
        assert!(!same("4915112345678", "4915112345679"));
    }

    #[test]
    fn names_that_pass_for_each_other_have_the_same_appearance() {
        for (name, fakes) in [
            (
                "PayPal",
                &["paypal", "PAYPAL", "PayPaI", "Paypa1", "Pay Pal", "Pay-Pal", "P.A.Y.P.A.L", "P4yPal"][..],
            ),
            ("Bern", &["BERN", "Bem"]),
            ("Amazon", &["AMAZ0N", "arnazon", "Ama2on", "Amazon.", "4mazon"]),
            ("SWISSBANK", &["SvvissBank", "5WISSBANK", "Swiss8ank", "SWlSSBANK"]),
            ("DHL", &["D.H.L", "dhl", "DH1"]),
        ] {
            let appearance = Sender::parse(name).unwrap().appearance();
            for fake in fakes {
                assert_eq!(Sender::parse(fake).unwrap().appearance(), appearance, "{fake}");
            }
        }
        for (one, other) in [("PayPal", "PayPals"), ("Bank", "Bahn"), ("Shop", "Shop24"), ("DHL", "DPD")] {
            let appearance = |name| Sender::parse(name).unwrap().appearance();
            assert_ne!(appearance(one), appearance(other), "{one} {other}");
        }
        for number in ["+4915112345678", "80808"] {
            assert_eq!(Sender::parse(number).unwrap().appearance(), Sender::parse(number).unwrap());
        }
    }
}
