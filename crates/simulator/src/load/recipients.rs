//! The recipients of a run: consecutive numbers of the same length, which are written into a place of fixed size.

use thiserror::Error;

/// Digits of a number.
pub(crate) const NUMBER_DIGITS_MAX: usize = 15;

/// Consecutive numbers; a longer run starts again with the first.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Recipients {
    first: u64,
    count: u64,
    /// Of each number.
    pub(crate) digits: usize,
}

/// Why recipients are invalid.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum RecipientsRefusal {
    #[error("{0:?} is not a recipient: expected a plus, a first digit 1 to 9 and 7 to 15 digits in all")]
    BadRecipient(String),
    #[error("{count} recipients from +{first} would not all have {digits} digits")]
    BadRange { first: u64, count: u64, digits: usize },
}

impl Recipients {
    /// `count` numbers from `first`, which is a plus and digits.
    pub(crate) fn new(first: &str, count: u64) -> Result<Recipients, RecipientsRefusal> {
        let number = first.strip_prefix('+').filter(|digits| {
            (7..=NUMBER_DIGITS_MAX).contains(&digits.len())
                && digits.bytes().all(|b| b.is_ascii_digit())
                && !digits.starts_with('0')
        });
        let number = number.ok_or_else(|| RecipientsRefusal::BadRecipient(first.to_owned()))?;
        let (first, digits) = (number.parse().expect("15 digits fit in a u64"), number.len());
        let end = 10_u64.pow(u32::try_from(digits).expect("15 at most"));
        if count == 0 || u64::checked_add(first, count).is_none_or(|last| last > end) {
            return Err(RecipientsRefusal::BadRange { first, count, digits });
        }
        Ok(Recipients { first, count, digits })
    }

    /// Returns the recipient of the message with this index, without its plus.
    pub(crate) fn number(&self, index: u64) -> u64 {
        self.first + index % self.count
    }
}

/// Writes the last digits of a number, with leading zeros.
pub(crate) fn write_digits(place: &mut [u8], mut number: u64) {
    for digit in place.iter_mut().rev() {
        *digit = b'0' + u8::try_from(number % 10).expect("one digit");
        number /= 10;
    }
}
