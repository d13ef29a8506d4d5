//! Applies events to messages: reads the progress, asks the lifecycle, writes the result. The rows of the parts hold
//! the progress of a message that has not ended. The message's own row changes only when it becomes enroute, when its
//! DLR code changes to UNKNOWN, and when it ends. All other events write only the row of a part.

use crate::batch::{Batch, ForbiddenEvent, RecentMessage};
use crate::carrier_costs;
use crate::ledger;
use crate::report;
use crate::set_aside;
use crate::state::report_target::ReportTarget;
use crate::steps::StepKind;
use crate::tables::{
    MessageChange, MessageExceptionRow, MessageExceptions, MessageKey, MessageStatus, PartChange, RowChange,
    TableError, Tables, UnreadablePart,
};
use hermod_domain::ids::{MessageId, PartNo};
use hermod_domain::lifecycle::{
    self, Billable, MessageState, Part, PartEvent, PartState, Progress, StateChange, Transition,
};
use hermod_domain::money::Money;
use hermod_domain::receipt::{DlrCode, ReportStatus};
use hermod_domain::retry::Schedule;
use hermod_domain::time::Timestamp;
use std::time::Duration;

/// What an event did to a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Applied {
    /// The part changed to this state.
    Moved { part: Part, ended: bool },
    /// The event changes nothing in this state.
    Ignored,
    /// The message has ended, or another carrier has it: no event of this carrier applies.
    Inactive,
}

/// A part's wait after an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wait {
    pub until: Timestamp,
    /// The number of temporary errors, if the event is one more.
    pub attempts: Option<u32>,
}

/// Returns the wait before the next attempt after this many temporary errors.
pub fn retry_wait(failures: u32, key: MessageKey) -> Duration {
    let wait = Schedule::after_temporary_error().wait(failures, jitter(key));
    wait.expect("temporary errors are retried until validity ends")
}

/// Returns a number that spreads retries over time. The message id serves as randomness, so that tests are repeatable.
fn jitter(key: MessageKey) -> u32 {
    let mixed = key.message.as_i64().cast_unsigned().wrapping_mul(0x9E37_79B9_7F4A_7C15);
    u32::try_from(mixed >> 32).expect("32 bits are left")
}

/// What an event did to the money of a message; nothing, unless it ended the message.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
struct End {
    refunded: Option<Money>,
    billable: Billable,
}

/// The result of writing an applied event.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Written {
    All(End),
    /// The row of the message is missing or damaged, so its parts were set aside.
    SetAside,
}

/// Applies an event to a part. Every change of a message's state goes through here: load the progress, let the
/// lifecycle decide, write the parts, refund and report in the same transaction. `step` is added to the message's
/// steps if the part changes.
pub fn apply(
    batch: &mut Batch<'_>,
    key: MessageKey,
    part: PartNo,
    event: PartEvent,
    err: u16,
    wait: Option<Wait>,
    step: Option<StepKind>,
) -> Result<Applied, TableError> {
    let loaded = progress_of(batch, key);
    let Some((before, mut report_target)) = set_aside::if_unreadable(batch, key, loaded)?.flatten() else {
        return Ok(Applied::Inactive);
    };
    match lifecycle::apply(&before, part, event) {
        Transition::Changed(moved) => {
            let written = write(batch, key, part, event, &before, &moved, err, wait, &report_target)?;
            let Written::All(end) = written else { return Ok(Applied::Inactive) };
            if let Some(step) = step {
                batch.add_step(key.message, part, step);
            }
            add_state_step(batch, key.message, &before, &moved, err, end);
            let unknown = ReportStatus::Final(DlrCode::Unknown);
            let reported = report::status_to_report(event, &before, &moved);
            let repeats = reported == Some(unknown) && was_unknown(batch, key.message, &before)?;
            if let Some(status) = reported.filter(|_| !repeats) {
                if status == unknown {
                    let (message, at) = (key.message, batch.now);
                    let exceptions =
                        MessageExceptions { unknown_at: Some(at), ..MessageExceptions::default() };
                    let row = MessageExceptionRow { message, exceptions };
                    batch.tables.write(RowChange::merge(row, ["unknown_at"]));
                    batch.add_step(message, part, StepKind::Unknown);
                }
                report::write_status(batch, key, status, &moved.after, err, &mut report_target)?;
            }
            let now = *moved.after.parts.get(part.index()).expect("the part that moved");
            if now.state == PartState::Presumed {
                batch.results.tally.unconfirmed += 1;
                *batch.results.unconfirmed.entry(key.carrier).or_default() += 1;
            }
            let ended = moved.after.state.is_final();
            if ended {
                batch.state.recent_messages.remove(&key.message);
            } else {
                let known = RecentMessage {
                    account: key.account,
                    carrier: key.carrier,
                    progress: moved.after,
                    report_target,
                };
                batch.state.recent_messages.insert(key.message, known);
            }
            Ok(Applied::Moved { part: now, ended })
        }
        Transition::Ignored => Ok(Applied::Ignored),
        Transition::Illegal => {
            batch.results.tally.illegal += 1;
            batch.results.forbidden.push(ForbiddenEvent { message: key.message, part, event, before });
            Ok(Applied::Ignored)
        }
    }
}

/// Adds a step if the message has another state now.
fn add_state_step(
    batch: &mut Batch<'_>,
    message: MessageId,
    before: &Progress,
    StateChange { after, dlr, refund: _ }: &StateChange,
    err: u16,
    End { refunded: refund, billable }: End,
) {
    let state = after.state;
    let kind = match dlr {
        Some(code) if state.is_final() => StepKind::Ended { state, code: *code, err, refund, billable },
        Some(_) | None if state == before.state => return,
        Some(_) | None => StepKind::State(state),
    };
    batch.add_step(message, PartNo::FIRST, kind);
}

/// Whether a message was reported UNKNOWN before. Its parts do not tell: the overdue part may have been delivered
/// since, while another was still being sent.
fn was_unknown(batch: &Batch<'_>, message: MessageId, before: &Progress) -> Result<bool, TableError> {
    if before.parts.len() == 1 {
        return Ok(false);
    }
    Ok(batch.tables.read()?.message_exceptions(message)?.unknown_at.is_some())
}

/// Returns the progress of a message; none if it has ended or another carrier has it.
fn progress_of(batch: &Batch<'_>, key: MessageKey) -> Result<Option<(Progress, ReportTarget)>, TableError> {
    match batch.state.recent_messages.get(&key.message) {
        Some(RecentMessage { carrier, progress, report_target, .. }) => {
            Ok((*carrier == key.carrier).then(|| (progress.clone(), report_target.clone())))
        }
        None => Ok(load(batch.tables, key)?.map(|progress| (progress, ReportTarget::Unread))),
    }
}

/// Writes an applied event: the row of the part, or the end of the message.
#[expect(clippy::too_many_arguments, reason = "one fact: everything that is written together")]
fn write(
    batch: &mut Batch<'_>,
    key: MessageKey,
    part: PartNo,
    event: PartEvent,
    before: &Progress,
    moved: &StateChange,
    err: u16,
    wait: Option<Wait>,
    report_target: &ReportTarget,
) -> Result<Written, TableError> {
    let StateChange { after, dlr, refund: _ } = moved;
    if after.state.is_final() {
        let written = end(batch, key, (before, event, moved), err, report_target)?;
        if written != Written::SetAside {
            batch.state.queues.ended(key.into(), &before.parts);
        }
        return Ok(written);
    }
    let now = after.parts.get(part.index()).expect("the part that moved");
    let was = before.parts.get(part.index()).expect("the part that moved");
    batch.state.queues.changed(key.into(), was.state, now.state);
    let (due_at, attempts) = (wait.map(|wait| wait.until), wait.and_then(|wait| wait.attempts));
    batch.tables.write(PartChange::State { key, part, now: *now, due_at, attempts });
    let enroute = before.state != after.state && after.state == MessageState::Enroute;
    if let Some(code) = dlr.filter(|_| enroute || event == PartEvent::ReceiptOverdue) {
        let status = MessageStatus { state: after.state, code, err };
        batch.tables.write(MessageChange::Status { message: key.message, status });
    }
    Ok(Written::All(End::default()))
}

/// Ends a message: writes its final status and what its carrier can bill, deletes the rows of its parts, and refunds its cost if the lifecycle
/// says so. Sets the parts aside if the message has no row or its refund overflows the balance.
fn end(
    batch: &mut Batch<'_>,
    key: MessageKey,
    (before, event, moved): (&Progress, PartEvent, &StateChange),
    err: u16,
    report_target: &ReportTarget,
) -> Result<Written, TableError> {
    let code = moved.dlr.expect("every end has a code");
    let status = MessageStatus { state: moved.after.state, code, err };
    if !has_row(batch, key, report_target)? {
        let reason = "its message has no row".to_owned();
        set_aside::message(batch, UnreadablePart { key: key.into(), reason })?;
        return Ok(Written::SetAside);
    }
    let refund = if moved.refund { ledger::plan_refund(batch, key).map(Some) } else { Ok(None) };
    let Some(refund) = set_aside::if_unreadable(batch, key, refund)? else { return Ok(Written::SetAside) };
    let message = key.message;
    let billable = carrier_costs::billable(batch, message, before, event, &moved.after)?;
    batch.tables.write(MessageChange::End { message, status, settled_at: batch.now, billable });
    batch.tables.write(PartChange::Delete(key));
    batch.results.tally.settled += 1;
    let refunded = refund.as_ref().map(|refund| refund.cost);
    if let Some(refund) = refund {
        ledger::refund(batch, key.account, message, refund);
        batch.results.tally.refunded += 1;
    }
    Ok(Written::All(End { refunded, billable }))
}

/// Whether a message has a row. A known report target was read from it.
fn has_row(batch: &Batch<'_>, key: MessageKey, report_target: &ReportTarget) -> Result<bool, TableError> {
    match report_target {
        ReportTarget::Web(_) | ReportTarget::Customer(_) => Ok(true),
        ReportTarget::Unread | ReportTarget::None => {
            batch.tables.read()?.has_message(key.account, key.message)
        }
    }
}

/// Returns the progress of a message; none if it has no parts left, because it has ended or does not exist.
pub fn load(tables: &Tables<'_>, key: MessageKey) -> Result<Option<Progress>, TableError> {
    let parts = tables.part_states(key)?;
    if parts.is_empty() {
        return Ok(None);
    }
    let remembered =
        if needs_memory(&parts) { tables.read()?.message_state(key.message)? } else { MessageState::Queued };
    Ok(Some(Progress::of(remembered, parts)))
}

/// Whether the message's own state is needed. Only it tells that a part was enroute before it was delivered or overdue,
/// which matters once every part was accepted and none is enroute.
pub fn needs_memory(parts: &[Part]) -> bool {
    let was_further = |part: &Part| matches!(part.state, PartState::Delivered | PartState::Overdue);
    parts.iter().all(|part| was_further(part) || matches!(part.state, PartState::Sent | PartState::Presumed))
        && parts.iter().any(was_further)
}
