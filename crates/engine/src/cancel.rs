//! Cancels a message while no carrier has, or may have, any of its parts.

use crate::batch::Batch;
use crate::ops::{CancelOutcome, ExpectedParties};
use crate::progress::{self, Applied};
use crate::state::aliases;
use crate::steps::{Canceller, StepKind};
use crate::tables::{MessageKey, TableError};
use hermod_domain::ids::{AccountId, CarrierId, MessageId, PartNo};
use hermod_domain::lifecycle::{Part, PartEvent};
use hermod_domain::origin::MessageName;
use hermod_domain::time::Timestamp;

/// Cancels a message of the account and refunds its cost, if all its parts are queued and none is in doubt. Returns
/// `NotFound` if the account has no such message with these parties, and `TooLate` otherwise.
pub fn message(
    batch: &mut Batch<'_>,
    account: AccountId,
    name: MessageName,
    expected: &ExpectedParties,
    now: Timestamp,
) -> Result<CancelOutcome, TableError> {
    batch.advance_to(now);
    let Some(message) = aliases::named(batch.tables, account, name)? else {
        return Ok(CancelOutcome::NotFound);
    };
    // Accepted in this batch: its id is not returned yet, so the caller guessed it.
    if batch.fresh.iter().any(|part| part.message == message) {
        return Ok(CancelOutcome::NotFound);
    }
    let Some(carrier) = carrier_of(batch, account, message, expected)? else {
        return Ok(CancelOutcome::NotFound);
    };
    let key = MessageKey { carrier, account, message };
    let cancelled = withdraw(batch, key, Canceller::Customer)?;
    Ok(if cancelled { CancelOutcome::Cancelled } else { CancelOutcome::TooLate })
}

/// Cancels messages for the operator and refunds their costs. Skips those of which a carrier has, or may have, a part, and
/// those that another queue has by now. Returns how many were cancelled.
pub fn waiting(batch: &mut Batch<'_>, keys: &[MessageKey], now: Timestamp) -> Result<usize, TableError> {
    batch.advance_to(now);
    let mut cancelled = 0;
    for key in keys {
        cancelled += usize::from(withdraw(batch, *key, Canceller::Operator)?);
    }
    Ok(cancelled)
}

/// Ends a message if none of its parts was touched. Returns whether it did.
fn withdraw(batch: &mut Batch<'_>, key: MessageKey, by: Canceller) -> Result<bool, TableError> {
    if !is_untouched(batch, key)? {
        return Ok(false);
    }
    let step = Some(StepKind::Cancelled { by });
    let applied = progress::apply(batch, key, PartNo::FIRST, PartEvent::Withdrawn, 0, None, step)?;
    let ended = matches!(applied, Applied::Moved { ended: true, .. });
    if ended {
        batch.state.lanes.remove_message(key.carrier, key.account, key.message);
    }
    Ok(ended)
}

/// Returns the carrier of a message that has the parties the customer expects.
fn carrier_of(
    batch: &Batch<'_>,
    account: AccountId,
    message: MessageId,
    expected: &ExpectedParties,
) -> Result<Option<CarrierId>, TableError> {
    let found = batch.tables.read()?.message_parties(account, message)?;
    let expected = found.filter(|parties| expected.include(&parties.from, parties.to));
    Ok(expected.map(|parties| parties.carrier))
}

/// Whether all parts of a message are queued and none was ever in doubt. A part that the carrier throttled counts.
fn is_untouched(batch: &Batch<'_>, key: MessageKey) -> Result<bool, TableError> {
    let Some(progress) = progress::load(batch.tables, key)? else { return Ok(false) };
    Ok(progress.parts.iter().all(|part| *part == Part::QUEUED))
}
