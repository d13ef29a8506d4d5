//! The port of a bind to the outbox of its connection: takes reports to send, and records their results.

use crate::error::StoreError;
use crate::outboxes::SharedOutbox;
use crate::writer::operation::Op;
use crate::writer::shared::Access;
use hermod_domain::ids::ConnectionId;
use hermod_domain::time::Timestamp;
use hermod_engine::ops::{FinishedReports, Report, ReportId, ReportOutcome};
use hermod_engine::outbox::{FinishedIds, NextReports, Outbox, PortNo, Refill};
use std::sync::Arc;
use tokio::sync::Notify;

/// A port to an outbox of this process. When it is dropped, reports that it took and did not settle are sent again later.
pub(crate) struct ReportPort {
    access: Arc<Access>,
    connection: ConnectionId,
    number: PortNo,
    outbox: Arc<SharedOutbox>,
    wake: Arc<Notify>,
}

impl ReportPort {
    pub(crate) fn open(access: Arc<Access>, connection: ConnectionId) -> ReportPort {
        let wake = Arc::new(Notify::new());
        let (outbox, number) = access.shared.outboxes.open(connection, wake.clone());
        ReportPort { access, connection, number, outbox, wake }
    }

    /// Takes reports that the bind has from an earlier engine.
    pub(crate) fn adopt(&self, reports: Vec<Report>) {
        self.outbox.with(|state| state.adopt(self.number, reports));
    }

    /// Waits for reports and returns at most `most`. Of several binds that wait, the one with the fewest outstanding reports is
    /// served first. Dropping the future loses nothing.
    pub(crate) async fn take(&self, most: u32, now: Timestamp) -> Vec<Report> {
        let outboxes = &self.access.shared.outboxes;
        outboxes.advance_clock(now);
        let most = usize::try_from(most).unwrap_or(usize::MAX);
        if most == 0 {
            return std::future::pending().await;
        }
        outboxes.wait_until_served().await;
        let _waiting = Waiting(self);
        loop {
            match self.outbox.take(self.number, most, outboxes.now()) {
                NextReports::Reports(reports) => return reports,
                NextReports::Read(refill) => self.read(refill).await,
                NextReports::Nothing => self.wake.notified().await,
            }
        }
    }

    /// Records the results of reports that this port took; other reports are ignored. The results are queued when this
    /// returns, not durable: a report that is settled just before the process ends may be sent again.
    pub(crate) async fn settle(
        &self,
        outcomes: Vec<(ReportId, ReportOutcome)>,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        // The queue slot is reserved first: if the future is dropped while it waits, nothing is settled.
        let slot = self.access.queue.reserve().await?;
        if let Some(op) = self.finish(outcomes, now) {
            slot.send(op);
        }
        Ok(())
    }

    /// Settles reports in the outbox. Returns what the writer must write.
    pub(crate) fn finish(&self, outcomes: Vec<(ReportId, ReportOutcome)>, now: Timestamp) -> Option<Op> {
        let outboxes = &self.access.shared.outboxes;
        outboxes.advance_clock(now);
        // The outboxes' clock, which never goes back.
        let now = outboxes.now();
        let (settled, due) =
            self.outbox.with(|state| (state.settle(self.number, outcomes, now), state.next_due()));
        outboxes.set_due(due);
        let FinishedIds { accepted, refused, answered } = settled;
        let finished = FinishedReports { connection: self.connection, accepted, refused, answered, now };
        (!finished.is_empty()).then(|| Op::Command(finished.into(), None))
    }

    /// Refills the outbox from the tables. If the future is dropped, the refill still completes, for another port.
    async fn read(&self, refill: Refill) {
        let reading = Reading(self.outbox.clone());
        let outboxes = &self.access.shared.outboxes;
        let (connection, now) = (self.connection, outboxes.now());
        let refilled = move |page| {
            // Dropping `reading` marks the read as ended.
            reading.0.with(|state| {
                state.refill(refill, page, now);
                state.next_due()
            })
        };
        let read = self.access.backend.report_page(connection, refill.after, refill.limit, refilled);
        match read.await {
            Ok(due) => outboxes.set_due(due),
            Err(error) => {
                tracing::warn!(%error, connection.id = %connection, "Reports could not be read; retrying in a second");
                outboxes.retry_read_later(&self.outbox);
            }
        }
    }
}

impl Drop for ReportPort {
    fn drop(&mut self) {
        let outboxes = &self.access.shared.outboxes;
        let slot = self.access.queue.try_reserve();
        let taken = outboxes.close(self.connection, &self.outbox, self.number, slot.is_ok());
        if let (Ok(slot), false) = (slot, taken.is_empty()) {
            let now = outboxes.now();
            let finished = FinishedReports::superseded(self.connection, taken, now);
            slot.send(Op::Command(finished.into(), None));
        }
    }
}

/// Exists while a port waits for reports. Dropping it passes the wakeup on to another port.
struct Waiting<'a>(&'a ReportPort);

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        let Waiting(port) = self;
        port.outbox.with(|state| state.stop_waiting(port.number));
    }
}

/// Exists while a refill runs. Dropping it marks the read as ended.
struct Reading(Arc<SharedOutbox>);

impl Drop for Reading {
    fn drop(&mut self) {
        self.0.with(Outbox::read_ended);
    }
}
