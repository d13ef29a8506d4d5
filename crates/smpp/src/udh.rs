//! User data headers, which precede the text if `esm_class` has its UDHI bit. They are parsed element by element,
//! because a fixed prefix would miss messages with another element first.

use thiserror::Error;

/// Element: concatenated message with an 8-bit reference (3GPP TS 23.040 §9.2.3.24.1).
const CONCATENATION_8: u8 = 0x00;
/// Element: concatenated message with a 16-bit reference (§9.2.3.24.8).
const CONCATENATION_16: u8 = 0x08;

/// Octets of the header that `concatenation_header` returns.
pub const CONCATENATION_HEADER_BYTES: usize = 6;

/// The position of a part in a concatenated message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Concatenation {
    /// The same on all parts of a message.
    pub reference: u16,
    /// The number of parts, at least 1.
    pub total: u8,
    /// The number of this part, from 1 to `total`.
    pub part: u8,
}

/// One element of a header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Element<'a> {
    /// Information element identifier.
    pub id: u8,
    /// Its octets.
    pub value: &'a [u8],
}

/// A user data header and the text after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Udh<'a> {
    elements: &'a [u8],
    /// The text after the header.
    pub text: crate::Hidden<'a>,
}

/// The lengths of the header and its elements contradict each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("the lengths in the user data header are inconsistent")]
pub struct BadUdh;

/// Splits user data into header and text. The last element must end at the end of the header.
pub fn parse(user_data: &[u8]) -> Result<Udh<'_>, BadUdh> {
    let (length, rest) = user_data.split_first().ok_or(BadUdh)?;
    let (elements, text) = rest.split_at_checked(usize::from(*length)).ok_or(BadUdh)?;
    let mut iter = Elements { rest: elements };
    while iter.next().is_some() {}
    if !iter.rest.is_empty() {
        return Err(BadUdh);
    }
    Ok(Udh { elements, text: crate::Hidden(text) })
}

impl<'a> Udh<'a> {
    /// Returns all elements, in order.
    pub fn elements(&self) -> impl Iterator<Item = Element<'a>> {
        Elements { rest: self.elements }
    }

    /// Returns the concatenation element. Of repeated elements the last counts (3GPP TS 23.040 §9.2.3.24); one whose
    /// part exceeds its total is ignored.
    pub fn concatenation(&self) -> Option<Concatenation> {
        self.elements().filter_map(concatenation).last()
    }
}

struct Elements<'a> {
    rest: &'a [u8],
}

impl<'a> Iterator for Elements<'a> {
    type Item = Element<'a>;

    fn next(&mut self) -> Option<Element<'a>> {
        let ([id, length], rest) = self.rest.split_first_chunk()?;
        let (value, rest) = rest.split_at_checked(usize::from(*length))?;
        self.rest = rest;
        Some(Element { id: *id, value })
    }
}

fn concatenation(element: Element<'_>) -> Option<Concatenation> {
    let (reference, total, part) = match (element.id, element.value) {
        (CONCATENATION_8, [reference, total, part]) => (u16::from(*reference), *total, *part),
        (CONCATENATION_16, [high, low, total, part]) => (u16::from_be_bytes([*high, *low]), *total, *part),
        _ => return None,
    };
    (1..=total).contains(&part).then_some(Concatenation { reference, total, part })
}

/// Returns the header of one part, with an 8-bit reference, which all networks support.
pub const fn concatenation_header(reference: u8, total: u8, part: u8) -> [u8; CONCATENATION_HEADER_BYTES] {
    [5, CONCATENATION_8, 3, reference, total, part]
}

#[cfg(test)]
#[path = "udh_tests.rs"]
mod tests;
