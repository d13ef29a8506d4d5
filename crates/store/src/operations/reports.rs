//! Operations on reports: count those that wait, give up old ones, list those that were given up.

use crate::error::StoreError;
use crate::operations::ReportStore;
use crate::sql::{given_up_reports, reports};
use hermod_domain::ids::{AccountId, ConnectionId};
use hermod_domain::time::Timestamp;
use hermod_engine::commands::{ForgetGivenUp, GiveUpOldReports};
use hermod_engine::ops::{GivenUpReport, ReportId};
use hermod_engine::report::REPORTS_PER_WRITE;

impl ReportStore<'_> {
    /// Returns reports that were given up, of one account or of all, after `after`, oldest first.
    pub async fn given_up(
        self,
        account: Option<AccountId>,
        after: Option<ReportId>,
        limit: u32,
    ) -> Result<Vec<GivenUpReport>, StoreError> {
        self.0.read(move |database| given_up_reports::list_given_up(database, account, after, limit)).await
    }

    /// Returns how many reports of a connection are not settled, outstanding ones included.
    pub async fn waiting(self, connection: ConnectionId) -> Result<u64, StoreError> {
        let known = self.0.inner.access.shared.outboxes.waiting(connection).filter(|_| self.0.runs_engine());
        match known {
            Some(count) => Ok(count),
            None => self.0.read(move |database| reports::count_reports(database, connection)).await,
        }
    }

    /// Gives up reports that no bind has taken within their time.
    pub(crate) async fn give_up_old(self, now: Timestamp) -> Result<(), StoreError> {
        self.0.inner.access.shared.outboxes.advance_clock(now);
        for connection in self.0.inner.access.shared.outboxes.connections_with_reports() {
            loop {
                let given_up = self.0.request(GiveUpOldReports { connection, now }).await?;
                self.0.inner.access.shared.outboxes.remove(connection, &given_up);
                if given_up.len() < REPORTS_PER_WRITE {
                    break;
                }
            }
        }
        Ok(())
    }

    /// Deletes a bounded number of given-up reports whose retention is over. Returns how many.
    pub(crate) async fn purge_given_up(self, now: Timestamp) -> Result<u64, StoreError> {
        let forgotten = self.0.request(ForgetGivenUp { now }).await?;
        Ok(u64::try_from(forgotten).unwrap_or(u64::MAX))
    }
}
