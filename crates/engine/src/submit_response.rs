//! Applies the carrier's response to a submit_sm: accepted (stores the carrier's id), throttled, temporary error,
//! refused, or no response.

use crate::batch::Batch;
use crate::ops::{LinkId, ResponseRecord, SubmitResponse, TargetCarrier};
use crate::progress::{Applied, Wait};
use crate::state::deferred::DuePart;
use crate::steps::{LateResponse, NextResend, StepKind};
use crate::tables::{MessageKey, PartChange, PartRow, TableError};
use hermod_domain::carrier::IdConversion;
use hermod_domain::ids::{CarrierId, PartNo};
use hermod_domain::lifecycle::{PartEvent, PartState, RejectionCause, resend_wait};
use hermod_domain::receipt::ErrCode;
use hermod_domain::retry::Schedule;
use hermod_domain::time::Timestamp;
use std::time::Duration;

/// The shortest wait after a temporary error, whether the carrier or the schedule sets it.
const RETRY_WAIT_MIN: Duration = Duration::from_secs(1);

impl Batch<'_> {
    /// Applies the response to one part. `link`: the link that reports it; none if that link is gone. A response about
    /// a message that moved to another carrier changes nothing but the message's steps.
    pub fn apply_response(
        &mut self,
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
                if self.apply(key, *part, PartEvent::Accepted, 0, None, Some(step))? == Applied::Inactive {
                    self.add_late_response(key, *part, LateResponse::Accepted)?;
                }
                // Stored even if the message has ended, so that its receipts are recognised as late.
                self.assign_carrier_id(key, *part, *to, remote, ids)
            }
            SubmitResponse::AcceptedWithoutId => self.accepted_without_id(key, *part, *to),
            SubmitResponse::Throttled => self.return_to_lane(key, *part, PartEvent::Deferred, link),
            SubmitResponse::RecipientThrottled { wait, sent } => {
                let event = if *sent { PartEvent::Deferred } else { PartEvent::Released };
                self.defer_throttled(key, *part, event, *wait, *failover_to)
            }
            SubmitResponse::NotSent => self.return_to_lane(key, *part, PartEvent::Released, link),
            SubmitResponse::Temporary { status, after } => {
                self.retry_later(key, *part, *status, *after, *failover_to)
            }
            SubmitResponse::Refused { about, status } => {
                self.refused(key, *part, *about, *status, *failover_to)
            }
            SubmitResponse::NoResponse => self.no_response(key, *part),
        }
    }

    /// Puts a part that the carrier did not accept back into its lane, before the messages that Hermod accepted after it.
    fn return_to_lane(
        &mut self,
        key: MessageKey,
        part: PartNo,
        event: PartEvent,
        link: Option<LinkId>,
    ) -> Result<(), TableError> {
        match self.apply(key, part, event, 0, None, Some(returned(key, event)))? {
            Applied::Moved { .. } => {
                if let Some(job) = self.read_waiting_job(key, part)? {
                    self.state.lanes.requeue_from(link, job);
                }
                Ok(())
            }
            Applied::Inactive => self.add_late_response(key, part, LateResponse::NotAccepted),
            Applied::Ignored => Ok(()),
        }
    }

    /// Defers a part whose recipient the carrier throttles. It does not count as an attempt. A message that has waited
    /// too long fails over to another carrier, if one is given.
    fn defer_throttled(
        &mut self,
        key: MessageKey,
        part: PartNo,
        event: PartEvent,
        wait: Duration,
        failover_to: Option<TargetCarrier>,
    ) -> Result<(), TableError> {
        match self.apply(key, part, event, 0, None, Some(returned(key, event)))? {
            Applied::Moved { .. } => {}
            Applied::Inactive => return self.add_late_response(key, part, LateResponse::Throttled),
            Applied::Ignored => return Ok(()),
        }
        if let Some(to) = failover_to
            && self.fail_over_throttled(key, part, to)?
        {
            return Ok(());
        }
        let due_at = self.now.plus(wait);
        self.tables.write(PartChange::DueTime { key, part, due_at: Some(due_at) });
        self.push_due(key, part, due_at);
        Ok(())
    }

    /// Defers a part after a temporary error, for as long as the carrier or the retry schedule says, or fails it over.
    fn retry_later(
        &mut self,
        key: MessageKey,
        part: PartNo,
        status: u32,
        after: Option<Duration>,
        failover_to: Option<TargetCarrier>,
    ) -> Result<(), TableError> {
        let Some(PartRow { attempts, .. }) = self.read_part(key, part)? else {
            return self.add_late_response(key, part, LateResponse::TemporaryError);
        };
        let attempts = attempts + 1;
        let wait = after.unwrap_or_else(|| scheduled(attempts, key)).max(RETRY_WAIT_MIN);
        let due_at = self.now.plus(wait);
        let wait = Wait { until: due_at, attempts: Some(attempts) };
        let step = StepKind::TemporaryError { carrier: key.carrier, status };
        if let Applied::Moved { ended: false, .. } =
            self.apply(key, part, PartEvent::Deferred, 0, Some(wait), Some(step))?
        {
            if let Some(to) = failover_to
                && self.fail_over(key, part, to, due_at)?
            {
                return Ok(());
            }
            self.push_due(key, part, due_at);
        }
        Ok(())
    }

    /// Ends the message of a part that the carrier refused for good, unless it can fail over to another carrier.
    fn refused(
        &mut self,
        key: MessageKey,
        part: PartNo,
        about: RejectionCause,
        status: u32,
        failover_to: Option<TargetCarrier>,
    ) -> Result<(), TableError> {
        if let Some(to) = failover_to
            && self.fail_over_refused(key, part, status, to)?
        {
            return Ok(());
        }
        let err = ErrCode::of_status(status).get();
        let step = StepKind::Rejected { carrier: key.carrier, status };
        match self.apply(key, part, PartEvent::Rejected(about), err, None, Some(step))? {
            Applied::Inactive => self.add_late_response(key, part, LateResponse::Refused),
            Applied::Moved { .. } | Applied::Ignored => Ok(()),
        }
    }

    /// Puts a part without a response in doubt. It is resent after a wait, if its policy has a resend left; otherwise
    /// it is presumed sent.
    fn no_response(&mut self, key: MessageKey, part: PartNo) -> Result<(), TableError> {
        let Some(PartRow { doubt, now, .. }) = self.read_part(key, part)? else {
            return self.add_late_response(key, part, LateResponse::NoResponse);
        };
        let due_at = self.now.plus(resend_wait(self.state.in_doubt_wait, now.doubts.saturating_add(1)));
        let wait = Wait { until: due_at, attempts: None };
        let applied = self.apply(key, part, PartEvent::NoResponse(doubt), 0, Some(wait), None)?;
        let Applied::Moved { part: now, .. } = applied else { return Ok(()) };
        self.tally.doubts.in_doubt += 1;
        let is_resent = now.state == PartState::InDoubt;
        let next = is_resent.then(|| NextResend { number: now.doubts, max: doubt.resends_max() });
        self.add_step(key.message, part, StepKind::InDoubt { carrier: key.carrier, next });
        if is_resent {
            self.push_due(key, part, due_at);
        }
        Ok(())
    }

    /// Adds a step for a response about a message that another carrier has by now. A response about a message that has
    /// ended adds nothing.
    pub fn add_late_response(
        &mut self,
        key: MessageKey,
        part: PartNo,
        response: LateResponse,
    ) -> Result<(), TableError> {
        let carrier = self.tables.read()?.open_message_carrier(key.message)?;
        if carrier.is_none_or(|carrier| carrier == key.carrier) {
            return Ok(());
        }
        self.add_step(key.message, part, StepKind::LateResponse { carrier: key.carrier, response });
        Ok(())
    }

    /// Schedules the release of a part. Its row must have the same due time.
    pub fn push_due(&mut self, key: MessageKey, part: PartNo, at: Timestamp) {
        let MessageKey { carrier, account, message } = key;
        self.state.deferred.push(DuePart { at, message, part, carrier, account });
    }
}

/// Returns the step of a part that goes back to its lane: not sent, or throttled.
fn returned(key: MessageKey, event: PartEvent) -> StepKind {
    let carrier = key.carrier;
    if event == PartEvent::Released { StepKind::NotSent { carrier } } else { StepKind::Throttled { carrier } }
}

/// Returns the wait before the next attempt after this many temporary errors.
pub fn scheduled(failures: u32, key: MessageKey) -> Duration {
    let wait = Schedule::after_temporary_error().wait(failures, jitter(key));
    wait.expect("temporary errors are retried until validity ends")
}

/// Returns a number that spreads retries over time. The message id serves as randomness, so that tests are repeatable.
fn jitter(key: MessageKey) -> u32 {
    let mixed = key.message.as_i64().cast_unsigned().wrapping_mul(0x9E37_79B9_7F4A_7C15);
    u32::try_from(mixed >> 32).expect("32 bits are left")
}
