//! Letting go of what is old, in small steps: first a message's text, much later its record, and messages from handsets.
//! Ids are in the order of time, so what is due is a range, and a mark says how far it has been dealt with: a step reads
//! nothing twice, and one that a crash undoes is done again. Each is one short transaction; the caller pauses between.

mod records;
mod texts;

use crate::batch::Batch;
use crate::ops::{GIVEN_UP_KEPT, REPORT_KEPT, Retention, WEBHOOKS_KEPT};
use crate::tables::{MessageKey, PurgeChange, TableError};
use hermod_domain::ids::{AccountId, MessageId};
use hermod_domain::lifecycle::PartState;
use hermod_domain::time::Timestamp;
use std::time::Duration;

/// Rows that one step deals with.
pub const PURGED_PER_STEP_MAX: u32 = 250;

/// A record stays for so long after anything was last said of its message, however old it is: a report may still wait to be
/// told, be listed as given up, or be replayed. It only matters to a gateway that was away for most of a year.
const QUIET: Duration = Duration::from_secs(40 * 86_400);

const _: () = assert!(QUIET.as_secs() > REPORT_KEPT.as_secs() + GIVEN_UP_KEPT.as_secs());
const _: () = assert!(QUIET.as_secs() > WEBHOOKS_KEPT.as_secs() + REPORT_KEPT.as_secs());

impl Batch<'_> {
    /// Deletes the texts of some messages that are older than they are kept. Returns how many messages it dealt with.
    pub fn purge_texts(&mut self, keep: Retention, now: Timestamp) -> Result<u64, TableError> {
        self.advance_to(now);
        self.purge_texts_before(MessageId::first_at(now.minus(keep.text)))
    }

    /// Makes the idempotency keys void that are older than they are kept, of whole days. Returns whether there may be any.
    pub fn expire_keys(&mut self, keep: Retention, now: Timestamp) -> Result<bool, TableError> {
        self.advance_to(now);
        let day = now.minus(keep.idempotency_keys.min(keep.messages)).day();
        Ok(self.state.keys.expire(self.tables, MessageId::first_at(day.start())))
    }

    /// Deletes the records of some messages that are older than they are kept, of whole days. Returns how many messages it
    /// dealt with.
    pub fn purge_records(&mut self, keep: Retention, now: Timestamp) -> Result<u64, TableError> {
        // No key is found whose message is gone.
        self.expire_keys(keep, now)?;
        let day = now.minus(keep.messages).day();
        self.purge_records_before(MessageId::first_at(day.start()))
    }

    /// Deletes some ids that carriers gave so long ago that no receipt can ask for them. Returns how many.
    pub fn purge_carrier_ids(&mut self, now: Timestamp) -> Result<u64, TableError> {
        self.advance_to(now);
        self.state.carrier_ids.purge_days(self.tables, now.day(), PURGED_PER_STEP_MAX)
    }

    /// Deletes MO messages of an account that came before a time, from the front: what is left has no gaps, and its numbers
    /// go on. Returns how many it dealt with.
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

    /// Returns whether parts of a message are still to be sent. It needs its text then, however old it is: not for long,
    /// because its validity ends.
    fn is_still_to_be_sent(&mut self, key: MessageKey) -> Result<bool, TableError> {
        let to_be_sent = [PartState::Queued, PartState::Sending, PartState::InDoubt];
        let parts = self.tables.read()?.part_states(key);
        let parts = self.or_set_aside(key, parts)?.unwrap_or_default();
        Ok(parts.iter().any(|part| to_be_sent.contains(&part.state)))
    }
}
