//! Sends MO messages to a bind: one deliver_sm for each part, as many as the client's window has room for.

use super::delivery::Reporting;
use super::handsets::Handsets;
use super::{Conversation, moment};
use crate::edges::smpp::handset::Drafted;
use hermod_smpp::CommandStatus;
use hermod_smpp::session::Refused;
use hermod_store::{MoMessage, Report, ReportId, ReportOutcome, StoreError};

impl Conversation {
    /// A message that was taken to be brought: how it is written, or what became of it at once.
    pub(super) fn draft_inbound(
        &self,
        report: &Report,
        inbound: &Result<Vec<(ReportId, MoMessage)>, StoreError>,
    ) -> Result<Drafted, ReportOutcome> {
        let Ok(messages) = inbound else { return Err(ReportOutcome::RetryLater) };
        let bound = self.bound.as_ref().ok_or(ReportOutcome::NotSent)?;
        let caller = self.caller(bound.connection).ok_or(ReportOutcome::NotSent)?;
        let access = caller.connection().smpp.as_ref().ok_or(ReportOutcome::NotSent)?;
        let found = messages.iter().find(|(id, _)| *id == report.id);
        let drafted = found.and_then(|(_, message)| Drafted::of(message, access, bound.is_3_4));
        drafted.ok_or_else(|| {
            tracing::error!(message.id = %report.message, "A message from a handset makes no deliver_sm");
            ReportOutcome::Refused(CommandStatus::SYSERR.0)
        })
    }

    /// Sends what the window has room for.
    pub(super) fn send_inbound(&mut self) {
        let now = moment(self.world.clock.moment());
        let Some(Reporting { handsets, settled, .. }) =
            self.bound.as_mut().and_then(|bound| bound.reporting.as_mut())
        else {
            return;
        };
        while self.session.window_free() > 0
            && let Some(report) = handsets.unsent.front().copied()
        {
            let Handsets { under_way, tlvs, .. } = handsets;
            let Some(message) = under_way.get_mut(&report) else {
                handsets.unsent.pop_front();
                continue;
            };
            let pdu = message.drafted.deliver_sm(message.sent, tlvs);
            let failed = match pdu.map(|pdu| self.session.request(&pdu, report, now)) {
                Some(Ok(_)) => {
                    message.sent += 1;
                    message.unanswered += 1;
                    if message.sent == message.drafted.pdus() {
                        handsets.unsent.pop_front();
                    }
                    continue;
                }
                Some(Err(Refused::WindowFull)) => return,
                Some(Err(Refused::NotBound | Refused::Draining | Refused::Closed)) if message.sent == 0 => {
                    ReportOutcome::NotSent
                }
                Some(Err(Refused::NotBound | Refused::Draining | Refused::Closed)) => {
                    ReportOutcome::RetryLater
                }
                // It would not fit tomorrow either.
                Some(Err(Refused::NotAllowed | Refused::Needs3_4 | Refused::Encode(_))) | None => {
                    ReportOutcome::Refused(CommandStatus::SYSERR.0)
                }
            };
            settled.extend(handsets.fails(report, failed).map(|result| (report, result)));
        }
    }
}
