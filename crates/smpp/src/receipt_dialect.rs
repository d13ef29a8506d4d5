//! Dialects of receipt texts. Most carriers label each value; some send unlabelled values in a fixed order, which the
//! carrier's profile gives.

use std::{fmt, str::FromStr};
use thiserror::Error;

use crate::receipt_text::{self, ReceiptField, ReceiptText, trim};

/// The maximum number of fields in a layout.
pub const LAYOUT_FIELDS_MAX: usize = 16;

/// Permitted separators.
const SEPARATORS: &[u8] = b",;|/\t ";
/// The name of a field whose value is ignored.
const IGNORED: &str = "-";
const STANDARD: &str = "standard";
const COMMAS: &str = "commas";

/// The dialect of a carrier's receipt texts. Parsed from `standard`, `commas` or a layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum ReceiptDialect {
    /// `id:… stat:… err:…`: labelled values, in any order and case.
    #[default]
    Standard,
    /// Unlabelled values in a fixed order.
    Positional(ReceiptLayout),
}

/// The fields of a positional receipt text and their separator. Written as the receipt with field names as values:
/// `id,stat,err,submit_date,done_date`, where `-` is an ignored value.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct ReceiptLayout {
    separator: u8,
    fields: [Option<ReceiptField>; LAYOUT_FIELDS_MAX],
    count: usize,
}

/// Why a dialect is invalid.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ReceiptDialectError {
    /// There is only one field, or the separator is not permitted.
    #[error("the fields of a receipt must be separated by one of , ; | / a tab or a space")]
    Separator,
    /// The field does not exist.
    #[error(
        "{0:?} is not a field of a receipt: use id, sub, dlvrd, submit_date, done_date, stat, err, text or -"
    )]
    Unknown(String),
    /// A field is named twice.
    #[error("{} is named twice", .0.name())]
    Duplicate(ReceiptField),
    /// Too many fields.
    #[error("a receipt must have at most {LAYOUT_FIELDS_MAX} fields")]
    TooMany,
    /// A field follows `text`, which may contain the separator.
    #[error("text must be the last field")]
    AfterText,
    /// The layout has neither id nor stat.
    #[error("a receipt must have id or stat")]
    NoIdOrStat,
}

impl ReceiptDialect {
    /// The common layout with commas: `id,stat,err,submit_date,done_date`.
    pub const COMMAS: ReceiptDialect = ReceiptDialect::Positional(ReceiptLayout::COMMAS);

    /// Parses a receipt text. Never fails; absent fields are `None`.
    pub fn read(self, text: &[u8]) -> ReceiptText<'_> {
        match self {
            ReceiptDialect::Standard => receipt_text::parse(text),
            ReceiptDialect::Positional(layout) => layout.read(text),
        }
    }

    /// Parses the fields before the quoted message, which must not be printed.
    pub(crate) fn read_before_text(self, text: &[u8]) -> ReceiptText<'_> {
        let read = match self {
            ReceiptDialect::Standard => receipt_text::parse_before_text(text),
            ReceiptDialect::Positional(layout) => layout.read(text),
        };
        ReceiptText { text: None, ..read }
    }
}

impl ReceiptLayout {
    const COMMAS: ReceiptLayout = {
        let mut fields = [None; LAYOUT_FIELDS_MAX];
        let [id, stat, err, submit_date, done_date, ..] = &mut fields;
        *id = Some(ReceiptField::Id);
        *stat = Some(ReceiptField::Stat);
        *err = Some(ReceiptField::Err);
        *submit_date = Some(ReceiptField::SubmitDate);
        *done_date = Some(ReceiptField::DoneDate);
        ReceiptLayout { separator: b',', fields, count: 5 }
    };

    fn fields(&self) -> impl Iterator<Item = Option<ReceiptField>> + '_ {
        self.fields.iter().copied().take(self.count)
    }

    fn read<'a>(&self, text: &'a [u8]) -> ReceiptText<'a> {
        let mut receipt = ReceiptText::default();
        let mut rest = Some(text);
        for field in self.fields() {
            let Some(remaining) = rest else { break };
            let (value, after) = match field {
                // Always the last field, including separators.
                Some(ReceiptField::Text) => (remaining, None),
                _ => split_at_separator(remaining, self.separator),
            };
            if let Some(field) = field {
                receipt.set(field, trim(value));
            }
            rest = after;
        }
        receipt
    }
}

/// Splits at the first separator. Several spaces count as one.
fn split_at_separator(text: &[u8], separator: u8) -> (&[u8], Option<&[u8]>) {
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
            layout => layout.parse().map(ReceiptDialect::Positional),
        }
    }
}

impl FromStr for ReceiptLayout {
    type Err = ReceiptDialectError;

    fn from_str(layout: &str) -> Result<ReceiptLayout, ReceiptDialectError> {
        let is_name = |char: char| char.is_ascii_alphanumeric() || char == '_' || char == '-';
        let separator = layout.chars().find(|char| !is_name(*char)).ok_or(ReceiptDialectError::Separator)?;
        let octet = u8::try_from(separator).ok().filter(|octet| SEPARATORS.contains(octet));
        let mut read = ReceiptLayout {
            separator: octet.ok_or(ReceiptDialectError::Separator)?,
            fields: [None; LAYOUT_FIELDS_MAX],
            count: 0,
        };
        for name in layout.split(separator) {
            read.add(name)?;
        }
        let has = |field| read.fields().any(|other| other == Some(field));
        if !has(ReceiptField::Id) && !has(ReceiptField::Stat) {
            return Err(ReceiptDialectError::NoIdOrStat);
        }
        Ok(read)
    }
}

impl ReceiptLayout {
    fn add(&mut self, name: &str) -> Result<(), ReceiptDialectError> {
        let field = match name {
            IGNORED => None,
            name => Some(ReceiptField::from_name(name).ok_or_else(|| unknown(name))?),
        };
        if self.fields().any(|field| field == Some(ReceiptField::Text)) {
            return Err(ReceiptDialectError::AfterText);
        }
        if let Some(field) = field
            && self.fields().any(|other| other == Some(field))
        {
            return Err(ReceiptDialectError::Duplicate(field));
        }
        *self.fields.get_mut(self.count).ok_or(ReceiptDialectError::TooMany)? = field;
        self.count = self.count.saturating_add(1);
        Ok(())
    }
}

/// Characters of an unknown name in an error.
const NAME_CHARS_MAX: usize = 32;

fn unknown(name: &str) -> ReceiptDialectError {
    ReceiptDialectError::Unknown(name.chars().take(NAME_CHARS_MAX).collect())
}

impl fmt::Display for ReceiptDialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ReceiptDialect::Standard => f.write_str(STANDARD),
            ReceiptDialect::Positional(layout) => layout.fmt(f),
        }
    }
}

impl fmt::Display for ReceiptLayout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, field) in self.fields().enumerate() {
            if index > 0 {
                write!(f, "{}", char::from(self.separator))?;
            }
            f.write_str(field.map_or(IGNORED, ReceiptField::name))?;
        }
        Ok(())
    }
}

impl fmt::Debug for ReceiptLayout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

#[cfg(test)]
#[path = "receipt_dialect_tests.rs"]
mod tests;
