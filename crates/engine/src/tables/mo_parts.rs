//! The table of parts of concatenated MO messages, and what was received before.

use crate::tables::TableError;
use hermod_domain::ids::CarrierId;
use hermod_domain::inbound::MoSegment;
use hermod_domain::origin::SmppAddress;
use hermod_domain::time::Timestamp;
use serde::{Deserialize, Serialize};

/// The id of an unfinished MO message: one of which parts are missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnfinishedId(pub u64);

/// What the parts of one MO message have in common.
#[derive(Clone, Serialize, Deserialize)]
pub struct UnfinishedKey {
    pub carrier: CarrierId,
    pub source: String,
    pub destination: String,
    pub reference: u16,
    pub total: u8,
}

/// How much of an MO message was received.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnfinishedSize {
    pub parts: u32,
    pub octets: usize,
}

/// An unfinished MO message as it is found for a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnfinishedFound {
    pub id: UnfinishedId,
    pub size: UnfinishedSize,
    /// A part of this number was received already.
    pub has_part: bool,
}

/// An unfinished MO message as its delivery needs it, without its parts.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unfinished {
    pub carrier: CarrierId,
    pub source: SmppAddress,
    pub destination: SmppAddress,
    pub total: u8,
    pub since: Timestamp,
}

/// A digest of an MO message or part that a carrier delivered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SeenKey {
    pub carrier: CarrierId,
    #[serde(with = "hermod_domain::octets")]
    pub digest: [u8; 16],
}

/// A change of the tables.
#[derive(Clone, Serialize, Deserialize)]
pub enum MoPartChange {
    /// Until when a digest is known.
    Seen {
        key: SeenKey,
        until: Timestamp,
    },
    DeleteSeen(SeenKey),
    /// A new message that has no parts yet.
    AddUnfinished {
        id: UnfinishedId,
        unfinished: Box<Unfinished>,
        key: UnfinishedKey,
    },
    UnfinishedSince {
        id: UnfinishedId,
        since: Timestamp,
    },
    UnfinishedSize {
        id: UnfinishedId,
        size: UnfinishedSize,
    },
    /// A message is deleted, but not its parts.
    DeleteUnfinished(UnfinishedId),
    AddPart {
        id: UnfinishedId,
        no: u8,
        segment: MoSegment,
    },
    /// The parts of a message are deleted.
    DeleteParts(UnfinishedId),
}

/// Reads and writes parts of concatenated MO messages, and what was received before.
pub trait MoPartRows {
    /// Applies a change.
    fn change_mo_parts(&self, change: &MoPartChange) -> Result<(), TableError>;

    /// Returns until when a digest is known.
    fn seen_until(&self, key: &SeenKey) -> Result<Option<Timestamp>, TableError>;

    /// Returns the digests that are known until a time or shorter, the shortest first, at most `limit`.
    fn seen_no_longer_than(&self, until: Timestamp, limit: usize) -> Result<Vec<SeenKey>, TableError>;

    /// Returns the digests that are known longer than this.
    fn seen_longer_than(&self, until: Timestamp) -> Result<Vec<SeenKey>, TableError>;

    /// Returns for every carrier the number of parts that its unfinished messages have.
    fn unfinished_parts(&self) -> Result<Vec<(CarrierId, u64)>, TableError>;

    /// Returns since when the oldest unfinished message waits.
    fn oldest_unfinished_since(&self) -> Result<Option<Timestamp>, TableError>;

    /// Returns the unfinished message with a key, and whether it has part `no`.
    fn find_unfinished(&self, key: &UnfinishedKey, no: u8) -> Result<Option<UnfinishedFound>, TableError>;

    /// Returns the highest id of the unfinished messages.
    fn last_unfinished(&self) -> Result<Option<UnfinishedId>, TableError>;

    /// Returns a carrier's oldest unfinished message.
    fn oldest_unfinished(&self, carrier: CarrierId) -> Result<Option<UnfinishedId>, TableError>;

    /// Returns the messages that wait since a time or longer, the oldest first, at most `limit`.
    fn unfinished_since(&self, since: Timestamp, limit: u32) -> Result<Vec<UnfinishedId>, TableError>;

    /// Returns the messages whose wait began later than this.
    fn unfinished_after(&self, since: Timestamp) -> Result<Vec<UnfinishedId>, TableError>;

    /// Returns an unfinished message. That there is none with this id is an error.
    fn unfinished(&self, id: UnfinishedId) -> Result<Unfinished, TableError>;

    /// Returns the parts of a message in their order, each with its number.
    fn mo_parts(&self, id: UnfinishedId) -> Result<Vec<(u8, MoSegment)>, TableError>;
}
