//! Delivers MO messages to a bind: one deliver_sm for each part, as the client's window has room. A message is
//! delivered when all its parts are acknowledged; if one part fails, the whole message is delivered again.

use crate::edges::smpp::mo_pdu::MoDraft;
use hermod_smpp::TlvBuffer;
use hermod_store::{MoMessage, Report, ReportId, ReportOutcome, StoreError};
use std::collections::{HashMap, VecDeque};

/// Reports that the store gave to a bind.
pub(super) struct TakenReports {
    pub(super) reports: Vec<Report>,
    /// The MO messages among them.
    pub(super) inbound: Result<Vec<(ReportId, MoMessage)>, StoreError>,
}

/// MO messages whose delivery is in progress.
#[derive(Default)]
pub(super) struct MoDeliveries {
    pub(super) in_progress: HashMap<ReportId, MoDelivery>,
    /// Messages with parts that are not sent yet, in order.
    pub(super) unsent: VecDeque<ReportId>,
    pub(super) tlvs: TlvBuffer,
}

pub(super) struct MoDelivery {
    pub(super) drafted: MoDraft,
    pub(super) sent: usize,
    pub(super) unanswered: usize,
    /// The worst response so far.
    result: ReportOutcome,
}

impl MoDelivery {
    fn is_over(&self) -> bool {
        let all_is_sent = self.sent == self.drafted.pdus();
        self.unanswered == 0 && (all_is_sent || self.result != ReportOutcome::Accepted)
    }
}

impl MoDeliveries {
    /// Whether a part waits for room in the window.
    pub(super) fn has_unsent(&self) -> bool {
        !self.unsent.is_empty()
    }

    /// Whether the message has more than one part.
    pub(super) fn is_in_parts(&self, report: ReportId) -> bool {
        self.in_progress.get(&report).is_some_and(|message| message.drafted.pdus() > 1)
    }

    pub(super) fn begin(&mut self, report: ReportId, drafted: MoDraft) {
        let begun = MoDelivery { drafted, sent: 0, unanswered: 0, result: ReportOutcome::Accepted };
        self.in_progress.insert(report, begun);
        self.unsent.push_back(report);
    }

    /// Records the response to one deliver_sm. Returns the result for the whole report once its last part was answered.
    /// Reports that are a single PDU return their own response.
    pub(super) fn answered(&mut self, report: ReportId, answer: ReportOutcome) -> Option<ReportOutcome> {
        // The usual case: the client gets receipts only.
        if self.in_progress.is_empty() {
            return Some(answer);
        }
        let Some(message) = self.in_progress.get_mut(&report) else { return Some(answer) };
        message.unanswered = message.unanswered.saturating_sub(1);
        message.result = worse(message.result, answer);
        self.settled(report)
    }

    /// Stops sending a message that failed. Returns the result once no response is outstanding.
    pub(super) fn fails(&mut self, report: ReportId, why: ReportOutcome) -> Option<ReportOutcome> {
        let message = self.in_progress.get_mut(&report)?;
        message.result = worse(message.result, why);
        self.settled(report)
    }

    fn settled(&mut self, report: ReportId) -> Option<ReportOutcome> {
        let message = self.in_progress.get(&report)?;
        if message.result != ReportOutcome::Accepted {
            self.unsent.retain(|unsent| *unsent != report);
        }
        if !message.is_over() {
            return None;
        }
        self.in_progress.remove(&report).map(|message| message.result)
    }
}

/// Returns the worse result: a rejection is final, and a temporary error means that the message is delivered again.
fn worse(one: ReportOutcome, other: ReportOutcome) -> ReportOutcome {
    match (one, other) {
        (ReportOutcome::Refused(status), _) | (_, ReportOutcome::Refused(status)) => {
            ReportOutcome::Refused(status)
        }
        (ReportOutcome::RetryLater, _) | (_, ReportOutcome::RetryLater) => ReportOutcome::RetryLater,
        (ReportOutcome::NotSent, _) | (_, ReportOutcome::NotSent) => ReportOutcome::NotSent,
        (ReportOutcome::Accepted, ReportOutcome::Accepted) => ReportOutcome::Accepted,
    }
}

#[cfg(test)]
#[path = "mo_delivery_tests.rs"]
mod tests;
