//! Purges old data in small steps: first the text of a message, much later its record; and MO messages. Ids are in the
//! order of time, so what is due is a range of ids, and a mark says up to which id it was purged. No step reads a row
//! twice, and a step that a crash undid is repeated. Each step is one short transaction; the caller pauses between
//! steps.

mod records;
mod texts;

use crate::batch::Batch;
use crate::ops::{GIVEN_UP_KEPT, REPORT_KEPT, Retention, WEBHOOKS_KEPT};
use crate::set_aside;
use crate::tables::{MessageKey, PurgeChange, TableError};
use hermod_domain::ids::{AccountId, MessageId};
use hermod_domain::lifecycle::PartState;
use hermod_domain::time::Timestamp;
use std::time::Duration;

/// Rows that one step purges at most.
pub const PURGED_PER_STEP_MAX: u32 = 250;

/// How long after the end of a message its record is kept, also beyond its retention. Until then a report about it may still be
/// delivered, listed as given up, or replayed. Matters only after a downtime of most of a year.
const QUIET: Duration = Duration::from_secs(40 * 86_400);

const _: () = assert!(QUIET.as_secs() > REPORT_KEPT.as_secs() + GIVEN_UP_KEPT.as_secs());
const _: () = assert!(QUIET.as_secs() > WEBHOOKS_KEPT.as_secs() + REPORT_KEPT.as_secs());

impl Batch<'_> {
    /// Deletes the texts of some messages that are past their retention. Returns how many messages it passed.
    pub fn purge_texts(&mut self, keep: Retention, now: Timestamp) -> Result<u64, TableError> {
        self.advance_to(now);
        self.purge_texts_before(MessageId::first_at(now.minus(keep.text)))
    }

    /// Makes the idempotency keys void that are past their retention, in whole days. Returns whether there may be any.
    pub fn expire_keys(&mut self, keep: Retention, now: Timestamp) -> Result<bool, TableError> {
        self.advance_to(now);
        let day = now.minus(keep.idempotency_keys.min(keep.messages)).day();
        Ok(self.state.keys.expire(self.tables, MessageId::first_at(day.start())))
    }

    /// Deletes the records of some messages that are past their retention, in whole days. Returns how many messages it
    /// passed.
    pub fn purge_records(&mut self, keep: Retention, now: Timestamp) -> Result<u64, TableError> {
        // No key may be found whose message is deleted.
        self.expire_keys(keep, now)?;
        let day = now.minus(keep.messages).day();
        self.purge_records_before(MessageId::first_at(day.start()))
    }

    /// Deletes some carrier ids that are so old that no receipt can refer to them. Returns how many.
    pub fn purge_carrier_ids(&mut self, now: Timestamp) -> Result<u64, TableError> {
        self.advance_to(now);
        self.state.carrier_ids.purge_days(self.tables, now.day(), PURGED_PER_STEP_MAX)
    }

    /// Deletes the oldest MO messages of an account that were received before a time. The remaining numbers have no
    /// gap. Returns how many were deleted.
    pub fn purge_inbound(&mut self, account: AccountId, before: Timestamp) -> Result<u64, TableError> {
        let first = self.tables.read()?.first_inbound(account, PURGED_PER_STEP_MAX)?;
        let old: Vec<u64> = first
            .into_iter()
            .take_while(|(_, received_at)| *received_at < before)
            .map(|(id, _)| id)
            .collect();
        let Some(last) = old.last().copied() else { return Ok(0) };
        self.tables.write(PurgeChange::DeleteInboundUpTo { account, last });
        let done = u64::try_from(old.len()).unwrap_or(0);
        self.tally.purged.inbound += done;
        Ok(done)
    }

    /// Whether parts of a message are still to be sent. Then its text is needed until its validity ends, also beyond its
    /// retention.
    fn is_still_to_be_sent(&mut self, key: MessageKey) -> Result<bool, TableError> {
        let to_be_sent = [PartState::Queued, PartState::Sending, PartState::InDoubt];
        let parts = self.tables.read()?.part_states(key);
        let parts = set_aside::if_unreadable(self, key, parts)?.unwrap_or_default();
        Ok(parts.iter().any(|part| to_be_sent.contains(&part.state)))
    }
}
