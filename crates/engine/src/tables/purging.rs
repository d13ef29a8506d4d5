//! What retention reads and deletes, and the marks up to which it has.

use crate::tables::{TableError, UnreadablePart};
use hermod_domain::ids::{AccountId, CarrierId, MessageId};
use hermod_domain::money::Money;
use hermod_domain::origin::{Alias, Origin};
use hermod_domain::time::Timestamp;
use serde::{Deserialize, Serialize};
use std::ops::RangeInclusive;

/// What a mark counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum PurgeMark {
    Texts,
    Records,
    /// Idempotency keys: void up to the mark, and deleted some time later.
    Keys,
}

/// How a message was submitted over SMPP, as its row has it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OriginRow {
    pub origin: Origin,
    /// The message's short id, if its bind needs one.
    pub alias: Option<Alias>,
}

/// A message whose text may be due.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextRow {
    pub id: MessageId,
    pub carrier: CarrierId,
    pub account: AccountId,
    pub has_ended: bool,
    pub origin: Option<OriginRow>,
}

/// A message whose record may be due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordRow {
    pub id: MessageId,
    pub carrier: CarrierId,
    pub account: AccountId,
    pub cost: Money,
    pub settled_at: Option<Timestamp>,
    /// None also if its origin is invalid: the message is purged all the same.
    pub alias: Option<Alias>,
}

/// A message whose row is invalid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnreadableMessage {
    pub id: MessageId,
    pub part: UnreadablePart,
}

/// Message ids from one to another, both included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MessageRange {
    pub first: MessageId,
    pub last: MessageId,
}

impl MessageRange {
    /// Returns the ids as they are stored.
    pub fn stored(self) -> RangeInclusive<i64> {
        self.first.as_i64()..=self.last.as_i64()
    }
}

/// A change of any table that retention makes.
#[derive(Clone, Serialize, Deserialize)]
pub enum PurgeChange {
    /// All messages up to this one are purged.
    Mark {
        mark: PurgeMark,
        last: MessageId,
    },
    /// Messages have no text any more, and nothing else that the customer wrote beside their origin.
    DeleteTexts(MessageRange),
    Origin {
        message: MessageId,
        origin: OriginRow,
    },
    /// Messages are deleted, but not what other tables have of them.
    DeleteMessages(MessageRange),
    DeleteTimelines(MessageRange),
}

/// Reads and deletes what is past its retention.
pub trait PurgingRows {
    /// Applies a change.
    fn change_by_purging(&self, change: &PurgeChange) -> Result<(), TableError>;

    /// Returns the last message that is purged, by a mark.
    fn last_purged(&self, mark: PurgeMark) -> Result<Option<MessageId>, TableError>;

    /// Returns messages behind one and before another, in order, as purging their texts needs them.
    fn texts_between(
        &self,
        after: Option<MessageId>,
        before: MessageId,
        limit: u32,
    ) -> Result<Vec<Result<TextRow, UnreadableMessage>>, TableError>;

    /// Returns messages behind one and before another, in order, as purging their records needs them.
    fn records_between(
        &self,
        after: Option<MessageId>,
        before: MessageId,
        limit: u32,
    ) -> Result<Vec<Result<RecordRow, UnreadableMessage>>, TableError>;

    /// Returns the first MO messages of an account, by id, and when each was received.
    fn first_inbound(&self, account: AccountId, limit: u32) -> Result<Vec<(u64, Timestamp)>, TableError>;
}
