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
mod tests {
    use super::*;

    fn describe(user_data: &[u8]) -> String {
        match parse(user_data) {
            Ok(udh) => {
                let ids: Vec<u8> = udh.elements().map(|element| element.id).collect();
                let part = udh.concatenation().map(|c| format!("{} {}/{}", c.reference, c.part, c.total));
                format!(
                    "{ids:?} {} {:?}",
                    part.as_deref().unwrap_or("whole"),
                    udh.text.escape_ascii().to_string()
                )
            }
            Err(BadUdh) => "bad".into(),
        }
    }

    #[test]
    fn headers_are_parsed_by_element() {
        let cases: [(&[u8], &str); 14] = [
            (b"\x05\x00\x03\xab\x02\x01hi", r#"[0] 171 1/2 "hi""#),
            (b"\x06\x08\x04\x12\x34\x03\x03hi", r#"[8] 4660 3/3 "hi""#),
            // Application ports first, concatenation second: the fixed prefix 05 00 03 is not there.
            (b"\x0b\x05\x04\x0b\x84\x23\xf0\x00\x03\x01\x02\x02x", r#"[5, 0] 1 2/2 "x""#),
            (b"\x04\x24\x01\x05\x25text", "bad"),
            (b"\x03\x24\x01\x05text", r#"[36] whole "text""#),
            (b"\x00text", r#"[] whole "text""#),
            (b"\x05\x00\x03\xab\x02\x03hi", r#"[0] whole "hi""#),
            (b"\x05\x00\x03\xab\x02\x00hi", r#"[0] whole "hi""#),
            (b"\x04\x00\x02\xab\x02hi", r#"[0] whole "hi""#),
            (b"\x0a\x00\x03\x01\x02\x01\x00\x03\x09\x02\x02", r#"[0, 0] 9 2/2 """#),
            (b"\x05\x00\x03\xab\x02", "bad"),
            (b"\x05\x00\x04\xab\x02\x01hi", "bad"),
            (b"\xff", "bad"),
            (b"", "bad"),
        ];
        for (user_data, expect) in cases {
            assert_eq!(describe(user_data), expect, "{user_data:02x?}");
        }
    }

    #[test]
    fn built_header_parses_to_the_same() {
        let header = concatenation_header(7, 3, 2);
        assert_eq!(header, [5, 0, 3, 7, 3, 2]);
        let udh = parse(&header).unwrap();
        assert_eq!(udh.concatenation(), Some(Concatenation { reference: 7, total: 3, part: 2 }));
    }
}
