//! Applies the carrier's response to a submit_sm: accepted (stores the carrier's id), throttled, temporary error,
//! refused, or no response.

use crate::batch::Batch;
use crate::failover;
use crate::ops::{LinkId, ResponseRecord, SubmitResponse, TargetCarrier};
use crate::progress::{self, Applied, Wait};
use crate::receipt;
use crate::set_aside;
use crate::state::deferred::DuePart;
use crate::steps::{LateResponse, NextResend, StepKind};
use crate::tables::{MessageKey, PartChange, PartRow, TableError};
use hermod_domain::carrier::IdConversion;
use hermod_domain::ids::{CarrierId, PartNo};
use hermod_domain::lifecycle::{PartEvent, PartState, RejectionCause, resend_wait};
use hermod_domain::phone::Msisdn;
use hermod_domain::receipt::ErrCode;
use std::time::Duration;

/// The shortest wait after a temporary error, whether the carrier or the schedule sets it.
const RETRY_WAIT_MIN: Duration = Duration::from_secs(1);

/// Applies the response to one part. `link`: the link that reports it; none if that link is gone. A response about
/// a message that moved to another carrier changes nothing but the message's steps.
pub fn apply(
    batch: &mut Batch<'_>,
    carrier: CarrierId,
    ids: IdConversion,
    link: Option<LinkId>,
    record: &ResponseRecord,
) -> Result<(), TableError> {
    let ResponseRecord { message, part, account, to, response, failover_to } = record;
    let key = MessageKey { carrier, account: *account, message: *message };
    match response {
        SubmitResponse::Accepted(remote) => {
            let step = StepKind::CarrierAccepted { carrier, remote: remote.clone() };
            if progress::apply(batch, key, *part, PartEvent::Accepted, 0, None, Some(step))?
                == Applied::Inactive
            {
                add_late(batch, key, *part, LateResponse::Accepted)?;
            }
            // Stored even if the message has ended, so that its receipts are recognised as late.
            receipt::assign_id(batch, key, *part, *to, remote, ids)
        }
        SubmitResponse::AcceptedWithoutId => accepted_without_id(batch, key, *part, *to),
        SubmitResponse::Throttled => return_to_lane(batch, key, *part, PartEvent::Deferred, link),
        SubmitResponse::RecipientThrottled { wait, sent } => {
            let event = if *sent { PartEvent::Deferred } else { PartEvent::Released };
            defer_throttled(batch, key, *part, event, *wait, *failover_to)
        }
        SubmitResponse::NotSent => return_to_lane(batch, key, *part, PartEvent::Released, link),
        SubmitResponse::Temporary { status, after } => {
            retry_later(batch, key, *part, *status, *after, *failover_to)
        }
        SubmitResponse::Refused { about, status } => {
            refused(batch, key, *part, *about, *status, *failover_to)
        }
        SubmitResponse::NoResponse => no_response(batch, key, *part),
    }
}

/// Applies a response that accepts a part without a usable id.
fn accepted_without_id(
    batch: &mut Batch<'_>,
    key: MessageKey,
    part: PartNo,
    to: Msisdn,
) -> Result<(), TableError> {
    let step = StepKind::NoCarrierId { carrier: key.carrier };
    match progress::apply(batch, key, part, PartEvent::Accepted, 0, None, Some(step))? {
        Applied::Moved { .. } => receipt::expect_by_number(batch, key, part, to),
        Applied::Inactive => add_late(batch, key, part, LateResponse::AcceptedWithoutId),
        Applied::Ignored => Ok(()),
    }
}

/// Puts a part that the carrier did not accept back into its lane, before the messages that Hermod accepted after it.
fn return_to_lane(
    batch: &mut Batch<'_>,
    key: MessageKey,
    part: PartNo,
    event: PartEvent,
    link: Option<LinkId>,
) -> Result<(), TableError> {
    match progress::apply(batch, key, part, event, 0, None, Some(returned(key, event)))? {
        Applied::Moved { .. } => {
            if let Some(job) = set_aside::read_waiting_job(batch, key, part)? {
                batch.state.lanes.requeue_from(link, job);
            }
            Ok(())
        }
        Applied::Inactive => add_late(batch, key, part, LateResponse::NotAccepted),
        Applied::Ignored => Ok(()),
    }
}

/// Defers a part whose recipient the carrier throttles. It does not count as an attempt. A message that has waited
/// too long fails over to another carrier, if one is given.
fn defer_throttled(
    batch: &mut Batch<'_>,
    key: MessageKey,
    part: PartNo,
    event: PartEvent,
    wait: Duration,
    failover_to: Option<TargetCarrier>,
) -> Result<(), TableError> {
    match progress::apply(batch, key, part, event, 0, None, Some(returned(key, event)))? {
        Applied::Moved { .. } => {}
        Applied::Inactive => return add_late(batch, key, part, LateResponse::Throttled),
        Applied::Ignored => return Ok(()),
    }
    if let Some(to) = failover_to
        && failover::after_throttling(batch, key, part, to)?
    {
        return Ok(());
    }
    let due_at = batch.now.plus(wait);
    batch.tables.write(PartChange::DueTime { key, part, due_at: Some(due_at) });
    batch.state.deferred.push(DuePart::new(key, part, due_at));
    Ok(())
}

/// Defers a part after a temporary error, for as long as the carrier or the retry schedule says, or fails it over.
fn retry_later(
    batch: &mut Batch<'_>,
    key: MessageKey,
    part: PartNo,
    status: u32,
    after: Option<Duration>,
    failover_to: Option<TargetCarrier>,
) -> Result<(), TableError> {
    let Some(PartRow { attempts, .. }) = set_aside::read_part(batch, key, part)? else {
        return add_late(batch, key, part, LateResponse::TemporaryError);
    };
    let attempts = attempts + 1;
    let wait = after.unwrap_or_else(|| progress::retry_wait(attempts, key)).max(RETRY_WAIT_MIN);
    let due_at = batch.now.plus(wait);
    let wait = Wait { until: due_at, attempts: Some(attempts) };
    let step = StepKind::TemporaryError { carrier: key.carrier, status };
    if let Applied::Moved { ended: false, .. } =
        progress::apply(batch, key, part, PartEvent::Deferred, 0, Some(wait), Some(step))?
    {
        if let Some(to) = failover_to
            && failover::after_errors(batch, key, part, to, due_at)?
        {
            return Ok(());
        }
        batch.state.deferred.push(DuePart::new(key, part, due_at));
    }
    Ok(())
}

/// Ends the message of a part that the carrier refused for good, unless it can fail over to another carrier.
fn refused(
    batch: &mut Batch<'_>,
    key: MessageKey,
    part: PartNo,
    about: RejectionCause,
    status: u32,
    failover_to: Option<TargetCarrier>,
) -> Result<(), TableError> {
    if let Some(to) = failover_to
        && failover::after_refusal(batch, key, part, status, to)?
    {
        return Ok(());
    }
    let err = ErrCode::of_status(status).get();
    let step = StepKind::Rejected { carrier: key.carrier, status };
    match progress::apply(batch, key, part, PartEvent::Rejected(about), err, None, Some(step))? {
        Applied::Inactive => add_late(batch, key, part, LateResponse::Refused),
        Applied::Moved { .. } | Applied::Ignored => Ok(()),
    }
}

/// Puts a part without a response in doubt. It is resent after a wait, if its policy has a resend left; otherwise
/// it is presumed sent.
fn no_response(batch: &mut Batch<'_>, key: MessageKey, part: PartNo) -> Result<(), TableError> {
    let Some(PartRow { doubt, now, .. }) = set_aside::read_part(batch, key, part)? else {
        return add_late(batch, key, part, LateResponse::NoResponse);
    };
    let due_at = batch.now.plus(resend_wait(batch.state.in_doubt_wait, now.doubts.saturating_add(1)));
    let wait = Wait { until: due_at, attempts: None };
    let applied = progress::apply(batch, key, part, PartEvent::NoResponse(doubt), 0, Some(wait), None)?;
    let Applied::Moved { part: now, .. } = applied else { return Ok(()) };
    batch.results.tally.in_doubt += 1;
    let is_resent = now.state == PartState::InDoubt;
    let next = is_resent.then(|| NextResend { number: now.doubts, max: doubt.resends_max() });
    batch.add_step(key.message, part, StepKind::InDoubt { carrier: key.carrier, next });
    if is_resent {
        batch.state.deferred.push(DuePart::new(key, part, due_at));
    }
    Ok(())
}

/// Adds a step for a response about a message that another carrier has by now. A response about a message that has
/// ended adds nothing.
fn add_late(
    batch: &mut Batch<'_>,
    key: MessageKey,
    part: PartNo,
    response: LateResponse,
) -> Result<(), TableError> {
    let carrier = batch.tables.read()?.open_message_carrier(key.message)?;
    if carrier.is_none_or(|carrier| carrier == key.carrier) {
        return Ok(());
    }
    batch.add_step(key.message, part, StepKind::LateResponse { carrier: key.carrier, response });
    Ok(())
}

/// Returns the step of a part that goes back to its lane: not sent, or throttled.
fn returned(key: MessageKey, event: PartEvent) -> StepKind {
    let carrier = key.carrier;
    if event == PartEvent::Released { StepKind::NotSent { carrier } } else { StepKind::Throttled { carrier } }
}
