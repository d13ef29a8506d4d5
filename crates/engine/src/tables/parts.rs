//! The table of parts of messages that have not ended.

use crate::ops::Job;
use crate::tables::{MessageOrigin, TableError};
use hermod_domain::ids::{AccountId, CarrierId, MessageId, PartNo};
use hermod_domain::lifecycle::{DoubtPolicy, MessageState, Part, Parts};
use hermod_domain::money::Money;
use hermod_domain::phone::Msisdn;
use hermod_domain::time::Timestamp;
use serde::{Deserialize, Serialize};

/// The key of a message's parts. It names the carrier, because the parts of one lane are a range of keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct MessageKey {
    pub carrier: CarrierId,
    pub account: AccountId,
    pub message: MessageId,
}

/// The key of a message's parts as it is stored. It may be invalid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredMessageKey {
    pub carrier: i64,
    pub account: i64,
    pub message: i64,
}

impl StoredMessageKey {
    /// Returns the key, if all its numbers are valid.
    pub fn to_key(self) -> Option<MessageKey> {
        Some(MessageKey {
            carrier: CarrierId::new(u32::try_from(self.carrier).ok()?),
            account: AccountId::new(u32::try_from(self.account).ok()?),
            message: MessageId::from_i64(self.message)?,
        })
    }
}

impl From<MessageKey> for StoredMessageKey {
    fn from(MessageKey { carrier, account, message }: MessageKey) -> StoredMessageKey {
        StoredMessageKey {
            carrier: carrier.get().into(),
            account: account.get().into(),
            message: message.as_i64(),
        }
    }
}

/// A message with a part that cannot be read, and the reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnreadablePart {
    pub key: StoredMessageKey,
    pub reason: String,
}

/// The row of a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartRow {
    pub key: MessageKey,
    pub part: PartNo,
    pub now: Part,
    /// What is done if there is no response.
    pub doubt: DoubtPolicy,
    /// Temporary errors so far.
    pub attempts: u32,
    /// The time that it waits for; none if it waits for a slot, or does not wait.
    pub due_at: Option<Timestamp>,
    pub expires_at: Timestamp,
}

/// The place in a lane up to which the table was read: (message, part).
pub type Cursor = (MessageId, PartNo);

/// A read of the next jobs of a lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LaneRead {
    pub carrier: CarrierId,
    pub account: AccountId,
    pub after: Option<Cursor>,
    pub limit: usize,
}

/// A change of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum PartChange {
    Add(PartRow),
    /// The state and the due time of a part; and its attempts, if they are given.
    State {
        key: MessageKey,
        part: PartNo,
        now: Part,
        due_at: Option<Timestamp>,
        attempts: Option<u32>,
    },
    DueTime {
        key: MessageKey,
        part: PartNo,
        due_at: Option<Timestamp>,
    },
    Expiry {
        key: MessageKey,
        part: PartNo,
        expires_at: Timestamp,
    },
    /// The parts of a message move to another carrier, with this due time.
    Move {
        key: MessageKey,
        to: CarrierId,
        due_at: Option<Timestamp>,
    },
    /// The parts of a message are deleted.
    Delete(MessageKey),
    /// The receipts of a message are late. Its parts stand apart from then on, where all reads of one message's parts find
    /// them and all other reads of this table but that by expiry do not.
    SetLate(MessageKey),
}

impl PartChange {
    /// Returns the key of the message whose parts change.
    pub fn key(&self) -> MessageKey {
        match *self {
            PartChange::Add(PartRow { key, .. })
            | PartChange::State { key, .. }
            | PartChange::DueTime { key, .. }
            | PartChange::Expiry { key, .. }
            | PartChange::Move { key, .. }
            | PartChange::Delete(key)
            | PartChange::SetLate(key) => key,
        }
    }
}

/// A message that has not ended: the rows of its parts in order, and what its own row says.
#[derive(Clone, Debug)]
pub struct OpenMessage {
    pub parts: Vec<PartRow>,
    /// None if the message has no row, or one that cannot be read.
    pub message: Option<OpenMessageRow>,
}

/// The row of a message that has not ended, as far as its events need it.
#[derive(Clone, Debug)]
pub struct OpenMessageRow {
    pub state: MessageState,
    pub cost: Money,
    pub origin: MessageOrigin,
}

/// A part that waits for a slot, with what its events need: then the part of a message with one needs no other read.
#[derive(Clone, Debug)]
pub struct WaitingJob {
    pub job: Job,
    pub now: Part,
    /// None if it cannot be read.
    pub origin: Option<MessageOrigin>,
}

/// How many parts of an account a carrier has, by what they wait for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LaneCounts {
    pub carrier: CarrierId,
    pub account: AccountId,
    /// Parts that wait: queued, or in doubt.
    pub waiting: u64,
    /// Parts that are being sent.
    pub in_flight: u64,
    /// Of those that wait, the parts without a due time.
    pub for_a_slot: u64,
}

/// The key of a deferred part in its lane: the soonest is first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct DueKey {
    pub at: Timestamp,
    pub message: MessageId,
    pub part: PartNo,
}

/// A read of the deferred parts of a lane: the next ones behind a key, at most `limit`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DueRead {
    pub carrier: CarrierId,
    pub account: AccountId,
    pub after: Option<DueKey>,
    pub limit: usize,
}

/// A part that is being sent, and its recipient.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SendingPart {
    pub key: MessageKey,
    pub part: PartNo,
    pub to: Msisdn,
}

/// Rows that were read, and the parts among them whose rows are invalid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Readings<T> {
    pub rows: Vec<T>,
    pub unreadable: Vec<UnreadablePart>,
}

impl<T> Default for Readings<T> {
    fn default() -> Readings<T> {
        Readings { rows: Vec::new(), unreadable: Vec::new() }
    }
}

/// Reads and writes parts of messages that have not ended. A part waits while it is queued or in doubt.
pub trait PartRows {
    /// Applies a change.
    fn change_part(&self, change: &PartChange) -> Result<(), TableError>;

    /// Returns the row of a part.
    fn part(&self, key: MessageKey, part: PartNo) -> Result<Option<PartRow>, TableError>;

    /// Returns the rows of a message's parts, in order.
    fn parts(&self, key: MessageKey) -> Result<Vec<PartRow>, TableError>;

    /// Returns the states of a message's parts, in order.
    fn part_states(&self, key: MessageKey) -> Result<Parts, TableError>;

    /// Returns those of these messages that have parts, in any order. Those with a part that cannot be read are listed apart.
    fn open_messages(&self, keys: &[MessageKey]) -> Result<Readings<OpenMessage>, TableError>;

    /// Returns those of these parts that wait, as jobs, in any order.
    fn waiting_jobs_at(&self, parts: &[(MessageKey, PartNo)]) -> Result<Readings<Job>, TableError>;

    /// Returns a part as a job, if it waits.
    fn waiting_job(&self, key: MessageKey, part: PartNo) -> Result<Option<Job>, TableError>;

    /// Returns the next parts of a lane that wait and have no due time, in order.
    fn waiting_jobs(&self, refill: LaneRead) -> Result<Readings<WaitingJob>, TableError>;

    /// Returns the counts of every lane that has parts.
    fn lane_counts(&self) -> Result<Vec<LaneCounts>, TableError>;

    /// Returns the next parts of a lane that wait and have a due time, the soonest first.
    fn due_keys(&self, read: DueRead) -> Result<Vec<DueKey>, TableError>;

    /// Returns the next parts of all lanes that wait and have a due time, behind this one: lane by lane, the soonest
    /// first, so many at most.
    fn deferred_parts(&self, after: Option<&PartRow>, limit: usize) -> Result<Vec<PartRow>, TableError>;

    /// Returns deferred parts whose rows are invalid.
    fn unreadable_deferred_parts(&self) -> Result<Vec<UnreadablePart>, TableError>;

    /// Returns the parts that are being sent.
    fn sending_parts(&self) -> Result<Readings<SendingPart>, TableError>;

    /// Returns the parts that expire later than this.
    fn parts_expiring_after(&self, at: Timestamp) -> Result<Vec<PartRow>, TableError>;
}
