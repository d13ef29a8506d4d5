//! Both ends of a message from a handset, however a carrier writes them: with a plus, with two zeros for one, or with
//! neither.

use crate::origin::WrittenAddress;
use crate::phone::Msisdn;
use std::borrow::Cow;

/// Types of number (SMPP v3.4 section 5.2.5) that say: not in international form.
const TON_NATIONAL: u8 = 2;
const TON_LAST: u8 = 6;
const INTERNATIONAL: (u8, u8) = (1, 1);

/// An address as numbers are compared: its digits, without what stands for "international". A name is itself.
pub fn number(address: &WrittenAddress) -> Cow<'_, str> {
    match String::from_utf8_lossy(&address.digits) {
        Cow::Borrowed(text) => Cow::Borrowed(bare(text)),
        Cow::Owned(text) => Cow::Owned(bare(&text).to_owned()),
    }
}

/// The subscriber it is, if it is one in international form.
pub fn handset(address: &WrittenAddress) -> Option<Msisdn> {
    let text = std::str::from_utf8(&address.digits).ok()?;
    let is_marked = bare(text).len() < text.len();
    // What a carrier calls national, or short, is no international number however many digits it has.
    if !is_marked && (TON_NATIONAL..=TON_LAST).contains(&address.ton) {
        return None;
    }
    Msisdn::parse_digits(bare(text)).ok()
}

/// As customers see it: an international number with its plus, anything else as it is.
pub fn shown(address: &WrittenAddress) -> String {
    match handset(address) {
        Some(number) => number.to_string(),
        None => number(address).into_owned(),
    }
}

/// As it is written in SMPP to customers: an international number as such, anything else as the carrier has it.
pub fn tidied(address: &WrittenAddress) -> WrittenAddress {
    let (ton, npi) = INTERNATIONAL;
    match handset(address) {
        Some(number) => WrittenAddress::new(ton, npi, number.digits().as_bytes()),
        None => address.clone(),
    }
}

fn bare(text: &str) -> &str {
    let is_number = |digits: &&str| !digits.is_empty() && digits.bytes().all(|octet| octet.is_ascii_digit());
    let marked = text.strip_prefix('+').or_else(|| text.strip_prefix("00"));
    marked.filter(is_number).unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_however_a_carrier_writes_them() {
        for (ton, given, number_is, shown_as, tidied_as) in [
            (1, "4915112345678", "4915112345678", "+4915112345678", "1/1 4915112345678"),
            (0, "4915112345678", "4915112345678", "+4915112345678", "1/1 4915112345678"),
            (1, "+4915112345678", "4915112345678", "+4915112345678", "1/1 4915112345678"),
            (0, "004915112345678", "4915112345678", "+4915112345678", "1/1 4915112345678"),
            (2, "004915112345678", "4915112345678", "+4915112345678", "1/1 4915112345678"),
            (2, "15112345678", "15112345678", "15112345678", "2/1 15112345678"),
            (0, "015112345678", "015112345678", "015112345678", "0/1 015112345678"),
            (3, "80800", "80800", "80800", "3/1 80800"),
            (0, "80800", "80800", "80800", "0/1 80800"),
            (1, "80800", "80800", "80800", "1/1 80800"),
            (6, "8080012", "8080012", "8080012", "6/1 8080012"),
            (5, "Hermod", "Hermod", "Hermod", "5/1 Hermod"),
            (5, "+Hermod", "+Hermod", "+Hermod", "5/1 +Hermod"),
            (1, "", "", "", "1/1 "),
            (1, "+", "+", "+", "1/1 +"),
        ] {
            let address = WrittenAddress::new(ton, 1, given.as_bytes());
            assert_eq!(number(&address), number_is, "{ton} {given}");
            assert_eq!(shown(&address), shown_as, "{ton} {given}");
            let WrittenAddress { ton: tidy_ton, npi, digits } = tidied(&address);
            let written = format!("{tidy_ton}/{npi} {}", String::from_utf8_lossy(&digits));
            assert_eq!(written, tidied_as, "{ton} {given}");
        }
        let strange = WrittenAddress::new(1, 1, b"\xff49");
        assert_eq!((shown(&strange).as_str(), handset(&strange)), ("\u{fffd}49", None));
    }
}
