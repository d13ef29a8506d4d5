//! What a customer asks us to send, after the edge has parsed it and before anything has been decided. HTTP and SMPP
//! both arrive at this one form.

use std::fmt;
use std::sync::Arc;

use crate::origin::Origin;
use crate::phone::Msisdn;
use crate::sender::Sender;
use crate::text::{Encoding, Measure, MessageText, Shape};
use std::time::Duration;

pub const KEY_BYTES_MAX: usize = 255;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Submission {
    pub to: Msisdn,
    /// `None` takes the connection's default sender.
    pub from: Option<Sender>,
    pub text: MessageText,
    /// The alphabet the customer chose, which has every character of the text. `None` takes the best one.
    pub encoding: Option<Encoding>,
    pub shape: Option<Arc<Shape>>,
    /// Optional parameters to be passed on to the carrier, as they came.
    pub tlvs: Option<Arc<[u8]>>,
    /// How long it may wait for its delivery, at most as long as the service allows. `None` takes the usual time.
    pub validity: Option<Duration>,
    /// Came in over SMPP: what its customer wants to hear about it.
    pub origin: Option<Arc<Origin>>,
    /// Where replies are to go, if not to the sender.
    pub callback: Option<Sender>,
    pub key: Option<IdempotencyKey>,
}

impl Submission {
    /// A text with nothing special about it.
    pub fn plain(to: Msisdn, from: Option<Sender>, text: MessageText) -> Submission {
        Submission {
            to,
            from,
            text,
            encoding: None,
            shape: None,
            tlvs: None,
            validity: None,
            origin: None,
            callback: None,
            key: None,
        }
    }

    /// Encoding and number of parts of a text that is sent in place of its own, which may have been rewritten.
    pub fn measure(&self, text: &MessageText) -> Measure {
        measure(text, self.encoding, self.shape.as_deref())
    }

    /// A number that differs, for all practical purposes, when recipient, sender or text differ. Kept beside an
    /// idempotency key to notice that a key was used again for something else. It goes by what was asked for, so
    /// changing a connection's default sender does not make an honest retry look like another message.
    ///
    /// It is stored, so it must come out the same in every release: FNV-1a, 64 bits, written out here rather than
    /// borrowed from a library that may change its mind.
    pub fn fingerprint(&self) -> u64 {
        let Submission { to, from, text, .. } = self;
        let from = from.as_ref().map_or("", Sender::as_str);
        let mut hash = Fnv1a::new();
        hash.add(&to.number().to_be_bytes());
        hash.add(from.as_bytes());
        // No text holds this octet, so a sender's end cannot be mistaken for a text's beginning.
        hash.add(&[0xff]);
        hash.add(text.as_str().as_bytes());
        hash.0
    }
}

/// Encoding and number of parts of what a customer submits.
pub fn measure(text: &MessageText, encoding: Option<Encoding>, shape: Option<&Shape>) -> Measure {
    match (encoding, shape) {
        (Some(encoding), Some(shape)) if shape.is_one_part() => Measure { encoding, parts: 1 },
        (Some(encoding), _) => text.measure_in(encoding),
        (None, _) => text.measure(),
    }
}

/// The customer's own name for a request: repeated, it is answered and not carried out again.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct IdempotencyKey(Arc<str>);

/// Why a text is not an idempotency key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KeyRefusal {
    /// Edges take this for "no key was given".
    #[error("it is empty")]
    Empty,
    #[error("it must have at most 255 bytes")]
    TooLong,
}

impl IdempotencyKey {
    pub fn parse(text: &str) -> Result<IdempotencyKey, KeyRefusal> {
        match text.len() {
            0 => Err(KeyRefusal::Empty),
            1..=KEY_BYTES_MAX => Ok(IdempotencyKey(text.into())),
            _ => Err(KeyRefusal::TooLong),
        }
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Escaped, because it is any string a stranger likes.
impl fmt::Debug for IdempotencyKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "IdempotencyKey({:?})", self.as_str())
    }
}

struct Fnv1a(u64);

impl Fnv1a {
    fn new() -> Fnv1a {
        Fnv1a(0xcbf2_9ce4_8422_2325)
    }

    fn add(&mut self, octets: &[u8]) {
        for octet in octets {
            self.0 = (self.0 ^ u64::from(*octet)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn submission(to: &str, from: Option<&str>, text: &str) -> Submission {
        let from = from.map(|from| Sender::parse(from).unwrap());
        Submission::plain(Msisdn::parse(to).unwrap(), from, MessageText::parse(text).unwrap())
    }

    #[track_caller]
    fn check(to: &str, from: Option<&str>, text: &str, expect: u64) {
        let found = submission(to, from, text).fingerprint();
        assert_eq!(found, expect, "{found:#018x}");
    }

    #[test]
    fn the_hash_is_fnv_1a() {
        // Test values published with the algorithm.
        for (text, expect) in
            [("", 0xcbf2_9ce4_8422_2325), ("a", 0xaf63_dc4c_8601_ec8c), ("foobar", 0x8594_4171_f739_67e8)]
        {
            let mut hash = Fnv1a::new();
            hash.add(text.as_bytes());
            assert_eq!(hash.0, expect, "{text:?}");
        }
    }

    #[test]
    fn fingerprints_never_change() {
        check("+4915112345678", Some("Hermod"), "hello", 0x3b2f_1233_fd74_5df0);
        check("+4915112345678", None, "hello", 0x4dee_d917_5225_72fd);
    }

    #[test]
    fn a_fingerprint_tells_recipient_sender_and_text_apart_but_not_keys() {
        let mut requests = [
            submission("+4915112345678", None, "hello"),
            submission("+4915112345679", None, "hello"),
            submission("+4915112345678", Some("hello"), "hello"),
            submission("+4915112345678", Some("hell"), "ohello"),
            submission("+4915112345678", None, "hello "),
            submission("+4915112345678", None, "hellohello"),
        ];
        let mut fingerprints: Vec<u64> = requests.iter().map(Submission::fingerprint).collect();
        requests[0].key = Some(IdempotencyKey::parse("order-1").unwrap());
        assert_eq!(requests[0].fingerprint(), fingerprints[0]);
        fingerprints.sort_unstable();
        fingerprints.dedup();
        assert_eq!(fingerprints.len(), requests.len());
    }

    #[test]
    fn a_key_has_1_to_255_bytes() {
        assert_eq!(IdempotencyKey::parse(""), Err(KeyRefusal::Empty));
        assert_eq!(IdempotencyKey::parse(&"k".repeat(256)), Err(KeyRefusal::TooLong));
        assert_eq!(IdempotencyKey::parse(&"é".repeat(128)), Err(KeyRefusal::TooLong));
        assert_eq!(IdempotencyKey::parse(&"k".repeat(255)).unwrap().as_str().len(), 255);
        assert_eq!(format!("{:?}", IdempotencyKey::parse("a\nb").unwrap()), r#"IdempotencyKey("a\nb")"#);
    }
}
