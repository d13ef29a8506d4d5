//! Delivers receipts and MO messages to a bind, as its window has room. The client's deliver_sm_resp settles each of
//! them.

use super::mo_delivery::{MoDeliveries, TakenReports};
use super::requests::RequestOutcome;
use super::{CustomerSession, Taking};
use crate::clock::Moment;
use crate::edges::smpp::mo_pdu::MoDraft;
use crate::edges::smpp::receipt_pdu::ReceiptDraft;
use hermod_domain::time::Timestamp;
use hermod_smpp::session::RequestError;
use hermod_smpp::{CommandStatus, Frame};
use hermod_store::{MoMessage, ReceiverPort, Report, ReportContent, ReportId, ReportOutcome, StoreError};
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

/// After this many response timeouts in a row the bind is ended: another bind can take the queue.
const TIMEOUTS_MAX: u32 = 3;

/// Timed-out receipts whose response may still come.
const LATE_MAX: usize = 1_024;

/// How long nothing is delivered to a client that answered with a temporary error.
const TEMPORARY_ERROR_PAUSE: Duration = Duration::from_secs(1);

pub(super) struct ReportDelivery {
    port: Arc<ReceiverPort>,
    draft: ReceiptDraft,
    pub(super) mo_deliveries: MoDeliveries,
    /// Results not yet reported to the store.
    pub(super) settled: Vec<(ReportId, ReportOutcome)>,
    /// Response timeouts in a row. Receipts sent together count once.
    timeouts: u32,
    timed_out_at: Option<Moment>,
    /// Timed-out receipts by sequence, oldest first.
    late: VecDeque<(u32, ReportId)>,
    paused_until: Option<Moment>,
}

impl ReportDelivery {
    pub(super) fn new(port: ReceiverPort) -> ReportDelivery {
        ReportDelivery {
            port: Arc::new(port),
            draft: ReceiptDraft::default(),
            mo_deliveries: MoDeliveries::default(),
            settled: Vec::new(),
            timeouts: 0,
            timed_out_at: None,
            late: VecDeque::new(),
            paused_until: None,
        }
    }

    pub(super) fn paused_until(&self, now: Moment) -> Option<Moment> {
        self.paused_until.filter(|until| now < *until)
    }

    /// Records the result of one deliver_sm.
    fn answered(&mut self, report: ReportId, answer: ReportOutcome) {
        self.settled.extend(self.mo_deliveries.answered(report, answer).map(|result| (report, result)));
    }

    /// Reports the results to the store. If this fails, the receipts are delivered again (at-least-once).
    pub(super) fn report_to_store(&mut self, now: Timestamp) -> impl Future<Output = ()> + Send + use<> {
        let (port, settled) = (self.port.clone(), std::mem::take(&mut self.settled));
        async move {
            if settled.is_empty() {
                return;
            }
            if let Err(fault) = port.settle(settled, now).await {
                tracing::error!(%fault, "Could not store the results of receipts; they are delivered again");
            }
        }
    }
}

impl CustomerSession {
    /// Reports results to the store, and requests more reports if the window has room. Waits for neither, so that the
    /// client is served meanwhile.
    pub(super) fn settle_and_request_more(&mut self, now: Moment) {
        self.send_mo_parts();
        let room = self.session.window_free();
        let Some(report_delivery) = self.bound.as_mut().and_then(|bound| bound.report_delivery.as_mut())
        else {
            return;
        };
        if !report_delivery.settled.is_empty() {
            let reported = report_delivery.report_to_store(self.gateway.clock.now());
            self.working.push(Box::pin(async move {
                reported.await;
                RequestOutcome::Nothing
            }));
        }
        let is_free =
            !report_delivery.mo_deliveries.has_unsent() && report_delivery.paused_until(now).is_none();
        if room > 0 && self.taking.is_none() && is_free && self.stopping.is_none() {
            let (port, gateway) = (report_delivery.port.clone(), self.gateway.clone());
            self.taking = Some(Box::pin(async move {
                // Dropping the future that waits for reports loses none.
                let reports = gateway.while_released(|| port.take(room, gateway.clock.now())).await;
                let inbound = port.inbound(&reports).await;
                TakenReports { reports, inbound }
            }));
        }
    }

    pub(super) fn deliver(&mut self, TakenReports { reports, inbound }: TakenReports) {
        let now = self.gateway.clock.moment();
        if let Err(fault) = &inbound {
            tracing::warn!(%fault, "Could not read MO messages; retrying soon");
        }
        for report in &reports {
            let drafted = match &report.content {
                ReportContent::Dlr(_) => None,
                ReportContent::Inbound(_) => Some(self.encode_mo(report, &inbound)),
            };
            let Some(bound) = &mut self.bound else { return };
            let Some(report_delivery) = &mut bound.report_delivery else { return };
            let dlr = match (drafted, report.dlr()) {
                (Some(Ok(drafted)), _) => {
                    report_delivery.mo_deliveries.begin(report.id, drafted);
                    continue;
                }
                (Some(Err(delivery)), _) => {
                    report_delivery.settled.push((report.id, delivery));
                    continue;
                }
                (None, Some(dlr)) => dlr,
                (None, None) => continue,
            };
            let pdu = report_delivery.draft.deliver_sm(report, dlr, bound.is_3_4);
            match pdu.map(|pdu| self.session.request(&pdu, report.id, now)) {
                Some(Ok(_)) => {}
                Some(Err(
                    RequestError::WindowFull
                    | RequestError::NotBound
                    | RequestError::Draining
                    | RequestError::Closed,
                )) => {
                    report_delivery.settled.push((report.id, ReportOutcome::NotSent));
                }
                // A retry would fail too.
                Some(Err(RequestError::NotAllowed | RequestError::Needs3_4 | RequestError::Encode(_)))
                | None => {
                    tracing::error!(message.id = %report.message, "Could not encode a report as deliver_sm");
                    report_delivery
                        .settled
                        .push((report.id, ReportOutcome::Refused(CommandStatus::SYSERR.0)));
                }
            }
        }
    }

    pub(super) fn on_report_answered(&mut self, report: ReportId, frame: &Frame) {
        let status = frame.header.status;
        let (delivery, now) = (delivery(status), self.gateway.clock.moment());
        let Some(bound) = &mut self.bound else { return };
        if delivery == ReportOutcome::Accepted {
            bound.place.receipts(1);
        } else {
            bound.place.failed(format!("deliver_sm was answered with {status}"), self.gateway.clock.now());
        }
        if let Some(report_delivery) = &mut bound.report_delivery {
            report_delivery.timeouts = 0;
            report_delivery.answered(report, delivery);
            if delivery == ReportOutcome::RetryLater {
                report_delivery.paused_until = Some(now.plus(TEMPORARY_ERROR_PAUSE));
            }
        }
    }

    /// Settles a timed-out report by its late response, so that it is not delivered again.
    pub(super) fn on_report_answered_late(&mut self, sequence: u32, frame: &Frame) {
        let Some(bound) = &mut self.bound else { return };
        let Some(report_delivery) = &mut bound.report_delivery else { return };
        // The client is slow, but it answers.
        report_delivery.timeouts = 0;
        let Some(place) = report_delivery.late.iter().position(|(late, _)| *late == sequence) else { return };
        let Some((_, report)) = report_delivery.late.remove(place) else { return };
        let delivery = delivery(frame.header.status);
        match delivery {
            ReportOutcome::Accepted => bound.place.receipts(1),
            ReportOutcome::Refused(_) => {}
            // It is delivered again anyway.
            ReportOutcome::RetryLater | ReportOutcome::NotSent => return,
        }
        report_delivery.settled.push((report, delivery));
    }

    pub(super) fn on_report_timed_out(&mut self, sequence: u32, report: ReportId) {
        self.fail("deliver_sm was not answered in time");
        let now = self.gateway.clock.moment();
        let Some(report_delivery) = self.bound.as_mut().and_then(|bound| bound.report_delivery.as_mut())
        else {
            return;
        };
        // A late response to one part says nothing about the others: the message is delivered again.
        if !report_delivery.mo_deliveries.is_in_parts(report) {
            report_delivery.late.push_back((sequence, report));
        }
        if report_delivery.late.len() > LATE_MAX {
            report_delivery.late.pop_front();
        }
        report_delivery.answered(report, ReportOutcome::RetryLater);
        if report_delivery.timed_out_at.replace(now) != Some(now) {
            report_delivery.timeouts += 1;
        }
        if report_delivery.timeouts >= TIMEOUTS_MAX {
            self.unbind("Unbinding, the client does not answer deliver_sm");
        }
    }

    pub(super) fn on_reports_lost(&mut self, reports: &[ReportId]) {
        let Some(report_delivery) = self.bound.as_mut().and_then(|bound| bound.report_delivery.as_mut())
        else {
            return;
        };
        reports.iter().for_each(|report| report_delivery.answered(*report, ReportOutcome::RetryLater));
    }
}

/// Returns what the client's response means for the report.
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

impl CustomerSession {
    /// Encodes an MO message for this bind; the error is the result to report to the store.
    pub(super) fn encode_mo(
        &self,
        report: &Report,
        inbound: &Result<Vec<(ReportId, MoMessage)>, StoreError>,
    ) -> Result<MoDraft, ReportOutcome> {
        let Ok(messages) = inbound else { return Err(ReportOutcome::RetryLater) };
        let bound = self.bound.as_ref().ok_or(ReportOutcome::NotSent)?;
        let caller = self.caller(bound.connection).ok_or(ReportOutcome::NotSent)?;
        let access = caller.connection().smpp.as_ref().ok_or(ReportOutcome::NotSent)?;
        let found = messages.iter().find(|(id, _)| *id == report.id);
        let drafted = found.and_then(|(_, message)| MoDraft::of(message, access, bound.is_3_4));
        drafted.ok_or_else(|| {
            tracing::error!(message.id = %report.message, "Could not encode an MO message as deliver_sm");
            ReportOutcome::Refused(CommandStatus::SYSERR.0)
        })
    }

    /// Sends as many parts as the window has room for.
    pub(super) fn send_mo_parts(&mut self) {
        let now = self.gateway.clock.moment();
        let Some(ReportDelivery { mo_deliveries, settled, .. }) =
            self.bound.as_mut().and_then(|bound| bound.report_delivery.as_mut())
        else {
            return;
        };
        while self.session.window_free() > 0
            && let Some(report) = mo_deliveries.unsent.front().copied()
        {
            let MoDeliveries { in_progress, tlvs, .. } = mo_deliveries;
            let Some(message) = in_progress.get_mut(&report) else {
                mo_deliveries.unsent.pop_front();
                continue;
            };
            let pdu = message.drafted.deliver_sm(message.sent, tlvs);
            let failed = match pdu.map(|pdu| self.session.request(&pdu, report, now)) {
                Some(Ok(_)) => {
                    message.sent += 1;
                    message.unanswered += 1;
                    if message.sent == message.drafted.pdus() {
                        mo_deliveries.unsent.pop_front();
                    }
                    continue;
                }
                Some(Err(RequestError::WindowFull)) => return,
                Some(Err(RequestError::NotBound | RequestError::Draining | RequestError::Closed))
                    if message.sent == 0 =>
                {
                    ReportOutcome::NotSent
                }
                Some(Err(RequestError::NotBound | RequestError::Draining | RequestError::Closed)) => {
                    ReportOutcome::RetryLater
                }
                // A retry would fail too.
                Some(Err(RequestError::NotAllowed | RequestError::Needs3_4 | RequestError::Encode(_)))
                | None => ReportOutcome::Refused(CommandStatus::SYSERR.0),
            };
            settled.extend(mo_deliveries.fails(report, failed).map(|result| (report, result)));
        }
    }
}

/// Waits for the reports that the store was asked for; forever if it was not asked.
pub(super) async fn taken(taking: &mut Option<Taking>) -> TakenReports {
    match taking {
        Some(taking) => taking.await,
        None => std::future::pending().await,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deliver_sm_status_decides_whether_a_receipt_is_delivered_again() {
        for status in [0x64, 0x58, 0x14, 0x08] {
            assert_eq!(delivery(CommandStatus(status)), ReportOutcome::RetryLater, "{status:#x}");
        }
        assert_eq!(delivery(CommandStatus::OK), ReportOutcome::Accepted);
        for status in [0x45, 0x65, 0x0B, 0x400] {
            assert_eq!(delivery(CommandStatus(status)), ReportOutcome::Refused(status), "{status:#x}");
        }
    }
}
