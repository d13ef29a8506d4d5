//! Moves messages to another carrier: after temporary errors, throttling or a refusal, or because their carrier cannot
//! send. A message moves only while no carrier has any part of it. Nothing is charged or refunded. Which carrier is
//! next, and whether the route allows it, is decided by the gateway.

use crate::batch::Batch;
use crate::carrier_costs::{self, Leaving};
use crate::entry_uses;
use crate::ops::{Move, NumberedEntry, TargetCarrier, Usage};
use crate::progress::{self, Applied, Wait};
use crate::set_aside;
use crate::state::deferred::DuePart;
use crate::steps::StepKind;
use crate::tables::{
    CarrierRefusal, MessageChange, MessageExceptionRow, MessageExceptions, MessageKey, PartChange, PartRow,
    RowChange, TableError,
};
use hermod_domain::ids::{CarrierId, PartNo};
use hermod_domain::lifecycle::{PartEvent, PartState};
use hermod_domain::time::Timestamp;
use std::time::Duration;

/// Temporary errors of a part after which its message fails over.
const FAILURES_BEFORE_FAILOVER: u32 = 2;
/// How long a message waits for a carrier that throttles its recipient before it fails over.
const THROTTLED_WAIT_MAX: Duration = Duration::from_secs(10);

/// Fails a message over after a temporary error. Returns whether it moved. With [`FAILURES_BEFORE_FAILOVER`] errors
/// it is sent at once. With more it keeps its growing waits, or two failing carriers would pass it back and forth
/// without a pause.
pub fn after_errors(
    batch: &mut Batch<'_>,
    key: MessageKey,
    part: PartNo,
    to: TargetCarrier,
    due_at: Timestamp,
) -> Result<bool, TableError> {
    let parts = set_aside::read_parts(batch, key)?;
    let failures = parts.iter().map(|part| part.attempts).max().unwrap_or(0);
    let ours = parts.iter().all(|part| is_movable(part, batch.now));
    if failures < FAILURES_BEFORE_FAILOVER
        || !ours
        || to.carrier == key.carrier
        || cannot_have(batch, key, to.carrier)?
    {
        return Ok(false);
    }
    let due_at = (failures > FAILURES_BEFORE_FAILOVER).then_some(due_at);
    move_parts(batch, key, &parts, to, due_at)?;
    note(batch, key, part, to.carrier);
    Ok(true)
}

/// Fails a message over whose recipient the carrier throttles. Returns whether it moved. It moves only once, or two
/// carriers that both throttle it would pass it back and forth.
pub fn after_throttling(
    batch: &mut Batch<'_>,
    key: MessageKey,
    part: PartNo,
    to: TargetCarrier,
) -> Result<bool, TableError> {
    if batch.now < key.message.accepted_at().plus(THROTTLED_WAIT_MAX)
        || to.carrier == key.carrier
        || has_failed_over(batch, key)?
        || cannot_have(batch, key, to.carrier)?
    {
        return Ok(false);
    }
    let parts = set_aside::read_parts(batch, key)?;
    if parts.is_empty() || !parts.iter().all(|part| is_movable(part, batch.now)) {
        return Ok(false);
    }
    move_parts(batch, key, &parts, to, None)?;
    note(batch, key, part, to.carrier);
    Ok(true)
}

fn note(batch: &mut Batch<'_>, key: MessageKey, part: PartNo, to: CarrierId) {
    let exceptions = MessageExceptions { has_failed_over: true, ..MessageExceptions::default() };
    let row = MessageExceptionRow { message: key.message, exceptions };
    batch.tables.write(RowChange::merge(row, ["failed_over"]));
    batch.add_step(key.message, part, StepKind::FailedOver { from: key.carrier, to });
}

fn has_failed_over(batch: &Batch<'_>, key: MessageKey) -> Result<bool, TableError> {
    Ok(batch.tables.read()?.message_exceptions(key.message)?.has_failed_over)
}

/// Fails a message over that the carrier refused for good. Returns whether the message continues. It moves once
/// none of its parts is being sent, and only if none was accepted; until then the refused part waits. A carrier
/// that refused a message never gets it again.
pub fn after_refusal(
    batch: &mut Batch<'_>,
    key: MessageKey,
    part: PartNo,
    status: u32,
    to: TargetCarrier,
) -> Result<bool, TableError> {
    let parts = set_aside::read_parts(batch, key)?;
    let refused = parts.iter().find(|row| row.part == part);
    let Some(refused) = refused.filter(|refused| refused.now.state == PartState::Sending) else {
        return Ok(false);
    };
    let others = || parts.iter().filter(|other| other.part != part);
    let on_their_way = others().any(|other| other.now.state == PartState::Sending);
    let ours = others().all(|other| is_movable(other, batch.now) || other.now.state == PartState::Sending);
    if !ours || to.carrier == key.carrier || cannot_have(batch, key, to.carrier)? {
        return Ok(false);
    }
    let attempts = refused.attempts + 1;
    let due_at = batch.now.plus(progress::retry_wait(attempts, key));
    let wait = Wait { until: due_at, attempts: Some(attempts) };
    let step = StepKind::Refused { carrier: key.carrier, status };
    let Applied::Moved { .. } =
        progress::apply(batch, key, part, PartEvent::Deferred, 0, Some(wait), Some(step))?
    else {
        return Ok(false);
    };
    batch.tables.write(RowChange::Put(CarrierRefusal { message: key.message, carrier: key.carrier }));
    if on_their_way {
        batch.state.deferred.push(DuePart::new(key, part, due_at));
    } else {
        let parts = set_aside::read_parts(batch, key)?;
        move_parts(batch, key, &parts, to, None)?;
        note(batch, key, part, to.carrier);
    }
    Ok(true)
}

/// Whether a carrier refused a message, or was removed since it was chosen.
fn cannot_have(batch: &Batch<'_>, key: MessageKey, carrier: CarrierId) -> Result<bool, TableError> {
    if entry_uses::is_removed(batch, NumberedEntry::Carrier(carrier)) {
        return Ok(true);
    }
    batch.tables.read()?.has_refused(key.message, carrier)
}

/// Returns the key of a message's parts before a move.
pub fn key_before(a_move: &Move) -> MessageKey {
    MessageKey { carrier: a_move.from, account: a_move.account, message: a_move.message }
}

/// Moves messages that wait for a carrier to another one. Skips those that do not wait there any more. Returns how
/// many were moved.
pub fn move_waiting(batch: &mut Batch<'_>, moves: &[Move], now: Timestamp) -> Result<usize, TableError> {
    batch.advance_to(now);
    let mut moved = 0;
    for a_move in moves {
        let (key, to) = (key_before(a_move), a_move.to);
        let parts = set_aside::read_parts(batch, key)?;
        let ours = parts.iter().all(|part| is_movable(part, batch.now));
        let is_removed = entry_uses::is_removed(batch, NumberedEntry::Carrier(to.carrier));
        if parts.is_empty() || !ours || key.carrier == to.carrier || is_removed {
            continue;
        }
        move_parts(batch, key, &parts, to, None)?;
        batch.add_step(key.message, PartNo::FIRST, StepKind::Moved { from: key.carrier, to: to.carrier });
        moved += 1;
    }
    Ok(moved)
}

/// Moves a message whose parts are all movable. They wait for a slot, or for `due_at` first.
fn move_parts(
    batch: &mut Batch<'_>,
    key: MessageKey,
    parts: &[PartRow],
    to: TargetCarrier,
    due_at: Option<Timestamp>,
) -> Result<(), TableError> {
    let MessageKey { carrier, account, message } = key;
    let there = MessageKey { carrier: to.carrier, ..key };
    let in_parts = batch.tables.read()?.message_parts(message);
    let Some(in_parts) = set_aside::if_unreadable(batch, key, in_parts)? else { return Ok(()) };
    let left = carrier_costs::leaving(batch, key, parts)?;
    if matches!(left, Leaving::SetAside) {
        return Ok(());
    }
    entry_uses::note(batch, NumberedEntry::Carrier(to.carrier), Usage::Message);
    batch.tables.write(PartChange::Move { key, to: to.carrier, due_at });
    let (whole, cost) = (to.whole, to.cost);
    batch.tables.write(MessageChange::Carrier { message, carrier: to.carrier, whole, cost });
    let submits = if to.whole { 1 } else { in_parts };
    if parts.len() != usize::from(submits) {
        set_parts(batch, there, submits)?;
    }
    // The old carrier's lane must not hold it any more: a stale job would be claimed a second time.
    batch.state.lanes.remove_message(carrier, account, message);
    batch.state.recent_messages.remove(&message);
    parts.iter().for_each(|part| batch.state.queues.remove(key.into(), part.now.state));
    batch.results.tally.moved += 1;
    let moved = batch.tables.read()?.parts(there)?;
    moved.iter().for_each(|part| batch.state.queues.add(there.into(), part.now.state, 1));
    carrier_costs::note_move(batch, message, left, to, &moved);
    for PartRow { part, .. } in moved {
        match due_at {
            Some(at) => batch.state.deferred.push(DuePart::new(there, part, at)),
            None => {
                if let Some(job) = set_aside::read_waiting_job(batch, there, part)? {
                    batch.state.lanes.insert_moved(job);
                }
            }
        }
    }
    Ok(())
}

/// Replaces the rows of a message's parts by this many rows. All parts must be movable. Each new row has the most
/// doubts, attempts and latest times of the old ones, so that a part that may have been sent still prevents a
/// refund.
fn set_parts(batch: &Batch<'_>, key: MessageKey, count: u8) -> Result<(), TableError> {
    let rows = batch.tables.read()?.parts(key)?;
    let Some(mut most) = rows.first().copied() else {
        return Err(TableError::unreadable(format!("message {} has no parts", key.message)));
    };
    for row in &rows {
        // Of the two waiting states, in doubt is the one to keep.
        if row.now.state == PartState::InDoubt {
            most.now.state = PartState::InDoubt;
        }
        most.now.doubts = most.now.doubts.max(row.now.doubts);
        if row.doubt.resends_max() > most.doubt.resends_max() {
            most.doubt = row.doubt;
        }
        most.attempts = most.attempts.max(row.attempts);
        most.due_at = most.due_at.max(row.due_at);
        most.expires_at = most.expires_at.max(row.expires_at);
    }
    batch.tables.write(PartChange::Delete(key));
    for part in PartNo::up_to(count) {
        batch.tables.write(PartChange::Add(PartRow { part, ..most }));
    }
    Ok(())
}

/// Whether a part waits and no carrier has it. A part in doubt counts once its wait for a response is over.
fn is_movable(part: &PartRow, now: Timestamp) -> bool {
    match part.now.state {
        PartState::Queued => true,
        PartState::InDoubt => part.due_at.is_none_or(|due_at| due_at <= now),
        PartState::Sending
        | PartState::Sent
        | PartState::Presumed
        | PartState::Enroute
        | PartState::Overdue
        | PartState::Delivered
        | PartState::Undeliverable
        | PartState::Expired
        | PartState::Rejected => false,
    }
}
