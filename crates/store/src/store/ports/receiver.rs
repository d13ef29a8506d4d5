//! A customer bind's port to the store: takes reports to send, and records their results.

use crate::error::StoreError;
use crate::nodes::RemotePort;
use crate::sql::engine_reads;
use crate::store::Store;
use crate::writer::report_port::ReportPort;
use hermod_domain::ids::ConnectionId;
use hermod_domain::time::Timestamp;
use hermod_engine::ops::{MoMessage, Report, ReportContent, ReportId, ReportOutcome};
use std::sync::{Arc, OnceLock};

/// The port of one bind that receives reports. When it is dropped, reports that it took and did not settle are sent again
/// later.
pub struct ReceiverPort {
    store: Store,
    connection: ConnectionId,
    /// If the engine was on another node.
    remote: Option<Arc<RemotePort>>,
    /// If the engine was here.
    local: OnceLock<ReportPort>,
}

impl Store {
    /// Opens a port for a bind of this connection.
    pub fn open_receiver(&self, connection: ConnectionId) -> ReceiverPort {
        let remote = self.inner.front_end.as_ref().filter(|_| !self.runs_engine());
        let remote = remote.map(|front_end| front_end.open_port(connection));
        let port = ReceiverPort { store: self.clone(), connection, remote, local: OnceLock::new() };
        if port.remote.is_none() {
            port.here();
        }
        port
    }
}

impl ReceiverPort {
    /// Returns the port to the outbox of this process.
    fn here(&self) -> &ReportPort {
        let access = &self.store.inner.access;
        match &self.remote {
            Some(remote) => remote.here(access),
            None => self.local.get_or_init(|| ReportPort::open(access.clone(), self.connection)),
        }
    }
}

impl Drop for ReceiverPort {
    fn drop(&mut self) {
        if let (Some(front_end), Some(remote)) = (&self.store.inner.front_end, &self.remote) {
            front_end.close_port(remote);
        }
    }
}

impl ReceiverPort {
    /// Waits for reports and returns at most `most`. Of several binds that wait, the one with the fewest outstanding reports is
    /// served first. Dropping the future loses nothing.
    pub async fn take(&self, most: u32, now: Timestamp) -> Vec<Report> {
        let Some(remote) = &self.remote else { return self.here().take(most, now).await };
        let mut runs_engine = self.store.inner.access.shared.runs_engine.subscribe();
        tokio::select! {
            biased;
            _ = runs_engine.wait_for(|here| *here) => {}
            reports = remote.take(most, now) => return reports,
        }
        // This node has taken over.
        self.here().take(most, now).await
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
        self.store.read(move |database| engine_reads::mo_messages(database, wanted)).await
    }

    /// Records the results of reports that this port took; other reports are ignored. The results are queued when this
    /// returns, not durable: a report that is settled just before the process ends may be sent again.
    pub async fn settle(
        &self,
        outcomes: Vec<(ReportId, ReportOutcome)>,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let here = match &self.remote {
            Some(remote) => remote.settle(outcomes, now),
            None => Some(outcomes),
        };
        match here {
            Some(outcomes) => self.here().settle(outcomes, now).await,
            None => Ok(()),
        }
    }
}
