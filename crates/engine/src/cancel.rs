//! Cancels a message while no carrier has, or may have, any of its parts.

use crate::batch::Batch;
use crate::ops::{CancelOutcome, ExpectedParties};
use crate::progress::{self, Applied};
use crate::state::aliases;
use crate::steps::{Canceller, StepKind};
use crate::tables::{MessageKey, TableError};
use hermod_domain::ids::{AccountId, CarrierId, MessageId, PartNo};
use hermod_domain::lifecycle::{Part, PartEvent, PartState};
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

/// Cancels messages for the operator and refunds their costs. Skips those that another queue has by now. Those of which a
/// carrier has, or may have, a part are stopped if `stops_sent` is set, and skipped otherwise. Returns how many were cancelled or
/// stopped.
pub fn waiting(
    batch: &mut Batch<'_>,
    keys: &[MessageKey],
    stops_sent: bool,
    now: Timestamp,
) -> Result<usize, TableError> {
    batch.advance_to(now);
    let mut changed = 0;
    for key in keys {
        let is_changed = withdraw(batch, *key, Canceller::Operator)? || (stops_sent && stop(batch, *key)?);
        changed += usize::from(is_changed);
    }
    Ok(changed)
}

/// Sends nothing more of a message that a carrier may have: a part that may have been sent is not sent again and counts as
/// submitted; if another part was never sent, the message ends as rejected. Nothing is refunded. Returns whether anything of it
/// waited. A message of which a part is being sent now stays as it is.
fn stop(batch: &mut Batch<'_>, key: MessageKey) -> Result<bool, TableError> {
    let Some(progress) = progress::load(batch.tables, key)? else { return Ok(false) };
    let events: Vec<_> =
        progress.parts.iter().zip(PartNo::up_to(u8::MAX)).filter_map(stopping_event).collect();
    if events.is_empty() || progress.parts.iter().any(|part| part.state == PartState::Sending) {
        return Ok(false);
    }
    // The end of the message, if there is one, is the last event.
    let (in_doubt, unsent): (Vec<_>, Vec<_>) =
        events.into_iter().partition(|(_, event)| *event == PartEvent::ValidityEnded);
    for (part, event) in in_doubt.into_iter().chain(unsent.into_iter().take(1)) {
        let step = Some(StepKind::Cancelled { by: Canceller::Operator });
        progress::apply(batch, key, part, event, 0, None, step)?;
    }
    batch.state.lanes.remove_message(key.carrier, key.account, key.message);
    Ok(true)
}

/// Returns the event that stops a part; none if it does not wait.
fn stopping_event((part, no): (&Part, PartNo)) -> Option<(PartNo, PartEvent)> {
    let waits = matches!(part.state, PartState::Queued | PartState::InDoubt);
    // A part in doubt is not sent after its validity, and counts as submitted then.
    let event = if part.doubts > 0 { PartEvent::ValidityEnded } else { PartEvent::Withdrawn };
    waits.then_some((no, event))
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
