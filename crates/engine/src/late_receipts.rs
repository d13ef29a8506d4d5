//! Messages whose receipts are late leave the table of parts. Most receipts come within minutes; those of a few messages
//! come days later or never, and their parts would be passed over by every start, rollback and sweep meanwhile.

use crate::batch::Batch;
use crate::tables::{PartChange, PartRow, MessageKey, TableError};
use hermod_domain::lifecycle::PartState;
use hermod_domain::time::Timestamp;
use std::time::Duration;

/// How long after it was accepted a message's receipts are late.
pub const LATE_AFTER: Duration = Duration::from_secs(600);

/// Whether a part is done with: its carrier has it, and only receipts can happen to it.
const fn is_handed_over(state: PartState) -> bool {
    match state {
        PartState::Presumed
        | PartState::Sent
        | PartState::Enroute
        | PartState::Overdue
        | PartState::Delivered => true,
        PartState::Queued
        | PartState::Sending
        | PartState::InDoubt
        | PartState::Undeliverable
        | PartState::Expired
        | PartState::Rejected => false,
    }
}

/// Returns the messages among these parts that are handed over whole and whose receipts are late. The parts are in the
/// order of their keys. Those of a message that are not among them are not looked at: see [`Batch::set_late`].
pub fn late_messages(parts: &[PartRow], now: Timestamp) -> Vec<MessageKey> {
    let accepted_by = now.minus(LATE_AFTER);
    let is_late = |parts: &&[PartRow]| {
        parts
            .iter()
            .all(|row| is_handed_over(row.now.state) && row.key.message.accepted_at() <= accepted_by)
    };
    let messages = parts.chunk_by(|one, next| one.key == next.key).filter(is_late);
    messages.filter_map(|parts| Some(parts.first()?.key)).collect()
}

impl Batch<'_> {
    /// Moves messages among those whose receipts are late, unless some part is not handed over.
    pub fn set_late(&mut self, keys: &[MessageKey], now: Timestamp) -> Result<(), TableError> {
        self.advance_to(now);
        for key in keys {
            let states = self.tables.read()?.part_states(*key);
            let states = self.or_set_aside(*key, states)?.unwrap_or_default();
            if states.iter().all(|part| is_handed_over(part.state)) {
                self.tables.write(PartChange::SetLate(*key));
            }
        }
        Ok(())
    }
}
