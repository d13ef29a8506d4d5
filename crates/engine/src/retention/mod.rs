//! Letting go of what is old, in small steps: first a message's text, much later its record, and messages from handsets.
//! Ids are in the order of time, so what is due is a range, and a mark says how far it has been dealt with: a step reads
//! nothing twice, and one that a crash undoes is done again. Each is one short transaction; the caller pauses between.

mod inbound;
mod records;
mod texts;

use crate::batch::Batch;
use crate::ops::{GIVEN_UP_KEPT, HOOKS_KEPT, Purged, REPORT_KEPT, Retention};
use crate::tables::{Place, TableError};
use hermod_domain::ids::MessageId;
use hermod_domain::lifecycle::PartState;
use hermod_domain::time::Timestamp;
use std::time::Duration;

/// Rows that one step deals with.
pub const PURGED_PER_STEP_MAX: u32 = 500;

/// A record stays for so long after anything was last said of its message, however old it is: a report may still wait to be
/// told, be listed as given up, or be replayed. It only matters to a gateway that was away for most of a year.
const QUIET: Duration = Duration::from_secs(40 * 86_400);

const _: () = assert!(QUIET.as_secs() > REPORT_KEPT.as_secs() + GIVEN_UP_KEPT.as_secs());
const _: () = assert!(QUIET.as_secs() > HOOKS_KEPT.as_secs() + REPORT_KEPT.as_secs());

impl Batch<'_> {
    /// Texts go first: where both are due, the record goes with its text gone already.
    pub fn purge_messages(&mut self, keep: Retention, now: Timestamp) -> Result<Purged, TableError> {
        self.at(now);
        let texts = self.purge_texts(MessageId::first_at(now.minus(keep.text)))?;
        if texts > 0 {
            return Ok(Purged { texts, ..Purged::default() });
        }
        // Whole days, so that a day's idempotency keys can go before any of its messages.
        let day = now.minus(keep.messages).day();
        let keys = self.purge_keys(day)?;
        if keys > 0 {
            return Ok(Purged { keys, ..Purged::default() });
        }
        let messages = self.purge_records(MessageId::first_at(day.start()))?;
        Ok(Purged { messages, ..Purged::default() })
    }

    /// Returns whether parts of a message are still to be sent. It needs its text then, however old it is: not for long,
    /// because its validity ends.
    fn is_still_to_be_sent(&self, place: Place) -> Result<bool, TableError> {
        let to_be_sent = [PartState::Queued, PartState::Sending, PartState::InDoubt];
        Ok(self.tables.part_states(place)?.iter().any(|part| to_be_sent.contains(&part.state)))
    }
}
