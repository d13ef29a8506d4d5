//! The words of a receipt as the carrier wrote them, kept for people: no decision reads them.

use crate::octets;
use serde::{Deserialize, Serialize};
use smallvec::SmallVec;
use std::fmt;

/// The most octets that are kept of the words of a receipt.
pub const RECEIPT_WORDS_OCTETS_MAX: usize = 48;

/// The `stat` and `err` of a receipt as the carrier wrote them, such as `stat:DELIVRD err:000`. They can be anything, so
/// the debug form does not print them.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ReceiptWords(#[serde(with = "octets")] SmallVec<[u8; 24]>);

impl ReceiptWords {
    /// Joins the words of a receipt, cut to [`RECEIPT_WORDS_OCTETS_MAX`].
    pub fn new(stat: Option<&[u8]>, err: Option<&[u8]>) -> ReceiptWords {
        let mut words = SmallVec::new();
        for (name, value) in [(&b"stat:"[..], stat), (b"err:", err)] {
            let Some(value) = value else { continue };
            if !words.is_empty() {
                words.push(b' ');
            }
            words.extend_from_slice(name);
            words.extend_from_slice(value);
        }
        words.truncate(RECEIPT_WORDS_OCTETS_MAX);
        ReceiptWords(words)
    }

    /// Returns the words as text: printable ASCII as it is, every other octet as `?`.
    pub fn to_text(&self) -> String {
        let printable = |octet: &u8| if matches!(octet, b' '..=b'~') { char::from(*octet) } else { '?' };
        self.0.iter().map(printable).collect()
    }
}

impl fmt::Debug for ReceiptWords {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ReceiptWords({} octets)", self.0.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_joined_cut_and_printed_without_control_characters() {
        let words = ReceiptWords::new(Some(b"DELIVRD"), Some(b"00\n"));
        assert_eq!(words.to_text(), "stat:DELIVRD err:00?");
        assert_eq!(ReceiptWords::new(None, Some(b"7")).to_text(), "err:7");
        assert_eq!(ReceiptWords::new(None, None), ReceiptWords::default());
        let long = ReceiptWords::new(Some(&[b'x'; 200]), None);
        assert_eq!(long.to_text().len(), RECEIPT_WORDS_OCTETS_MAX);
        assert_eq!(format!("{long:?}"), "ReceiptWords(48 octets)");
    }
}
