//! A submission: the message that a customer submits over HTTP or SMPP, after parsing and before any check.

use std::fmt;
use std::sync::Arc;

use crate::origin::Origin;
use crate::phone::Msisdn;
use crate::sender::Sender;
use crate::text::{ConcatPart, Encoding, Measure, MessageText, SmsOptions};
use std::time::Duration;

pub const KEY_BYTES_MAX: usize = 255;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Submission {
    pub to: Msisdn,
    /// `None` uses the connection's default sender.
    pub from: Option<Sender>,
    pub text: MessageText,
    /// The encoding that the customer chose; it has every character of the text. `None` chooses one.
    pub encoding: Option<Encoding>,
    pub options: Option<Arc<SmsOptions>>,
    /// The place in a message that the customer has split, from its user data header or `sar_*` parameters.
    pub place: Option<ConcatPart>,
    /// TLVs that are passed on to the carrier unchanged.
    pub tlvs: Option<Arc<[u8]>>,
    /// The validity period, up to the service's maximum. `None` uses the default.
    pub validity: Option<Duration>,
    /// Set for messages submitted over SMPP.
    pub origin: Option<Arc<Origin>>,
    /// The number for replies, if not the sender.
    pub callback: Option<Sender>,
    pub key: Option<IdempotencyKey>,
    /// The id of the HTTP request, for the record.
    pub request: Option<Box<str>>,
}

impl Submission {
    /// Makes a submission of a plain text.
    pub fn plain(to: Msisdn, from: Option<Sender>, text: MessageText) -> Submission {
        Submission {
            to,
            from,
            text,
            encoding: None,
            options: None,
            place: None,
            tlvs: None,
            validity: None,
            origin: None,
            callback: None,
            key: None,
            request: None,
        }
    }

    /// Returns the encoding and the number of parts of `text`, which is the submission's own or a replacement by smart
    /// encoding.
    pub fn measure(&self, text: &MessageText) -> Measure {
        measure(text, self.encoding, self.options.as_deref())
    }

    /// Returns a hash of recipient, sender and text. It is stored with the idempotency key to detect that a key is
    /// reused for another message. It uses the sender of the request, so that changing the connection's default sender
    /// does not affect retries.
    ///
    /// The hash is stored, so it must be the same in every release: FNV-1a, 64 bits.
    pub fn fingerprint(&self) -> u64 {
        let Submission { to, from, text, .. } = self;
        let from = from.as_ref().map_or("", Sender::as_str);
        let mut hash = Fnv1a::new();
        hash.add(&to.number().to_be_bytes());
        hash.add(from.as_bytes());
        // This octet never occurs in UTF-8, so it separates sender and text.
        hash.add(&[0xff]);
        hash.add(text.as_str().as_bytes());
        hash.0
    }
}

/// Returns the encoding and the number of parts of a submission.
pub fn measure(text: &MessageText, encoding: Option<Encoding>, options: Option<&SmsOptions>) -> Measure {
    match (encoding, options) {
        (Some(encoding), Some(options)) if options.is_one_part() => Measure { encoding, parts: 1 },
        (Some(encoding), _) => text.measure_in(encoding),
        (None, _) => text.measure(),
    }
}

/// The customer's identifier of a request. A repeated one gets the first response and is not processed again.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct IdempotencyKey(Arc<str>);

/// Why a text is not an idempotency key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KeyRefusal {
    /// The APIs treat it as no key.
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

/// Prints the key escaped, because it is arbitrary text.
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
#[path = "submission_tests.rs"]
mod tests;
