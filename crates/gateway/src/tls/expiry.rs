//! Reads the expiry of a certificate: one field of X.509 in DER (RFC 5280 section 4.1), for which a parser crate would
//! be too large.

use hermod_domain::time::Timestamp;

const INTEGER: u8 = 0x02;
const SEQUENCE: u8 = 0x30;
const UTC_TIME: u8 = 0x17;
const GENERALIZED_TIME: u8 = 0x18;
/// The context-specific tag of the version, which is optional.
const VERSION: u8 = 0xa0;

struct Element<'a> {
    tag: u8,
    content: &'a [u8],
}

/// Returns the end of the validity; `None` if the certificate cannot be read.
pub(super) fn not_after(certificate: &[u8]) -> Option<Timestamp> {
    let (certificate, _) = expect(certificate, SEQUENCE)?;
    let (mut fields, _) = expect(certificate, SEQUENCE)?;
    if let (Element { tag: VERSION, .. }, rest) = element(fields)? {
        fields = rest;
    }
    let (_serial, rest) = expect(fields, INTEGER)?;
    let (_signature, rest) = expect(rest, SEQUENCE)?;
    let (_issuer, rest) = expect(rest, SEQUENCE)?;
    let (validity, _) = expect(rest, SEQUENCE)?;
    let (_not_before, rest) = element(validity)?;
    let (Element { tag, content }, _) = element(rest)?;
    match tag {
        UTC_TIME => {
            let (year, rest) = two_digits(content)?;
            // RFC 5280 section 4.1.2.5.1: 50 to 99 means 19xx.
            time(if year >= 50 { 1900 + year } else { 2000 + year }, rest)
        }
        GENERALIZED_TIME => {
            let (century, rest) = two_digits(content)?;
            let (year, rest) = two_digits(rest)?;
            time(century * 100 + year, rest)
        }
        _ => None,
    }
}

/// Parses `MMDDHHMMSSZ`, the only permitted form.
fn time(year: i16, rest: &[u8]) -> Option<Timestamp> {
    let mut fields = [0; 5];
    let mut rest = rest;
    for field in &mut fields {
        let (value, after) = two_digits(rest)?;
        *field = i8::try_from(value).ok()?;
        rest = after;
    }
    let [month, day, hour, minute, second] = fields;
    if rest != b"Z" {
        return None;
    }
    Timestamp::from_utc((year, month, day), (hour, minute, second))
}

fn two_digits(bytes: &[u8]) -> Option<(i16, &[u8])> {
    let (pair, rest) = bytes.split_at_checked(2)?;
    let digit = |byte: u8| byte.is_ascii_digit().then(|| i16::from(byte - b'0'));
    Some((digit(pair[0])? * 10 + digit(pair[1])?, rest))
}

fn expect(bytes: &[u8], tag: u8) -> Option<(&[u8], &[u8])> {
    let (element, rest) = element(bytes)?;
    (element.tag == tag).then_some((element.content, rest))
}

/// Returns the first element and the remaining bytes.
fn element(bytes: &[u8]) -> Option<(Element<'_>, &[u8])> {
    let (tag, rest) = bytes.split_first()?;
    let (first, rest) = rest.split_first()?;
    let (length, rest) = if *first < 0x80 {
        (usize::from(*first), rest)
    } else {
        // No certificate needs more than three octets of length.
        let octets = usize::from(first & 0x7f);
        if !(1..=3).contains(&octets) {
            return None;
        }
        let (octets, rest) = rest.split_at_checked(octets)?;
        (octets.iter().fold(0, |length, octet| length << 8 | usize::from(*octet)), rest)
    };
    let (content, rest) = rest.split_at_checked(length)?;
    Some((Element { tag: *tag, content }, rest))
}

#[cfg(test)]
#[path = "expiry_tests.rs"]
mod tests;
