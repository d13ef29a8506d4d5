//! A customer bind's port to the store: takes reports to send, and records their results.

use crate::error::StoreError;
use crate::report_port::ReportPort;
use crate::store::Store;
use hermod_domain::ids::ConnectionId;
use hermod_domain::time::Timestamp;
use hermod_engine::ops::{MoMessage, Report, ReportContent, ReportId, ReportOutcome};

/// The port of one bind that receives reports. When it is dropped, reports that it took and did not settle are sent again
/// later.
pub struct ReceiverPort {
    store: Store,
    port: ReportPort,
}

impl Store {
    /// Opens a port for a bind of this connection.
    pub fn open_receiver(&self, connection: ConnectionId) -> ReceiverPort {
        let port = ReportPort::open(self.inner.access.clone(), connection);
        ReceiverPort { store: self.clone(), port }
    }
}

impl ReceiverPort {
    /// Waits for reports and returns at most `most`. Of several binds that wait, the one with the fewest outstanding reports is
    /// served first. Dropping the future loses nothing.
    pub async fn take(&self, most: u32, now: Timestamp) -> Vec<Report> {
        self.port.take(most, now).await
    }

    /// Returns the MO messages that these reports deliver. Purged ones are left out.
    pub async fn inbound(&self, reports: &[Report]) -> Result<Vec<(ReportId, MoMessage)>, StoreError> {
        let wanted = reports.iter().filter_map(|report| match report.content {
            ReportContent::Inbound(number) => Some((report.id, report.account, number)),
            ReportContent::Dlr(_) => None,
        });
        let wanted: Vec<_> = wanted.collect();
        if wanted.is_empty() {
            return Ok(Vec::new());
        }
        self.store.inner.access.backend.mo_messages(wanted).await
    }

    /// Records the results of reports that this port took; other reports are ignored. The results are queued when this
    /// returns, not durable: a report that is settled just before the process ends may be sent again.
    pub async fn settle(
        &self,
        outcomes: Vec<(ReportId, ReportOutcome)>,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        self.port.settle(outcomes, now).await
    }
}
