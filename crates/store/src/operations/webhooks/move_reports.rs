//! Moves reports to the webhook of customers that submit on transmitter binds and have had no receiver bound for a while. New
//! reports of such customers become webhook events at once (in the engine); this moves the ones that wait, in small steps.

use crate::backend::read_results::OnTransmitters;
use crate::error::StoreError;
use crate::operations::ReportStore;
use crate::sql::reports;
use hermod_domain::ids::ConnectionId;
use hermod_domain::time::Timestamp;
use hermod_engine::batch::BoundReceivers;
use hermod_engine::commands::MoveToWebhook;
use hermod_engine::ops::ReportId;
use hermod_engine::webhooks::tells_by_webhook;
use std::collections::HashMap;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Reports per read, and moved in one transaction.
const REPORTS_PER_READ: usize = 500;
/// Maximum number of reports read in one tick; the next tick continues.
const REPORTS_PER_TICK: usize = 4_000;
/// How many reports a read counts as at least, because a read has a cost even if it finds nothing.
const READ_COUNTS_AS: usize = 50;
/// Pause after a scan that has read all reports.
const SCAN_EVERY: Duration = Duration::from_secs(1);

/// The position of the scan over the reports of connections without a receiver.
pub(crate) struct ReportMover {
    scan: Mutex<Scan>,
    next_scan_ms: AtomicI64,
}

#[derive(Default)]
struct Scan {
    positions: HashMap<ConnectionId, Position>,
    /// The connection that was scanned last. The next tick continues after it, so that all connections take turns.
    last: Option<ConnectionId>,
}

impl Default for ReportMover {
    fn default() -> ReportMover {
        ReportMover { scan: Mutex::default(), next_scan_ms: AtomicI64::new(i64::MIN) }
    }
}

/// How far a connection's reports were read. While the connection stays without a receiver and has a webhook, each report is
/// read only once.
#[derive(Clone, Copy)]
struct Position {
    /// Since when the connection has had no receiver.
    since: Timestamp,
    last: ReportId,
}

impl ReportMover {
    /// Whether the next scan is due. Also true if it is due later than ever scheduled: then the clock was set back.
    fn is_time(&self, now: Timestamp) -> bool {
        let wait_ms = self.next_scan_ms.load(Ordering::Relaxed).saturating_sub(now.as_millis());
        wait_ms <= 0 || u128::from(wait_ms.unsigned_abs()) > SCAN_EVERY.as_millis()
    }

    fn schedule_scan(&self, at: Timestamp) {
        self.next_scan_ms.store(at.as_millis(), Ordering::Relaxed);
    }

    /// Returns the connections in order, beginning after the one that was scanned last.
    fn in_turn(&self, mut connections: Vec<ConnectionId>) -> Vec<ConnectionId> {
        connections.sort_unstable();
        if let Some(last) = self.scan().last {
            let done = connections.partition_point(|connection| *connection <= last);
            connections.rotate_left(done);
        }
        connections
    }

    fn set_last(&self, connection: ConnectionId) {
        self.scan().last = Some(connection);
    }

    /// Returns the last report that was read, if the connection has been without a receiver since then.
    fn position(&self, connection: ConnectionId, since: Timestamp) -> ReportId {
        let position = self.scan().positions.get(&connection).copied();
        position.filter(|position| position.since == since).map_or(ReportId(0), |position| position.last)
    }

    fn set_position(&self, connection: ConnectionId, position: Position) {
        self.scan().positions.insert(connection, position);
    }

    /// Makes the next scan of the connection begin with its first report.
    fn reset_position(&self, connection: ConnectionId) {
        self.scan().positions.remove(&connection);
    }

    fn scan(&self) -> MutexGuard<'_, Scan> {
        self.scan.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ReportStore<'_> {
    /// Moves waiting reports of connections without a receiver to their webhooks, if a scan is due. Called by
    /// [`Store::tick`](crate::operations::Store::tick). An error is logged, and the next scan tries again.
    pub(crate) async fn move_to_webhooks(self, now: Timestamp) {
        let mover = &self.0.inner.report_mover;
        if !mover.is_time(now) {
            return;
        }
        mover.schedule_scan(now.plus(SCAN_EVERY));
        let mut left = REPORTS_PER_TICK;
        for connection in mover.in_turn(self.0.inner.access.shared.outboxes.connections_with_reports()) {
            mover.set_last(connection);
            if let Err(error) = self.move_reports_of(connection, now, &mut left).await {
                tracing::warn!(%error, connection.id = %connection, "Reports could not be moved to a webhook; retrying");
                return;
            }
            if left == 0 {
                mover.schedule_scan(now);
                return;
            }
        }
    }

    /// Moves the reports of one connection. `left`: how many reports may still be read in this tick.
    async fn move_reports_of(
        self,
        connection: ConnectionId,
        now: Timestamp,
        left: &mut usize,
    ) -> Result<(), StoreError> {
        let (shared, mover) = (&self.0.inner.access.shared, &self.0.inner.report_mover);
        let away = shared.outboxes.receivers().away_since(connection, now);
        let has_webhook = tells_by_webhook(&shared.catalogue.load(), connection);
        let Some(since) = away.filter(|_| has_webhook) else {
            mover.reset_position(connection);
            return Ok(());
        };
        while *left > 0 {
            let after = mover.position(connection, since);
            // All reports up to this one are durable, so a read that ends before it has seen them all.
            let newest = shared.outboxes.newest();
            if after >= newest {
                break;
            }
            let read = self.0.read(move |database| {
                reports::on_transmitters(database, connection, after, REPORTS_PER_READ)
            });
            let OnTransmitters { reports, last, rows_read } = read.await?;
            *left = left.saturating_sub(rows_read.max(READ_COUNTS_AS));
            let more = rows_read == REPORTS_PER_READ;
            if !reports.is_empty() {
                let moved = self.0.request(MoveToWebhook { connection, reports, now }).await?;
                let Some(moved) = moved else { break };
                shared.outboxes.remove(connection, &moved);
            }
            let last = if more { last } else { newest.max(last) };
            mover.set_position(connection, Position { since, last });
            if !more {
                break;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
#[path = "move_reports_tests.rs"]
mod tests;
