//! A live bind's side of the store: it takes out what its customer is to be told, and says what became of it.

use crate::error::StoreError;
use crate::outboxes::SharedOutbox;
use crate::store::Store;
use crate::writer::operation::Op;
use hermod_domain::ids::ConnectionId;
use hermod_domain::time::Timestamp;
use hermod_engine::ops::{FinishedReports, MoMessage, Report, ReportContent, ReportId, ReportOutcome};
use hermod_engine::outbox::{FinishedIds, NextReports, Outbox, PortNo, Refill};
use std::sync::Arc;
use tokio::sync::Notify;

/// One bind that takes reports. When it is dropped, what it took and did not settle is told again after a while.
pub struct ReceiverPort {
    store: Store,
    connection: ConnectionId,
    number: PortNo,
    outbox: Arc<SharedOutbox>,
    wake: Arc<Notify>,
}

impl Store {
    /// A bind of the connection's that reports can be sent to.
    pub fn open_receiver(&self, connection: ConnectionId) -> ReceiverPort {
        let wake = Arc::new(Notify::new());
        let (outbox, number) = self.inner.shared.outboxes.open(connection, wake.clone());
        ReceiverPort { store: self.clone(), connection, number, outbox, wake }
    }
}

impl ReceiverPort {
    /// The next reports, at most so many. Waits until there is one. Of several binds that wait, the one with the fewest
    /// reports on their way comes first. Nothing is lost if the caller does not wait to the end.
    pub async fn take(&self, most: u32, now: Timestamp) -> Vec<Report> {
        let outboxes = &self.store.inner.shared.outboxes;
        outboxes.clock_is(now);
        let most = usize::try_from(most).unwrap_or(usize::MAX);
        if most == 0 {
            return std::future::pending().await;
        }
        let _waiting = Waiting(self);
        loop {
            match self.outbox.take(self.number, most, outboxes.now()) {
                NextReports::Reports(reports) => return reports,
                NextReports::Read(refill) => self.read(refill).await,
                NextReports::Nothing => self.wake.notified().await,
            }
        }
    }

    /// The messages from handsets that reports bring. Those that are not there any more are left out.
    pub async fn inbound(&self, reports: &[Report]) -> Result<Vec<(ReportId, MoMessage)>, StoreError> {
        let wanted = reports.iter().filter_map(|report| match report.content {
            ReportContent::Inbound(number) => Some((report.id, report.account, number)),
            ReportContent::Dlr(_) => None,
        });
        let wanted: Vec<_> = wanted.collect();
        if wanted.is_empty() {
            return Ok(Vec::new());
        }
        self.store.inner.backend.mo_messages(wanted).await
    }

    /// What became of reports that were taken here. Others are passed over. It is written soon; a report that was taken
    /// just before the process dies may be told again.
    pub async fn settle(
        &self,
        outcomes: Vec<(ReportId, ReportOutcome)>,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let outboxes = &self.store.inner.shared.outboxes;
        outboxes.clock_is(now);
        // First a place in the queue: whoever does not wait for it has settled nothing.
        let place = self.store.inner.queue.reserve().await.map_err(|_| StoreError::Closed)?;
        // By the clock that everything else here goes by.
        let now = outboxes.now();
        let (settled, due) =
            self.outbox.with(|state| (state.settle(self.number, outcomes, now), state.next_due()));
        outboxes.due_at(due);
        let FinishedIds { accepted: taken, refused } = settled;
        let ends = FinishedReports { connection: self.connection, accepted: taken, refused, now };
        if !ends.is_empty() {
            place.send(Op::Command(ends.into(), None));
        }
        Ok(())
    }

    /// Reads on from the tables. If the caller does not wait to the end, somebody else gets what was read.
    async fn read(&self, refill: Refill) {
        let reading = Reading(self.outbox.clone());
        let outboxes = &self.store.inner.shared.outboxes;
        let (connection, now) = (self.connection, outboxes.now());
        let refilled = move |page| {
            // That the read has ended shows when `reading` goes.
            reading.0.with(|state| {
                state.refill(refill, page, now);
                state.next_due()
            })
        };
        let read = self.store.inner.backend.report_page(connection, refill.after, refill.limit, refilled);
        match read.await {
            Ok(due) => outboxes.due_at(due),
            Err(fault) => {
                tracing::warn!(%fault, connection.id = %connection, "Reports could not be read; trying again soon");
                outboxes.pause(&self.outbox);
            }
        }
    }
}

impl Drop for ReceiverPort {
    fn drop(&mut self) {
        let outboxes = &self.store.inner.shared.outboxes;
        let place = self.store.inner.queue.try_reserve();
        let taken = outboxes.close(self.connection, &self.outbox, self.number, place.is_ok());
        if let (Ok(place), false) = (place, taken.is_empty()) {
            let now = outboxes.now();
            let ends =
                FinishedReports { connection: self.connection, accepted: taken, refused: Vec::new(), now };
            place.send(Op::Command(ends.into(), None));
        }
    }
}

/// For as long as a port waits. Whoever stops waiting passes on what woke it.
struct Waiting<'a>(&'a ReceiverPort);

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        let Waiting(port) = self;
        port.outbox.with(|state| state.no_longer_waits(port.number));
    }
}

/// For as long as a read is under way, whether or not somebody waits for it.
struct Reading(Arc<SharedOutbox>);

impl Drop for Reading {
    fn drop(&mut self) {
        self.0.with(Outbox::read_ended);
    }
}
