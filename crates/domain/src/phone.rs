//! Phone numbers in E.164 format. Only the syntax is checked here; routes and prices decide which numbers can be
//! reached.

use std::fmt;

pub const DIGITS_MIN: usize = 7;
pub const DIGITS_MAX: usize = 15;

/// A recipient's number: 7 to 15 digits, the first not zero, so an integer holds it without loss.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Msisdn(u64);

/// The rule that a text breaks as a phone number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PhoneRefusal {
    #[error("it must be a string")]
    NotText,
    #[error("it must begin with +")]
    MissingPlus,
    #[error("only digits may follow the +")]
    NotDigits,
    #[error("the first digit after the + must be 1 to 9")]
    LeadingZero,
    #[error("it must have 7 to 15 digits, not {0}")]
    Length(usize),
}

/// Characters of a masked number that are shown before and after the stars.
const MASKED_HEAD: usize = 4;
const MASKED_TAIL: usize = 2;

/// Returns a phone number or short code without its middle: `+491********78`. For those who may not see whole numbers, and for
/// the audit log, which must not have a number that may be erased.
pub fn masked(number: &str) -> String {
    let length = number.chars().count();
    let hidden = MASKED_HEAD..length.saturating_sub(MASKED_TAIL);
    let shown = number.chars().enumerate();
    shown.map(|(index, sign)| if hidden.contains(&index) { '*' } else { sign }).collect()
}

/// Digits without `+` or 0 before them that are taken for a phone number. A message id has more.
const HIDDEN_DIGITS_MAX: usize = 16;

/// Returns a text with every phone number in it [`masked`], in digits of any script. A number that begins with `+` or 0 may have
/// spaces and signs between its digits.
pub fn hide_numbers(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find(|sign: char| sign == '+' || sign.is_numeric()) {
        let (before, found) = rest.split_at(start);
        let length = number_length(found);
        let (number, behind) = found.split_at(length);
        let digits = number.chars().filter(|sign| sign.is_numeric()).count();
        shown.push_str(before);
        // More digits than a number has can be several numbers.
        let is_number = found.starts_with(['+', '0']) || digits <= HIDDEN_DIGITS_MAX;
        if digits >= DIGITS_MIN && is_number {
            shown.push_str(&masked(number));
        } else {
            shown.push_str(number);
        }
        rest = behind;
    }
    shown.push_str(rest);
    shown
}

/// Returns how many octets at the beginning of a text can be one number: digits, and what stands between them.
fn number_length(text: &str) -> usize {
    // An amount or an address may begin with 0 and a dot.
    let may_have_signs = text.starts_with(['+', '0']) && !text.starts_with("0.");
    let mut length = 0;
    for (place, sign) in text.char_indices() {
        if sign.is_numeric() || place == 0 {
            length = place + sign.len_utf8();
        } else if !may_have_signs || sign.is_alphabetic() || ",;:'\"".contains(sign) {
            break;
        }
    }
    length
}

impl Msisdn {
    /// Parses `+` and 7 to 15 digits.
    pub fn parse(text: &str) -> Result<Msisdn, PhoneRefusal> {
        Msisdn::parse_digits(text.strip_prefix('+').ok_or(PhoneRefusal::MissingPlus)?)
    }

    /// Parses the digits without the plus, as SMPP addresses have them.
    pub fn parse_digits(digits: &str) -> Result<Msisdn, PhoneRefusal> {
        if !digits.bytes().all(|b| b.is_ascii_digit()) {
            return Err(PhoneRefusal::NotDigits);
        }
        if digits.starts_with('0') {
            return Err(PhoneRefusal::LeadingZero);
        }
        if !(DIGITS_MIN..=DIGITS_MAX).contains(&digits.len()) {
            return Err(PhoneRefusal::Length(digits.len()));
        }
        Ok(Msisdn(digits.parse().expect("at most 15 digits fit a u64")))
    }

    /// Converts the integer that the store keeps.
    pub fn from_number(number: u64) -> Option<Msisdn> {
        (1_000_000..=999_999_999_999_999).contains(&number).then_some(Msisdn(number))
    }

    pub const fn number(self) -> u64 {
        self.0
    }

    /// Returns the digits without the plus.
    pub fn digits(self) -> String {
        self.0.to_string()
    }
}

/// Writes the number with its plus.
impl fmt::Display for Msisdn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "+{}", self.0)
    }
}

/// Shortens the number: logs never hold whole phone numbers.
impl fmt::Debug for Msisdn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = self.digits();
        let (head, tail) = if digits.len() > 10 { (5, 3) } else { (3, 2) };
        write!(f, "+{}…{}", &digits[..head], &digits[digits.len() - tail..])
    }
}

text_form!(Msisdn: PhoneRefusal, or u64: Msisdn::number, Msisdn::from_number);

/// Serializes as text; as the integer in binary formats.
#[cfg(test)]
#[path = "phone_tests.rs"]
mod tests;
