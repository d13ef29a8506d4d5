//! Dialects of receipt texts. Most carriers put a label before each value; some only put the values in an order of
//! their own, and then their profile has to say which.

use std::{fmt, str::FromStr};
use thiserror::Error;

use crate::receipt_text::{self, ReceiptField, ReceiptText, trim};

/// Places a shape may name.
pub const PLACES_MAX: usize = 16;

/// What may stand between two values.
const SEPARATORS: &[u8] = b",;|/\t ";
/// A place whose value means nothing to us.
const PASSED_BY: &str = "-";
const STANDARD: &str = "standard";
const COMMAS: &str = "commas";

/// How a carrier writes its receipt texts. Read from a profile as `standard`, as `commas`, or as the shape itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum ReceiptDialect {
    /// `id:… stat:… err:…`: labels, in any order and case.
    #[default]
    Standard,
    /// Values alone, in a fixed order.
    Positional(ReceiptShape),
}

/// Which value stands at which place, and what separates them. Written like the receipt itself, with names in the
/// place of values: `id,stat,err,submit_date,done_date`, where `-` is a value to pass by.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct ReceiptShape {
    separator: u8,
    places: [Option<ReceiptField>; PLACES_MAX],
    count: usize,
}

/// Why a shape cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ReceiptDialectError {
    /// One place alone, or a separator we do not take.
    #[error("the places of a receipt are separated by one of , ; | / a tab or a space")]
    Separator,
    /// No such value.
    #[error("{0:?} is no value of a receipt: id, sub, dlvrd, submit_date, done_date, stat, err, text or -")]
    Unknown(String),
    /// The same value at two places.
    #[error("{} stands at two places", .0.name())]
    Twice(ReceiptField),
    /// More places than a shape has.
    #[error("a receipt has at most {PLACES_MAX} places")]
    TooMany,
    /// The message's own words may hold the separator, so nothing can be found behind them.
    #[error("text has to be the last place")]
    BehindText,
    /// It would never say anything.
    #[error("a receipt has to name id or stat")]
    SaysNothing,
}

impl ReceiptDialect {
    /// The usual order of values separated by commas: `id,stat,err,submit_date,done_date`.
    pub const COMMAS: ReceiptDialect = ReceiptDialect::Positional(ReceiptShape::COMMAS);

    /// What a text says in this dialect. Reading never fails; what is not there is missing.
    pub fn read(self, text: &[u8]) -> ReceiptText<'_> {
        match self {
            ReceiptDialect::Standard => receipt_text::parse(text),
            ReceiptDialect::Positional(shape) => shape.read(text),
        }
    }

    /// Only what stands before the message's own words, for those who may not read them.
    pub(crate) fn read_before_text(self, text: &[u8]) -> ReceiptText<'_> {
        let read = match self {
            ReceiptDialect::Standard => receipt_text::parse_before_text(text),
            ReceiptDialect::Positional(shape) => shape.read(text),
        };
        ReceiptText { text: None, ..read }
    }
}

impl ReceiptShape {
    const COMMAS: ReceiptShape = {
        let mut places = [None; PLACES_MAX];
        let [id, stat, err, submit_date, done_date, ..] = &mut places;
        *id = Some(ReceiptField::Id);
        *stat = Some(ReceiptField::Stat);
        *err = Some(ReceiptField::Err);
        *submit_date = Some(ReceiptField::SubmitDate);
        *done_date = Some(ReceiptField::DoneDate);
        ReceiptShape { separator: b',', places, count: 5 }
    };

    fn places(&self) -> impl Iterator<Item = Option<ReceiptField>> + '_ {
        self.places.iter().copied().take(self.count)
    }

    fn read<'a>(&self, text: &'a [u8]) -> ReceiptText<'a> {
        let mut receipt = ReceiptText::default();
        let mut rest = Some(text);
        for place in self.places() {
            let Some(here) = rest else { break };
            let (value, behind) = match place {
                // Always last, separators and all.
                Some(ReceiptField::Text) => (here, None),
                _ => cut(here, self.separator),
            };
            if let Some(field) = place {
                receipt.set(field, trim(value));
            }
            rest = behind;
        }
        receipt
    }
}

/// The value up to the separator, and what stands behind it. Several spaces separate no more than one.
fn cut(text: &[u8], separator: u8) -> (&[u8], Option<&[u8]>) {
    let start = match separator {
        b' ' => text.iter().position(|octet| *octet != b' ').unwrap_or(text.len()),
        _ => 0,
    };
    let text = text.get(start..).unwrap_or_default();
    match text.iter().position(|octet| *octet == separator) {
        Some(at) => (text.get(..at).unwrap_or_default(), text.get(at.saturating_add(1)..)),
        None => (text, None),
    }
}

impl FromStr for ReceiptDialect {
    type Err = ReceiptDialectError;

    fn from_str(name: &str) -> Result<ReceiptDialect, ReceiptDialectError> {
        match name {
            STANDARD => Ok(ReceiptDialect::Standard),
            COMMAS => Ok(ReceiptDialect::COMMAS),
            shape => shape.parse().map(ReceiptDialect::Positional),
        }
    }
}

impl FromStr for ReceiptShape {
    type Err = ReceiptDialectError;

    fn from_str(shape: &str) -> Result<ReceiptShape, ReceiptDialectError> {
        let is_name = |char: char| char.is_ascii_alphanumeric() || char == '_' || char == '-';
        let separator = shape.chars().find(|char| !is_name(*char)).ok_or(ReceiptDialectError::Separator)?;
        let octet = u8::try_from(separator).ok().filter(|octet| SEPARATORS.contains(octet));
        let mut read = ReceiptShape {
            separator: octet.ok_or(ReceiptDialectError::Separator)?,
            places: [None; PLACES_MAX],
            count: 0,
        };
        for name in shape.split(separator) {
            read.add(name)?;
        }
        let says = |field| read.places().any(|place| place == Some(field));
        if !says(ReceiptField::Id) && !says(ReceiptField::Stat) {
            return Err(ReceiptDialectError::SaysNothing);
        }
        Ok(read)
    }
}

impl ReceiptShape {
    fn add(&mut self, name: &str) -> Result<(), ReceiptDialectError> {
        let field = match name {
            PASSED_BY => None,
            name => Some(ReceiptField::from_name(name).ok_or_else(|| unknown(name))?),
        };
        if self.places().any(|place| place == Some(ReceiptField::Text)) {
            return Err(ReceiptDialectError::BehindText);
        }
        if let Some(field) = field
            && self.places().any(|place| place == Some(field))
        {
            return Err(ReceiptDialectError::Twice(field));
        }
        *self.places.get_mut(self.count).ok_or(ReceiptDialectError::TooMany)? = field;
        self.count = self.count.saturating_add(1);
        Ok(())
    }
}

/// Enough of a wrong name to find it by.
const NAME_SHOWN_CHARS: usize = 32;

fn unknown(name: &str) -> ReceiptDialectError {
    ReceiptDialectError::Unknown(name.chars().take(NAME_SHOWN_CHARS).collect())
}

impl fmt::Display for ReceiptDialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ReceiptDialect::Standard => f.write_str(STANDARD),
            ReceiptDialect::Positional(shape) => shape.fmt(f),
        }
    }
}

impl fmt::Display for ReceiptShape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, place) in self.places().enumerate() {
            if index > 0 {
                write!(f, "{}", char::from(self.separator))?;
            }
            f.write_str(place.map_or(PASSED_BY, ReceiptField::name))?;
        }
        Ok(())
    }
}

impl fmt::Debug for ReceiptShape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

#[cfg(test)]
#[path = "receipt_shape_tests.rs"]
mod tests;
