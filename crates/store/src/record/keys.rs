//! The keys by which messages are found: each kind of key as one integer.

use hermod_domain::ids::RemoteId;
use hermod_domain::phone::Msisdn;
use hermod_engine::ops::EventId;
use sha2::{Digest, Sha256};

/// Digits that a phone number is filled up to, so that the numbers with a prefix are one range of keys.
const RECIPIENT_DIGITS: u32 = 15;

/// One key of a message. Two values may have the same key, so a match is compared with the message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct SearchKey {
    pub kind: KeyKind,
    pub key: i64,
}

/// What a key was made of. The numbers are permanent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub(crate) enum KeyKind {
    Recipient = 1,
    CarrierId = 2,
    Request = 3,
    IdempotencyKey = 4,
    Event = 5,
}

impl KeyKind {
    pub(crate) const ALL: [KeyKind; 5] =
        [KeyKind::Recipient, KeyKind::CarrierId, KeyKind::Request, KeyKind::IdempotencyKey, KeyKind::Event];
}

impl SearchKey {
    /// The digits of a number, filled with zeros on the right.
    pub(crate) fn of_recipient(to: Msisdn) -> SearchKey {
        let number = to.number();
        let digits = number.checked_ilog10().map_or(1, |log| log + 1);
        let filled = number.saturating_mul(10_u64.pow(RECIPIENT_DIGITS.saturating_sub(digits)));
        SearchKey { kind: KeyKind::Recipient, key: filled.cast_signed() }
    }

    /// Returns the first and the last key of the numbers that begin with these digits; none if there are no digits, or too
    /// many.
    pub(crate) fn recipients_with(prefix: &str) -> Option<(i64, i64)> {
        let digits =
            u32::try_from(prefix.len()).ok().filter(|digits| (1..=RECIPIENT_DIGITS).contains(digits))?;
        let number: i64 =
            prefix.bytes().all(|octet| octet.is_ascii_digit()).then(|| prefix.parse().ok())??;
        let width = 10_i64.pow(RECIPIENT_DIGITS - digits);
        Some((number * width, number * width + (width - 1)))
    }

    pub(crate) fn of_carrier_id(id: &RemoteId) -> SearchKey {
        SearchKey { kind: KeyKind::CarrierId, key: digest_of(id.octets()) }
    }

    pub(crate) fn of_request(request: &str) -> SearchKey {
        SearchKey { kind: KeyKind::Request, key: digest_of(request.as_bytes()) }
    }

    /// `digest`: of the idempotency key and its account.
    pub(crate) fn of_idempotency_key(digest: &[u8; 16]) -> SearchKey {
        let first = digest.first_chunk().expect("sixteen octets have eight");
        SearchKey { kind: KeyKind::IdempotencyKey, key: i64::from_be_bytes(*first) }
    }

    pub(crate) fn of_event(EventId(event): EventId) -> SearchKey {
        SearchKey { kind: KeyKind::Event, key: event.cast_signed() }
    }
}

fn digest_of(octets: &[u8]) -> i64 {
    let digest: [u8; 32] = Sha256::digest(octets).into();
    i64::from_be_bytes(*digest.first_chunk().expect("a digest has 32 octets"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_of_numbers_with_a_prefix_are_one_range() {
        let key = |number| SearchKey::of_recipient(Msisdn::from_number(number).unwrap()).key;
        let (first, last) = SearchKey::recipients_with("4915").unwrap();
        for (number, is_in) in [(4_915_112_345_678, true), (491_599_999, true), (4_916_112_345_678, false)] {
            assert_eq!((first..=last).contains(&key(number)), is_in, "{number}");
        }
        assert_eq!(SearchKey::recipients_with(""), None);
        assert_eq!(SearchKey::recipients_with("49x"), None);
        assert_eq!(SearchKey::recipients_with(&"1".repeat(16)), None);
        assert_eq!(
            SearchKey::recipients_with("123456789012345"),
            Some((123_456_789_012_345, 123_456_789_012_345))
        );
    }
}
