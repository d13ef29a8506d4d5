//! Sends the parts that the store hands out, and writes the session's output.

use super::alternative_carrier::alternative_carrier;
use super::{CarrierLink, SentPart};
use crate::clock::Moment;
use crate::edges::carrier::submit_sm::PartToSend;
use bytes::Buf;
use hermod_domain::carrier::ErrorClass;
use hermod_domain::lifecycle::RejectionCause;
use hermod_domain::time::Timestamp;
use hermod_smpp::CommandStatus;
use hermod_smpp::session::RequestError;
use hermod_store::{Handout, Job, SubmitResponse};

impl CarrierLink<'_> {
    /// Sends handed-out parts, and answers recorded receipts and MO messages. All of it is durable.
    pub(super) fn send(&mut self, handout: Handout) {
        let Handout { jobs, recorded, received } = handout;
        self.on_recorded(recorded);
        self.on_received(received);
        if jobs.is_empty() {
            return;
        }
        let clock = &self.group.gateway.clock;
        let (now, wall) = (clock.moment(), clock.now());
        self.flow.used(u32::try_from(jobs.len()).unwrap_or(u32::MAX));
        let submitted = jobs.iter().filter(|job| self.submit(job, now, wall)).count();
        self.figures.submitted(u32::try_from(submitted).unwrap_or(u32::MAX), now);
    }

    /// Returns true if the submit_sm was queued for writing.
    fn submit(&mut self, job: &Job, now: Moment, wall: Timestamp) -> bool {
        let sent = SentPart::of(job);
        if !self.group.gateway.store.may_send() {
            self.answers.push(sent.record(SubmitResponse::NotSent));
            return false;
        }
        if let Some(wait) = self.flow.deferral(job.to, now) {
            // The carrier throttles this recipient: the part is deferred without being sent.
            let elsewhere = alternative_carrier(self.group, &sent, ErrorClass::Throttled);
            self.answers.push(
                sent.record_with_failover(
                    SubmitResponse::RecipientThrottled { wait, sent: false },
                    elsewhere,
                ),
            );
            return false;
        }
        let pdu = self.draft.submit_sm(&PartToSend::of(job), wall);
        match pdu.map(|pdu| self.session.request(&pdu, sent, now)) {
            Some(Ok(_)) => return true,
            Some(Err(
                RequestError::WindowFull
                | RequestError::NotBound
                | RequestError::Draining
                | RequestError::Closed,
            )) => {
                self.answers.push(sent.record(SubmitResponse::NotSent));
            }
            // A retry would fail too.
            Some(Err(RequestError::NotAllowed | RequestError::Needs3_4 | RequestError::Encode(_))) | None => {
                tracing::error!(message.id = %job.message, part = %job.part, "Could not encode a part as submit_sm");
                let status = CommandStatus::SUBMITFAIL.0;
                self.answers
                    .push(sent.record(SubmitResponse::Refused { about: RejectionCause::Other, status }));
            }
        }
        false
    }

    pub(super) fn on_written(&mut self, written: std::io::Result<usize>) {
        match written {
            Ok(length) if length > 0 => {
                self.output.advance(length);
                self.write_by = None;
            }
            Ok(_) | Err(_) => {
                self.output.clear();
                self.connection_lost();
            }
        }
    }
}
