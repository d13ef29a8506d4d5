//! The store's operations on messages held for review: what the writer is asked to do, and what is read beside it.

use crate::error::StoreError;
use crate::store::Store;
use hermod_domain::time::Timestamp;
use hermod_engine::commands::{DecideReview, ForgetReviews};
use hermod_engine::ops::{OpenReviews, PAGE_ROWS_MAX, ReviewCase, ReviewState, Screened, Screening};
use hermod_engine::reviews::OldReviews;

/// Cases that are read at a time, and deleted in one transaction.
const CASES_PER_STEP: usize = 500;
/// Cases that a call looks at and keeps.
const CASES_KEPT_PER_CALL: usize = 5_000;

impl Store {
    /// Whether a text that a rule has met may pass: if it was approved lately. Otherwise its case is opened, or counted
    /// up. It writes, so a replay and an opt-out are looked for first.
    pub async fn screen(&self, screened: Screened) -> Result<Screening, StoreError> {
        self.request(screened).await
    }

    /// Cases of every account, newest first, from before one or from the end; all of them or those in a state.
    pub async fn reviews(
        &self,
        state: Option<ReviewState>,
        before: Option<u64>,
        limit: u32,
    ) -> Result<Vec<ReviewCase>, StoreError> {
        let limit = limit.min(PAGE_ROWS_MAX);
        self.inner.backend.reviews(state, before, limit).await
    }

    pub async fn review(&self, id: u64) -> Result<Option<ReviewCase>, StoreError> {
        self.inner.backend.review(id).await
    }

    /// How many cases wait for a decision, over all accounts.
    pub async fn open_reviews(&self) -> Result<OpenReviews, StoreError> {
        self.inner.backend.open_reviews().await
    }

    /// Approves or rejects a case, whatever was decided before. Nothing if there is no such case.
    pub async fn decide_review(
        &self,
        id: u64,
        approve: bool,
        by: String,
        now: Timestamp,
    ) -> Result<Option<ReviewCase>, StoreError> {
        Ok(self.request(DecideReview { id, approve, by, now }).await?.map(|case| *case))
    }

    /// Deletes cases that no text has met for a long time: continues where the last call ended, and keeps
    /// [`CASES_KEPT_PER_CALL`] at most.
    pub(crate) async fn forget_reviews(&self, now: Timestamp) -> Result<(), StoreError> {
        let times = OldReviews::at(now);
        let mut after = self.walk_places().review.take();
        let mut kept = 0;
        while kept < CASES_KEPT_PER_CALL {
            // Read beside the writer, which then has only to delete.
            let page = self.inner.backend.review_standings(after, CASES_PER_STEP).await?;
            after = page.last().filter(|_| page.len() == CASES_PER_STEP).map(|case| case.id);
            let old: Vec<u64> = page.iter().filter(|case| times.include(case)).map(|case| case.id).collect();
            kept += page.len() - old.len();
            if !old.is_empty() {
                self.request(ForgetReviews { cases: old, old: times }).await?;
            }
            if after.is_none() {
                break;
            }
        }
        self.walk_places().review = after;
        Ok(())
    }
}
