//! What a carrier's answer does: it decides what becomes of a part, and ties the carrier's id to it if there is one.

use crate::batch::Batch;
use crate::ops::{Answer, AnswerRecord, Elsewhere, LinkId};
use crate::progress::{Applied, Wait};
use crate::state::deferred::Due;
use crate::steps::{LateAnswer, NextResend, StepKind};
use crate::tables::{PartChange, PartRow, Place, TableError};
use hermod_domain::carrier::IdConversion;
use hermod_domain::ids::{CarrierId, PartNo};
use hermod_domain::lifecycle::{Event, PartState, RefusedFor, resend_wait};
use hermod_domain::receipt::ErrCode;
use hermod_domain::retry::Schedule;
use hermod_domain::time::Timestamp;
use std::time::Duration;

/// No part is tried again sooner after a temporary error, whoever sets the time.
const RETRY_WAIT_MIN: Duration = Duration::from_secs(1);

impl Batch<'_> {
    /// `link`: the one that says so, if it lives.
    pub fn answer(
        &mut self,
        carrier: CarrierId,
        ids: IdConversion,
        link: Option<LinkId>,
        record: &AnswerRecord,
    ) -> Result<(), TableError> {
        let AnswerRecord { message, part, account, to, answer, otherwise } = record;
        let place = Place { carrier, account: *account, message: *message };
        match answer {
            Answer::Accepted(remote) => {
                let step = StepKind::Answered { carrier, remote: remote.clone() };
                if self.apply(place, *part, Event::Accepted, 0, None, Some(step))? == Applied::Over {
                    self.latecomer(place, *part, LateAnswer::Taken)?;
                }
                // Tied even if the message has ended meanwhile, so that its receipts are known for what they are.
                self.tie(place, *part, *to, remote, ids)
            }
            Answer::AcceptedWithoutId => self.accepted_without_id(place, *part, *to),
            Answer::Throttled => self.back_to_front(place, *part, Event::Deferred, link),
            Answer::SteppedAside { wait, sent } => {
                let event = if *sent { Event::Deferred } else { Event::Released };
                self.step_aside(place, *part, event, *wait, *otherwise)
            }
            Answer::NotSent => self.back_to_front(place, *part, Event::Released, link),
            Answer::Temporary { status, after } => {
                self.retry_later(place, *part, *status, *after, *otherwise)
            }
            Answer::Refused { about, status } => self.refused(place, *part, *about, *status, *otherwise),
            Answer::NoAnswer => self.no_answer(place, *part),
        }
    }

    /// The carrier did not take it, and it is still first in line.
    fn back_to_front(
        &mut self,
        place: Place,
        part: PartNo,
        event: Event,
        link: Option<LinkId>,
    ) -> Result<(), TableError> {
        match self.apply(place, part, event, 0, None, Some(returned(place, event)))? {
            Applied::Moved { .. } => {
                if let Some(job) = self.read_waiting_job(place, part)? {
                    self.books.lanes.put_back_from(link, job);
                }
                Ok(())
            }
            Applied::Over => self.latecomer(place, part, LateAnswer::NotTaken),
            Applied::Ignored => Ok(()),
        }
    }

    /// The carrier throttles the recipient: the part waits for a time, its attempts are not counted. A message that has
    /// waited long goes to another carrier if there is one.
    fn step_aside(
        &mut self,
        place: Place,
        part: PartNo,
        event: Event,
        wait: Duration,
        otherwise: Option<Elsewhere>,
    ) -> Result<(), TableError> {
        match self.apply(place, part, event, 0, None, Some(returned(place, event)))? {
            Applied::Moved { .. } => {}
            Applied::Over => return self.latecomer(place, part, LateAnswer::Throttled),
            Applied::Ignored => return Ok(()),
        }
        if let Some(to) = otherwise
            && self.fail_over_throttled(place, part, to)?
        {
            return Ok(());
        }
        let due_at = self.now.plus(wait);
        self.tables.write(PartChange::DueTime { place, part, due_at: Some(due_at) });
        self.push_due(place, part, due_at);
        Ok(())
    }

    fn retry_later(
        &mut self,
        place: Place,
        part: PartNo,
        status: u32,
        after: Option<Duration>,
        otherwise: Option<Elsewhere>,
    ) -> Result<(), TableError> {
        let Some(PartRow { attempts, .. }) = self.read_part(place, part)? else {
            return self.latecomer(place, part, LateAnswer::TemporaryError);
        };
        let attempts = attempts + 1;
        let wait = after.unwrap_or_else(|| scheduled(attempts, place)).max(RETRY_WAIT_MIN);
        let due_at = self.now.plus(wait);
        let wait = Wait { until: due_at, attempts: Some(attempts) };
        let step = StepKind::TemporaryError { carrier: place.carrier, status };
        if let Applied::Moved { ended: false, .. } =
            self.apply(place, part, Event::Deferred, 0, Some(wait), Some(step))?
        {
            if let Some(to) = otherwise
                && self.fail_over(place, part, to, due_at)?
            {
                return Ok(());
            }
            self.push_due(place, part, due_at);
        }
        Ok(())
    }

    fn refused(
        &mut self,
        place: Place,
        part: PartNo,
        about: RefusedFor,
        status: u32,
        otherwise: Option<Elsewhere>,
    ) -> Result<(), TableError> {
        if let Some(to) = otherwise
            && self.refused_here(place, part, status, to)?
        {
            return Ok(());
        }
        let err = ErrCode::of_status(status).get();
        let step = StepKind::Rejected { carrier: place.carrier, status };
        match self.apply(place, part, Event::Refused(about), err, None, Some(step))? {
            Applied::Over => self.latecomer(place, part, LateAnswer::Refused),
            Applied::Moved { .. } | Applied::Ignored => Ok(()),
        }
    }

    fn no_answer(&mut self, place: Place, part: PartNo) -> Result<(), TableError> {
        let Some(PartRow { doubt, now, .. }) = self.read_part(place, part)? else {
            return self.latecomer(place, part, LateAnswer::NoAnswer);
        };
        let due_at = self.now.plus(resend_wait(self.books.in_doubt_wait, now.doubts.saturating_add(1)));
        let wait = Wait { until: due_at, attempts: None };
        let applied = self.apply(place, part, Event::NoAnswer(doubt), 0, Some(wait), None)?;
        let Applied::Moved { part: now, .. } = applied else { return Ok(()) };
        self.tally.doubts.in_doubt += 1;
        let is_resent = now.state == PartState::InDoubt;
        let next = is_resent.then(|| NextResend { number: now.doubts, max: doubt.resends_max() });
        self.add_step(place.message, part, StepKind::InDoubt { carrier: place.carrier, next });
        if is_resent {
            self.push_due(place, part, due_at);
        }
        Ok(())
    }

    /// An answer about a message that is with another carrier by now changes nothing, and is told. One about a message
    /// that has ended is no news.
    pub fn latecomer(&mut self, place: Place, part: PartNo, answer: LateAnswer) -> Result<(), TableError> {
        let carrier = self.tables.read()?.open_message_carrier(place.message)?;
        if carrier.is_none_or(|carrier| carrier == place.carrier) {
            return Ok(());
        }
        self.add_step(place.message, part, StepKind::LateAnswer { carrier: place.carrier, answer });
        Ok(())
    }

    pub fn push_due(&mut self, place: Place, part: PartNo, at: Timestamp) {
        let Place { carrier, account, message } = place;
        self.books.deferred.push(Due { at, message, part, carrier, account });
    }
}

/// Returns the step of a part that its carrier did not take.
fn returned(place: Place, event: Event) -> StepKind {
    let carrier = place.carrier;
    if event == Event::Released { StepKind::NotSent { carrier } } else { StepKind::Throttled { carrier } }
}

pub fn scheduled(failures: u32, place: Place) -> Duration {
    let wait = Schedule::after_temporary_error().wait(failures, jitter(place));
    wait.expect("temporary errors are retried until validity ends")
}

/// Spreads retries out. The id is as good as a random number for that, and repeats under test.
fn jitter(place: Place) -> u32 {
    let mixed = place.message.as_i64().cast_unsigned().wrapping_mul(0x9E37_79B9_7F4A_7C15);
    u32::try_from(mixed >> 32).expect("32 bits are left")
}
