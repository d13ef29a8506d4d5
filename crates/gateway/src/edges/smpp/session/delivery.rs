//! Bringing receipts, and messages from handsets: as many as the client's window takes, each settled by the client's own answer.

use super::handsets::{Handsets, Taken};
use super::requests::Done;
use super::{Conversation, moment};
use crate::clock::Moment;
use crate::edges::smpp::receipt_pdu::ReceiptDraft;
use hermod_domain::time::Timestamp;
use hermod_smpp::session::Refused;
use hermod_smpp::{CommandStatus, Frame};
use hermod_store::{ReceiverPort, ReportContent, ReportId, ReportOutcome};
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

/// Receipts in a row that were not answered in time. Such a client holds up a queue that another bind could take.
const TIMEOUTS_MAX: u32 = 3;

/// Receipts not answered in time whose answer may still come.
const LATE_MAX: usize = 1_024;

/// How long a client that says "slow down" is brought nothing.
const REST: Duration = Duration::from_secs(1);

pub(super) struct Reporting {
    port: Arc<ReceiverPort>,
    draft: ReceiptDraft,
    pub(super) handsets: Handsets,
    /// What the store is still to be told.
    pub(super) settled: Vec<(ReportId, ReportOutcome)>,
    /// Times in a row that receipts went unanswered. Those that were brought together count once.
    timeouts: u32,
    timed_out_at: Option<Moment>,
    /// Those that were not answered in time, by the sequence they went under, oldest first.
    late: VecDeque<(u32, ReportId)>,
    rests_until: Option<Moment>,
}

impl Reporting {
    pub(super) fn new(port: ReceiverPort) -> Reporting {
        Reporting {
            port: Arc::new(port),
            draft: ReceiptDraft::default(),
            handsets: Handsets::default(),
            settled: Vec::new(),
            timeouts: 0,
            timed_out_at: None,
            late: VecDeque::new(),
            rests_until: None,
        }
    }

    pub(super) fn resting_until(&self, now: Moment) -> Option<Moment> {
        self.rests_until.filter(|until| now < *until)
    }

    /// One request was answered, or never will be.
    fn answered(&mut self, report: ReportId, answer: ReportOutcome) {
        self.settled.extend(self.handsets.answered(report, answer).map(|result| (report, result)));
    }

    /// At least once: a report of which this is lost is brought again.
    pub(super) fn tell_store(&mut self, now: Timestamp) -> impl Future<Output = ()> + Send + use<> {
        let (port, settled) = (self.port.clone(), std::mem::take(&mut self.settled));
        async move {
            if settled.is_empty() {
                return;
            }
            if let Err(fault) = port.settle(settled, now).await {
                tracing::error!(%fault, "What became of receipts could not be stored; they are brought again");
            }
        }
    }
}

impl Conversation {
    /// Tells the store what became of receipts, and asks it for more where there is room. Neither is waited for here: the
    /// client is still to be heard meanwhile.
    pub(super) fn settle_and_take(&mut self, now: Moment) {
        self.send_inbound();
        let room = self.session.window_free();
        let Some(reporting) = self.bound.as_mut().and_then(|bound| bound.reporting.as_mut()) else { return };
        if !reporting.settled.is_empty() {
            let told = reporting.tell_store(self.world.clock.now());
            self.working.push(Box::pin(async move {
                told.await;
                Done::Nothing
            }));
        }
        let is_free = !reporting.handsets.has_unsent() && reporting.resting_until(now).is_none();
        if room > 0 && self.taking.is_none() && is_free {
            let (port, now) = (reporting.port.clone(), self.world.clock.now());
            self.taking = Some(Box::pin(async move {
                let reports = port.take(room, now).await;
                let inbound = port.inbound(&reports).await;
                Taken { reports, inbound }
            }));
        }
    }

    pub(super) fn bring(&mut self, Taken { reports, inbound }: Taken) {
        let now = moment(self.world.clock.moment());
        if let Err(fault) = &inbound {
            tracing::warn!(%fault, "Messages from handsets could not be read; trying again soon");
        }
        for report in &reports {
            let drafted = match &report.content {
                ReportContent::Dlr(_) => None,
                ReportContent::Inbound(_) => Some(self.draft_inbound(report, &inbound)),
            };
            let Some(bound) = &mut self.bound else { return };
            let Some(reporting) = &mut bound.reporting else { return };
            let news = match (drafted, report.dlr()) {
                (Some(Ok(drafted)), _) => {
                    reporting.handsets.begin(report.id, drafted);
                    continue;
                }
                (Some(Err(delivery)), _) => {
                    reporting.settled.push((report.id, delivery));
                    continue;
                }
                (None, Some(news)) => news,
                (None, None) => continue,
            };
            let pdu = reporting.draft.deliver_sm(report, news, bound.is_3_4);
            match pdu.map(|pdu| self.session.request(&pdu, report.id, now)) {
                Some(Ok(_)) => {}
                Some(Err(Refused::WindowFull | Refused::NotBound | Refused::Draining | Refused::Closed)) => {
                    reporting.settled.push((report.id, ReportOutcome::NotSent));
                }
                // It would not fit tomorrow either.
                Some(Err(Refused::NotAllowed | Refused::Needs3_4 | Refused::Encode(_))) | None => {
                    tracing::error!(message.id = %report.message, "A report makes no deliver_sm");
                    reporting.settled.push((report.id, ReportOutcome::Refused(CommandStatus::SYSERR.0)));
                }
            }
        }
    }

    pub(super) fn on_report_answered(&mut self, report: ReportId, frame: &Frame) {
        let status = frame.header.status;
        let (delivery, now) = (delivery(status), self.world.clock.moment());
        let Some(bound) = &mut self.bound else { return };
        if delivery == ReportOutcome::Accepted {
            bound.place.receipts(1);
        } else {
            bound.place.failed(format!("deliver_sm was answered with {status}"), self.world.clock.now());
        }
        if let Some(reporting) = &mut bound.reporting {
            reporting.timeouts = 0;
            reporting.answered(report, delivery);
            if delivery == ReportOutcome::RetryLater {
                reporting.rests_until = Some(now.plus(REST));
            }
        }
    }

    /// An answer after all: what the client has need not be brought again.
    pub(super) fn on_report_answered_late(&mut self, sequence: u32, frame: &Frame) {
        let Some(bound) = &mut self.bound else { return };
        let Some(reporting) = &mut bound.reporting else { return };
        // Slow, but it answers.
        reporting.timeouts = 0;
        let Some(place) = reporting.late.iter().position(|(late, _)| *late == sequence) else { return };
        let Some((_, report)) = reporting.late.remove(place) else { return };
        let delivery = delivery(frame.header.status);
        match delivery {
            ReportOutcome::Accepted => bound.place.receipts(1),
            ReportOutcome::Refused(_) => {}
            // It is brought again anyway.
            ReportOutcome::RetryLater | ReportOutcome::NotSent => return,
        }
        reporting.settled.push((report, delivery));
    }

    pub(super) fn on_report_timed_out(&mut self, sequence: u32, report: ReportId) {
        self.fail("deliver_sm was not answered in time");
        let now = self.world.clock.moment();
        let Some(reporting) = self.bound.as_mut().and_then(|bound| bound.reporting.as_mut()) else { return };
        // A late answer to one part of a message says nothing about the others: it is brought again.
        if !reporting.handsets.is_in_parts(report) {
            reporting.late.push_back((sequence, report));
        }
        if reporting.late.len() > LATE_MAX {
            reporting.late.pop_front();
        }
        reporting.answered(report, ReportOutcome::RetryLater);
        if reporting.timed_out_at.replace(now) != Some(now) {
            reporting.timeouts += 1;
        }
        if reporting.timeouts >= TIMEOUTS_MAX {
            self.unbind("It does not answer receipts");
        }
    }

    pub(super) fn on_reports_lost(&mut self, reports: &[ReportId]) {
        let Some(reporting) = self.bound.as_mut().and_then(|bound| bound.reporting.as_mut()) else { return };
        reports.iter().for_each(|report| reporting.answered(*report, ReportOutcome::RetryLater));
    }
}

/// What the client's answer means for the report.
const fn delivery(status: CommandStatus) -> ReportOutcome {
    match status {
        CommandStatus::OK => ReportOutcome::Accepted,
        CommandStatus::X_T_APPN
        | CommandStatus::THROTTLED
        | CommandStatus::MSGQFUL
        | CommandStatus::SYSERR => ReportOutcome::RetryLater,
        CommandStatus(status) => ReportOutcome::Refused(status),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clients_answer_decides_whether_a_receipt_is_brought_again() {
        for status in [0x64, 0x58, 0x14, 0x08] {
            assert_eq!(delivery(CommandStatus(status)), ReportOutcome::RetryLater, "{status:#x}");
        }
        assert_eq!(delivery(CommandStatus::OK), ReportOutcome::Accepted);
        for status in [0x45, 0x65, 0x0B, 0x400] {
            assert_eq!(delivery(CommandStatus(status)), ReportOutcome::Refused(status), "{status:#x}");
        }
    }
}
