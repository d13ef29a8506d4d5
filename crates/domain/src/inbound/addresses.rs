//! Normalizes the addresses of MO messages. Carriers write international numbers with a plus, with 00, or with neither.

use crate::origin::SmppAddress;
use crate::phone::Msisdn;
use std::borrow::Cow;

/// Types of number (SMPP v3.4 section 5.2.5) other than unknown and international.
const TON_NATIONAL: u8 = 2;
const TON_LAST: u8 = 6;
const INTERNATIONAL: (u8, u8) = (1, 1);

/// Returns the number for comparisons: the digits without an international prefix. A name is returned unchanged.
pub fn number_of(address: &SmppAddress) -> Cow<'_, str> {
    match String::from_utf8_lossy(&address.digits) {
        Cow::Borrowed(text) => Cow::Borrowed(without_prefix(text)),
        Cow::Owned(text) => Cow::Owned(without_prefix(&text).to_owned()),
    }
}

/// Returns the MSISDN of an address in international format.
pub fn msisdn_of(address: &SmppAddress) -> Option<Msisdn> {
    let text = std::str::from_utf8(&address.digits).ok()?;
    let has_prefix = without_prefix(text).len() < text.len();
    // A national number or short code is not an MSISDN, regardless of its length.
    if !has_prefix && (TON_NATIONAL..=TON_LAST).contains(&address.ton) {
        return None;
    }
    Msisdn::parse_digits(without_prefix(text)).ok()
}

/// Returns the address as customers get it: an international number with a plus, anything else unchanged.
pub fn display_address(address: &SmppAddress) -> String {
    match msisdn_of(address) {
        Some(number) => number.to_string(),
        None => number_of(address).into_owned(),
    }
}

/// Returns the address for SMPP customers: an international number with TON 1 and NPI 1, anything else as the carrier
/// sent it.
pub fn normalized_address(address: &SmppAddress) -> SmppAddress {
    let (ton, npi) = INTERNATIONAL;
    match msisdn_of(address) {
        Some(number) => SmppAddress::new(ton, npi, number.digits().as_bytes()),
        None => address.clone(),
    }
}

fn without_prefix(text: &str) -> &str {
    let is_number = |digits: &&str| !digits.is_empty() && digits.bytes().all(|octet| octet.is_ascii_digit());
    let marked = text.strip_prefix('+').or_else(|| text.strip_prefix("00"));
    marked.filter(is_number).unwrap_or(text)
}

#[cfg(test)]
#[path = "addresses_tests.rs"]
mod tests;
