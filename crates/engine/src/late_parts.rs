//! Moves messages whose receipts are late out of the table of parts. Most receipts arrive within minutes; those of a
//! few messages take days or never arrive. Without the move, every start, rollback and sweep would read their parts.

use crate::batch::Batch;
use crate::set_aside;
use crate::tables::{MessageKey, PartChange, PartRow, TableError};
use hermod_domain::lifecycle::PartState;
use hermod_domain::time::Timestamp;
use std::time::Duration;

/// The age from which the receipts of a message are late.
pub const LATE_AFTER: Duration = Duration::from_secs(600);

/// Whether the carrier has the part, and only receipts can change it.
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

/// Returns the messages whose receipts are late and of which all these parts are handed over. The parts must be in the
/// order of their keys. Other parts of the messages are checked by [`set_late`].
pub fn late_messages(parts: &[PartRow], now: Timestamp) -> Vec<MessageKey> {
    let accepted_by = now.minus(LATE_AFTER);
    let is_late = |parts: &&[PartRow]| {
        parts.iter().all(|row| is_handed_over(row.now.state) && row.key.message.accepted_at() <= accepted_by)
    };
    let messages = parts.chunk_by(|one, next| one.key == next.key).filter(is_late);
    messages.filter_map(|parts| Some(parts.first()?.key)).collect()
}

/// Moves messages to the table of late parts, except those that have a part that is not handed over.
pub fn set_late(batch: &mut Batch<'_>, keys: &[MessageKey], now: Timestamp) -> Result<(), TableError> {
    batch.advance_to(now);
    for key in keys {
        let states = batch.tables.part_states(*key);
        let states = set_aside::if_unreadable(batch, *key, states)?.unwrap_or_default();
        if states.iter().all(|part| is_handed_over(part.state)) {
            batch.tables.write(PartChange::SetLate(*key));
        }
    }
    Ok(())
}
