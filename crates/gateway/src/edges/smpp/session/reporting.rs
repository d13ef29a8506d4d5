//! Bringing receipts: as many as the client's window takes, each settled by the client's own answer.

use super::{Bound, Conversation, moment};
use crate::edges::smpp::receipts::ReceiptDraft;
use crate::world::World;
use hermod_smpp::session::Refused;
use hermod_smpp::{CommandStatus, Frame};
use hermod_store::{Delivery, ReceiverPort, Report, ReportId};

/// Receipts in a row that were not answered in time. Such a client holds up a queue that another bind could take.
const TIMEOUTS_MAX: u32 = 3;

pub(super) struct Reporting {
    port: ReceiverPort,
    draft: ReceiptDraft,
    /// What the store is still to be told.
    settled: Vec<(ReportId, Delivery)>,
    timeouts: u32,
}

impl Reporting {
    pub(super) fn new(port: ReceiverPort) -> Reporting {
        Reporting { port, draft: ReceiptDraft::default(), settled: Vec::new(), timeouts: 0 }
    }

    /// At least once: a report of which this is lost is brought again.
    pub(super) async fn tell_store(&mut self, world: &World) {
        if self.settled.is_empty() {
            return;
        }
        let settled = std::mem::take(&mut self.settled);
        if let Err(fault) = self.port.settle(settled, world.clock.now()).await {
            tracing::error!(%fault, "What became of receipts could not be stored; they are brought again");
        }
    }
}

/// The next reports, as soon as there are some and the window has room.
pub(super) async fn next(bound: Option<&Bound>, room: u32, world: &World) -> Vec<Report> {
    match bound.and_then(|bound| bound.reporting.as_ref()) {
        Some(reporting) if room > 0 => reporting.port.take(room, world.clock.now()).await,
        _ => std::future::pending().await,
    }
}

impl Conversation {
    pub(super) fn bring(&mut self, reports: &[Report]) {
        let now = moment(self.world.clock.moment());
        let Some(bound) = &mut self.bound else { return };
        let Some(reporting) = &mut bound.reporting else { return };
        for report in reports {
            let pdu = reporting.draft.deliver_sm(report, bound.is_3_4);
            match pdu.map(|pdu| self.session.request(&pdu, report.id, now)) {
                Some(Ok(_)) => {}
                Some(Err(Refused::WindowFull | Refused::NotBound | Refused::Draining | Refused::Closed)) => {
                    reporting.settled.push((report.id, Delivery::NotSent));
                }
                // It would not fit tomorrow either.
                Some(Err(Refused::NotAllowed | Refused::Needs3_4 | Refused::Encode(_))) | None => {
                    tracing::error!(message.id = %report.message, "A report makes no deliver_sm");
                    reporting.settled.push((report.id, Delivery::Refused(CommandStatus::SYSERR.0)));
                }
            }
        }
    }

    pub(super) fn on_report_answered(&mut self, report: ReportId, frame: &Frame) {
        let status = frame.header.status;
        let delivery = delivery(status);
        let Some(bound) = &mut self.bound else { return };
        if delivery == Delivery::Done {
            bound.place.receipts(1);
        } else {
            bound.place.failed(format!("deliver_sm was answered with {status}"), self.world.clock.now());
        }
        if let Some(reporting) = &mut bound.reporting {
            reporting.timeouts = 0;
            reporting.settled.push((report, delivery));
        }
    }

    pub(super) fn on_report_timed_out(&mut self, report: ReportId) {
        self.fail("deliver_sm was not answered in time");
        let Some(reporting) = self.bound.as_mut().and_then(|bound| bound.reporting.as_mut()) else { return };
        reporting.settled.push((report, Delivery::Later));
        reporting.timeouts += 1;
        if reporting.timeouts >= TIMEOUTS_MAX {
            self.session.unbind(moment(self.world.clock.moment()));
        }
    }

    pub(super) fn on_reports_lost(&mut self, reports: &[ReportId]) {
        let Some(reporting) = self.bound.as_mut().and_then(|bound| bound.reporting.as_mut()) else { return };
        reporting.settled.extend(reports.iter().map(|report| (*report, Delivery::Later)));
    }
}

/// What the client's answer means for the report.
const fn delivery(status: CommandStatus) -> Delivery {
    match status {
        CommandStatus::OK => Delivery::Done,
        CommandStatus::X_T_APPN
        | CommandStatus::THROTTLED
        | CommandStatus::MSGQFUL
        | CommandStatus::SYSERR => Delivery::Later,
        CommandStatus(status) => Delivery::Refused(status),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clients_answer_decides_whether_a_receipt_is_brought_again() {
        for status in [0x64, 0x58, 0x14, 0x08] {
            assert_eq!(delivery(CommandStatus(status)), Delivery::Later, "{status:#x}");
        }
        assert_eq!(delivery(CommandStatus::OK), Delivery::Done);
        for status in [0x45, 0x65, 0x0B, 0x400] {
            assert_eq!(delivery(CommandStatus(status)), Delivery::Refused(status), "{status:#x}");
        }
    }
}
