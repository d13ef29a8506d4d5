//! Operations on reviews of messages that a screening rule held.

use crate::error::StoreError;
use crate::operations::ReviewStore;
use crate::sql::reviews;
use hermod_domain::ids::AccountId;
use hermod_domain::time::Timestamp;
use hermod_engine::commands::{DecideReview, ForgetReviews};
use hermod_engine::ops::{OpenReviews, PAGE_ROWS_MAX, REVIEW_CASES_OPEN_MAX, Screened, Screening};
use hermod_engine::reviews::OldReviews;
use hermod_engine::tables::{ReviewCase, ReviewState};

/// Cases per read, and deleted in one transaction.
const CASES_PER_STEP: usize = 500;
/// Cases that one call may read without deleting them.
const CASES_KEPT_PER_CALL: usize = 5_000;

impl ReviewStore<'_> {
    /// Decides on a text that matched a screening rule: it passes if it was approved recently. Otherwise its case is opened, or
    /// its count increased. This writes, so check for duplicates and opt-outs first.
    pub async fn screen(self, screened: Screened) -> Result<Screening, StoreError> {
        self.0.request(screened).await
    }

    /// Whether a text that matches a screening rule passes at a time, because it was approved recently. Writes nothing.
    pub async fn is_approved(
        self,
        account: AccountId,
        digest: [u8; 16],
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let found = self.0.read(move |database| reviews::find_by_digest(database, account, &digest)).await?;
        Ok(found.is_some_and(|case| case.is_approved_at(now)))
    }

    /// Returns how many cases of an account are open, at most [`REVIEW_CASES_OPEN_MAX`].
    pub async fn count_open_of(self, account: AccountId) -> Result<u32, StoreError> {
        self.0.read(move |database| reviews::count_open_of(database, account, REVIEW_CASES_OPEN_MAX)).await
    }

    /// Returns cases before case `before`, or all, newest first; of one account or of all, optionally only those in a state.
    pub async fn list(
        self,
        account: Option<AccountId>,
        state: Option<ReviewState>,
        before: Option<u64>,
        limit: u32,
    ) -> Result<Vec<ReviewCase>, StoreError> {
        let limit = limit.min(PAGE_ROWS_MAX);
        self.0.read(move |database| reviews::page(database, account, state, before, limit)).await
    }

    /// Returns a case.
    pub async fn find(self, id: u64) -> Result<Option<ReviewCase>, StoreError> {
        self.0.read(move |database| reviews::find(database, id)).await
    }

    /// Returns how many cases are open, over all accounts, and since when the oldest is.
    pub async fn count_open(self) -> Result<OpenReviews, StoreError> {
        self.0.read(reviews::count_open).await
    }

    /// Approves or rejects a case and returns it. The customer is told the reason. An earlier decision is replaced. Returns `None` if there is no such case.
    pub async fn decide(
        self,
        id: u64,
        approve: bool,
        by: String,
        reason: String,
        now: Timestamp,
    ) -> Result<Option<ReviewCase>, StoreError> {
        Ok(self.0.request(DecideReview { id, approve, by, reason, now }).await?.map(|case| *case))
    }

    /// Deletes cases that no text has matched for a long time. Continues where the last call ended, and ends after it has read
    /// [`CASES_KEPT_PER_CALL`] that it keeps.
    pub(crate) async fn forget_old(self, now: Timestamp) -> Result<(), StoreError> {
        let times = OldReviews::at(now);
        let mut after = self.0.scan_positions().review.take();
        let mut kept = 0;
        while kept < CASES_KEPT_PER_CALL {
            // A reader finds the cases, so that the writer only deletes.
            let page =
                self.0.read(move |database| reviews::page_after(database, after, CASES_PER_STEP)).await?;
            after = page.last().filter(|_| page.len() == CASES_PER_STEP).map(|case| case.id);
            let old: Vec<u64> = page.iter().filter(|case| times.include(case)).map(|case| case.id).collect();
            kept += page.len() - old.len();
            if !old.is_empty() {
                self.0.request(ForgetReviews { cases: old, old: times }).await?;
            }
            if after.is_none() {
                break;
            }
        }
        self.0.scan_positions().review = after;
        Ok(())
    }
}
