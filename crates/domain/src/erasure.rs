//! Erasures of phone numbers that are kept, so that they can be made again in a restored backup and on a node that was away. A
//! number is kept as a keyed digest: it can be recognised, not read.

use crate::ids::{AccountId, MessageId};
use crate::phone::Msisdn;
use crate::time::Timestamp;
use hmac::{Hmac, KeyInit, Mac};
use serde::{Deserialize, Serialize};
use sha2::Sha256;
use std::fmt;
use std::time::Duration;

/// How long an erasure is kept: as long as messages by default. Older backups are not to be restored.
pub const ERASURES_KEPT: Duration = Duration::from_secs(400 * 86_400);

/// The key of the digests. It is derived from the pepper.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct ErasureKey(pub [u8; 32]);

impl fmt::Debug for ErasureKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ErasureKey(..)")
    }
}

impl ErasureKey {
    /// Returns the digest of a number.
    pub fn digest(self, number: Msisdn) -> NumberDigest {
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.0).expect("HMAC takes a key of any length");
        mac.update(&number.number().to_be_bytes());
        NumberDigest(mac.finalize().into_bytes().into())
    }
}

/// A keyed digest of a phone number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct NumberDigest(pub [u8; 32]);

impl NumberDigest {
    /// Returns its beginning, as the request log keeps it of a recipient.
    pub fn shortened(self) -> ShortDigest {
        let first = self.0.first_chunk().expect("a digest has 32 octets");
        ShortDigest(i64::from_be_bytes(*first) >> (i64::BITS - ShortDigest::BITS))
    }
}

/// The beginning of a keyed digest of a phone number: 48 bits. Among the recipients of ten million requests, a search for one
/// number finds another one with a chance of one to 28 million, and SQLite stores it in six octets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ShortDigest(i64);

impl ShortDigest {
    const BITS: u32 = 48;

    pub const fn to_stored(self) -> i64 {
        self.0
    }

    pub const fn from_stored(stored: i64) -> ShortDigest {
        ShortDigest(stored)
    }
}

/// What an erasure covers: a number in the data of one account or of all, up to a time. What is stored later stays, also if
/// the erasure is made again: the person may have become a recipient again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ErasureScope {
    pub number: Msisdn,
    pub account: Option<AccountId>,
    pub until: Timestamp,
}

impl ErasureScope {
    /// Returns the lowest message id that is not covered.
    pub fn first_left(&self) -> MessageId {
        MessageId::first_at(self.until.plus(Duration::from_millis(1)))
    }

    pub fn covers(&self, account: AccountId, at: Timestamp) -> bool {
        self.account.is_none_or(|of| of == account) && at <= self.until
    }
}

/// An erasure of a number in the data of one account or of all, up to the time when it was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct KeptErasure {
    pub digest: NumberDigest,
    pub account: Option<AccountId>,
    pub at: Timestamp,
}

impl KeptErasure {
    /// Returns what it erases: a number, in the data of one account or of all.
    pub fn key(&self) -> (NumberDigest, Option<AccountId>) {
        (self.digest, self.account)
    }
}
