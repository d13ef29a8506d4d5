//! What callers ask of reports: how many wait, which were given up, and that old ones are.

use crate::error::StoreError;
use crate::store::Store;
use hermod_domain::ids::{AccountId, ConnectionId};
use hermod_domain::time::Timestamp;
use hermod_engine::commands::{ForgetGivenUp, GiveUpOldReports};
use hermod_engine::ops::{GivenUpReport, ReportId};
use hermod_engine::report::REPORTS_PER_WRITE;

impl Store {
    /// Reports that were given up, oldest first, behind one of them: an account's, or everyone's.
    pub async fn given_up(
        &self,
        account: Option<AccountId>,
        after: Option<ReportId>,
        limit: u32,
    ) -> Result<Vec<GivenUpReport>, StoreError> {
        self.inner.backend.given_up(account, after, limit).await
    }

    /// How many reports wait for a connection, those under way among them.
    pub async fn reports_waiting(&self, connection: ConnectionId) -> Result<u64, StoreError> {
        match self.inner.shared.outboxes.waiting(connection) {
            Some(count) => Ok(count),
            None => self.inner.backend.count_reports(connection).await,
        }
    }

    /// Gives up what nobody took in time.
    pub(crate) async fn give_up_old_reports(&self, now: Timestamp) -> Result<(), StoreError> {
        self.inner.shared.outboxes.clock_is(now);
        for connection in self.inner.shared.outboxes.with_reports() {
            loop {
                let given_up = self.request(GiveUpOldReports { connection, now }).await?;
                self.inner.shared.outboxes.forget(connection, &given_up);
                if given_up.len() < REPORTS_PER_WRITE {
                    break;
                }
            }
        }
        Ok(())
    }

    /// Forgets some reports that were given up long ago: one step. Returns how many.
    pub(crate) async fn purge_given_up(&self, now: Timestamp) -> Result<u64, StoreError> {
        let forgotten = self.request(ForgetGivenUp { now }).await?;
        Ok(u64::try_from(forgotten).unwrap_or(u64::MAX))
    }
}
