//! Dialects of receipt texts. Most carriers label each value; some send unlabelled values in a fixed order, which the
//! carrier's profile gives.

use crate::receipt_text::{self, ReceiptField, ReceiptText, trim};

/// The dialect of a carrier's receipt texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum ReceiptDialect {
    /// `id:… stat:… err:…`: labelled values, in any order and case.
    #[default]
    Standard,
    /// Unlabelled values with commas between them: id, stat, err, submit_date and done_date.
    Commas,
}

const BETWEEN_COMMAS: [ReceiptField; 5] = [
    ReceiptField::Id,
    ReceiptField::Stat,
    ReceiptField::Err,
    ReceiptField::SubmitDate,
    ReceiptField::DoneDate,
];

impl ReceiptDialect {
    /// Reads a receipt text. Absent values are missing, further ones are ignored.
    pub fn read(self, text: &[u8]) -> ReceiptText<'_> {
        match self {
            ReceiptDialect::Standard => receipt_text::parse(text),
            ReceiptDialect::Commas => read_commas(text),
        }
    }

    /// Reads the fields before the quoted message, without it.
    pub(crate) fn read_before_text(self, text: &[u8]) -> ReceiptText<'_> {
        let read = match self {
            ReceiptDialect::Standard => receipt_text::parse_before_text(text),
            ReceiptDialect::Commas => read_commas(text),
        };
        ReceiptText { text: None, ..read }
    }
}

fn read_commas(text: &[u8]) -> ReceiptText<'_> {
    let mut receipt = ReceiptText::default();
    for (field, value) in BETWEEN_COMMAS.into_iter().zip(text.split(|octet| *octet == b',')) {
        receipt.set(field, trim(value));
    }
    receipt
}

#[cfg(test)]
#[path = "receipt_dialect_tests.rs"]
mod tests;
