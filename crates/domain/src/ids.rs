//! Identifiers. Each kind has its own type, so that they cannot be confused.
//!
//! Message ids contain their time: 41 bits of milliseconds since 2025, 8 bits of node, 10 bits of sequence. New rows
//! are therefore appended and old ones deleted by range, and customers get a decimal number of 10 to 18 digits, which
//! all known SMPP clients accept.

use std::fmt;
use std::num::NonZeroU8;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use smallvec::SmallVec;

use crate::octets;
use crate::time::Timestamp;

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(u32);

        impl $name {
            pub const fn new(id: u32) -> $name {
                $name(id)
            }

            pub const fn get(self) -> u32 {
                self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(&self.0, f)
            }
        }
    };
}

id!(
    /// A customer.
    AccountId
);
id!(
    /// One access of an account, by HTTP or SMPP.
    ConnectionId
);
id!(
    /// An API key of an HTTP connection.
    KeyId
);
id!(
    /// An upstream SMSC.
    CarrierId
);
impl CarrierId {
    /// The queue of the messages that an operator holds: no carrier has this id, so nothing of it is sent.
    pub const HELD: CarrierId = CarrierId::new(0);
}

id!(
    /// A route.
    RouteId
);
id!(
    /// A price list.
    PriceListId
);
id!(
    /// An entry with a carrier's cost.
    CostId
);
id!(
    /// A sender ID registered for an account.
    SenderId
);

/// 2025-01-01T00:00:00Z. 41 bits of milliseconds last from there until September 2094.
const EPOCH_MS: i64 = 1_735_689_600_000;
const MILLIS_BITS: u32 = 41;
const NODE_BITS: u32 = 8;
const SEQUENCE_BITS: u32 = 10;
const MILLIS_MAX: u64 = (1 << MILLIS_BITS) - 1;
const SEQUENCE_MAX: u64 = (1 << SEQUENCE_BITS) - 1;
const ID_BITS: u32 = MILLIS_BITS + NODE_BITS + SEQUENCE_BITS;
const ID_DIGITS_MAX: usize = 18;
/// The first millisecond whose ids have ten digits.
const MINTED_MILLIS_MIN: u64 = 1_000_000_000_u64.div_ceil(1 << (NODE_BITS + SEQUENCE_BITS));

const _: () = assert!(ID_BITS == 59);
const _: () = assert!(1_u64 << ID_BITS < 10_u64.pow(18));

/// The id of a message: 59 bits, in order of acceptance. APIs write it as a decimal string.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MessageId(u64);

impl MessageId {
    /// Parses the decimal form only: a padded, signed or hexadecimal id is not the one that was issued.
    pub fn parse(text: &str) -> Option<MessageId> {
        if text.len() > ID_DIGITS_MAX || text.starts_with('0') || !text.bytes().all(|b| b.is_ascii_digit()) {
            return None;
        }
        text.parse().ok().and_then(MessageId::from_bits)
    }

    /// Converts the integer that the store keeps; `None` if it is no message id.
    pub fn from_i64(stored: i64) -> Option<MessageId> {
        u64::try_from(stored).ok().and_then(MessageId::from_bits)
    }

    pub fn as_i64(self) -> i64 {
        i64::try_from(self.0).expect("59 bits fit an i64")
    }

    /// Returns the time of the id: the acceptance of its message, except where the mint ran ahead of the clock.
    pub fn accepted_at(self) -> Timestamp {
        let since_epoch = i64::try_from(self.millis()).expect("41 bits fit an i64");
        Timestamp::from_millis(EPOCH_MS + since_epoch)
    }

    /// Returns the lowest id of a millisecond: all messages accepted before `at` have lower ids.
    pub fn first_at(at: Timestamp) -> MessageId {
        MessageId(millis_of(at) << (NODE_BITS + SEQUENCE_BITS))
    }

    pub fn node(self) -> u8 {
        let bits = self.0 >> SEQUENCE_BITS & u64::from(u8::MAX);
        u8::try_from(bits).expect("masked to 8 bits")
    }

    fn from_bits(bits: u64) -> Option<MessageId> {
        (bits >> ID_BITS == 0).then_some(MessageId(bits))
    }

    const fn millis(self) -> u64 {
        self.0 >> (NODE_BITS + SEQUENCE_BITS)
    }
}

fn millis_of(at: Timestamp) -> u64 {
    let since_epoch = at.as_millis().saturating_sub(EPOCH_MS);
    u64::try_from(since_epoch).unwrap_or(0).min(MILLIS_MAX)
}

impl fmt::Display for MessageId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

/// Serializes as a string, because JSON readers with double-precision numbers would round it; as its integer in binary
/// formats.
impl Serialize for MessageId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if serializer.is_human_readable() {
            serializer.collect_str(self)
        } else {
            serializer.serialize_u64(self.0)
        }
    }
}

impl<'de> Deserialize<'de> for MessageId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<MessageId, D::Error> {
        let id = if deserializer.is_human_readable() {
            MessageId::parse(&String::deserialize(deserializer)?)
        } else {
            MessageId::from_bits(u64::deserialize(deserializer)?)
        };
        id.ok_or_else(|| de::Error::custom("not a message id"))
    }
}

/// Issues message ids, each greater than the one before. With more than 1024 ids in a millisecond, or after the clock
/// was set back, it runs ahead of the clock.
#[derive(Debug)]
pub struct IdMint {
    node: u8,
    /// The millisecond and sequence of the last id.
    millis: u64,
    sequence: u64,
}

impl IdMint {
    /// `after` is the highest existing id: every new one is greater, even if the clock was set back during a restart.
    pub fn new(node: u8, after: Option<MessageId>) -> IdMint {
        let millis = after.map_or(0, MessageId::millis).max(MINTED_MILLIS_MIN);
        IdMint { node, millis, sequence: SEQUENCE_MAX }
    }

    pub fn mint(&mut self, now: Timestamp) -> MessageId {
        let now_millis = millis_of(now);
        if now_millis > self.millis {
            (self.millis, self.sequence) = (now_millis, 0);
        } else if self.sequence < SEQUENCE_MAX {
            self.sequence += 1;
        } else {
            (self.millis, self.sequence) = (self.millis + 1, 0);
        }
        assert!(self.millis <= MILLIS_MAX, "message ids end in the year 2094");
        let millis = self.millis << (NODE_BITS + SEQUENCE_BITS);
        MessageId(millis | u64::from(self.node) << SEQUENCE_BITS | self.sequence)
    }
}

/// The number of a part in its message, from 1, as in a concatenation header.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct PartNo(NonZeroU8);

impl PartNo {
    pub const FIRST: PartNo = PartNo(NonZeroU8::MIN);

    pub const fn new(number: u8) -> Option<PartNo> {
        match NonZeroU8::new(number) {
            Some(number) => Some(PartNo(number)),
            None => None,
        }
    }

    pub const fn get(self) -> u8 {
        self.0.get()
    }

    /// Returns the index, from 0.
    pub fn index(self) -> usize {
        usize::from(self.get()) - 1
    }

    /// Returns parts 1 to `count`.
    pub fn up_to(count: u8) -> impl Iterator<Item = PartNo> {
        (1..=count).filter_map(PartNo::new)
    }
}

impl fmt::Display for PartNo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

/// SMPP v3.4 section 5.2.23: a message_id has at most 65 octets including the null.
pub const REMOTE_ID_OCTETS_MAX: usize = 64;

/// A carrier's id of a part, exactly as the carrier sent it. Ids may contain any octet, so the text form is Latin-1,
/// which is lossless and leaves ASCII ids unchanged.
#[derive(PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RemoteId(SmallVec<[u8; 24]>);

/// Copies the octets at once; the derived `clone` would copy them one by one.
impl Clone for RemoteId {
    fn clone(&self) -> RemoteId {
        RemoteId(SmallVec::from_slice(&self.0))
    }
}

/// Why octets are not a carrier's id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RemoteIdRefusal {
    #[error("the carrier gave an empty message id")]
    Empty,
    #[error("the carrier gave a message id of {0} octets, more than 64")]
    TooLong(usize),
    #[error("the text holds a character that is no octet")]
    NotOctets,
}

impl RemoteId {
    pub fn from_octets(octets: &[u8]) -> Result<RemoteId, RemoteIdRefusal> {
        match octets.len() {
            0 => Err(RemoteIdRefusal::Empty),
            1..=REMOTE_ID_OCTETS_MAX => Ok(RemoteId(SmallVec::from_slice(octets))),
            length => Err(RemoteIdRefusal::TooLong(length)),
        }
    }

    /// Parses the text form.
    pub fn from_text(text: &str) -> Result<RemoteId, RemoteIdRefusal> {
        let octets: Result<SmallVec<[u8; REMOTE_ID_OCTETS_MAX]>, _> =
            text.chars().map(u8::try_from).collect();
        RemoteId::from_octets(&octets.map_err(|_| RemoteIdRefusal::NotOctets)?)
    }

    pub fn octets(&self) -> &[u8] {
        &self.0
    }

    /// Returns the text form, which the store keeps.
    pub fn to_text(&self) -> String {
        self.0.iter().copied().map(char::from).collect()
    }
}

impl fmt::Display for RemoteId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.to_text())
    }
}

/// Prints the id escaped, so that a carrier cannot forge log lines.
impl fmt::Debug for RemoteId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RemoteId({:?})", self.to_text())
    }
}

/// Serializes the octets, for binary formats.
impl Serialize for RemoteId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        octets::serialize(&self.0, serializer)
    }
}

impl<'de> Deserialize<'de> for RemoteId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<RemoteId, D::Error> {
        RemoteId::from_octets(octets::deserialize(deserializer)?).map_err(de::Error::custom)
    }
}

#[cfg(test)]
#[path = "ids_tests.rs"]
mod tests;
