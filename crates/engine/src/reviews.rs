//! Texts that a screening rule has met: one case for each text of each sender of an account, however often it is tried.
//! Whether it is held is settled by the writer, so that a hundred tries at once open one case.

use crate::batch::Batch;
use crate::ops::{
    APPROVAL_LASTS, REVIEW_CASE_KEPT, REVIEW_CASES_OPEN_MAX, ReviewCase, ReviewState, Screened, Screening,
};
use crate::tables::{ReopenedReview, ReviewChange, ReviewStatus, TableError};
use hermod_domain::ids::AccountId;
use hermod_domain::time::Timestamp;

/// Before these times a case was last met, and decided if it was, that is old. An approval is kept for as long as it lasts,
/// however old the case is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OldReviews {
    pub met: Timestamp,
    pub decided: Timestamp,
}

impl OldReviews {
    pub fn at(now: Timestamp) -> OldReviews {
        OldReviews { met: now.minus(REVIEW_CASE_KEPT), decided: now.minus(APPROVAL_LASTS) }
    }

    pub fn include(self, case: &ReviewStatus) -> bool {
        case.last_at <= self.met && case.decided_at.is_none_or(|at| at <= self.decided)
    }
}

impl Batch<'_> {
    pub fn screen(&mut self, screened: &Screened) -> Result<Screening, TableError> {
        let Screened { account, digest, now, .. } = screened;
        self.advance_to(*now);
        let Some(known) = self.tables.read()?.review_by_digest(*account, digest)? else {
            return self.open_case(screened);
        };
        let held = Screening::Held { case: Some(known.id) };
        match known.state {
            ReviewState::Approved => {
                let decided_at =
                    known.decided_at.ok_or_else(|| TableError::unreadable("an undated approval"))?;
                if *now < decided_at.plus(APPROVAL_LASTS) {
                    return Ok(Screening::Passed);
                }
                if self.has_too_many_open(*account)? {
                    return Ok(Screening::Held { case: None });
                }
                self.reopen_case(known, screened);
                Ok(held)
            }
            ReviewState::Open | ReviewState::Rejected => {
                let (last_at, seen) = (known.last_at.max(*now), known.seen + 1);
                self.tables.write(ReviewChange::Met { id: known.id, last_at, seen });
                Ok(held)
            }
        }
    }

    fn open_case(&mut self, screened: &Screened) -> Result<Screening, TableError> {
        if self.has_too_many_open(screened.account)? {
            return Ok(Screening::Held { case: None });
        }
        let id = self.state.last_ids.next_review();
        self.tables.write(ReviewChange::Add { id, screened: Box::new(screened.clone()) });
        Ok(Screening::Held { case: Some(id) })
    }

    /// Opens a case again whose approval is over, with the rules that its text meets now.
    fn reopen_case(&mut self, known: ReviewStatus, screened: &Screened) {
        let Screened { to, rules, now, .. } = screened;
        let reopened = ReopenedReview { to: *to, rules: rules.clone(), at: *now, seen: known.seen + 1 };
        self.tables.write(ReviewChange::Reopen { id: known.id, reopened });
    }

    fn has_too_many_open(&self, account: AccountId) -> Result<bool, TableError> {
        let open = self.tables.read()?.count_open_reviews(account, REVIEW_CASES_OPEN_MAX)?;
        Ok(open >= REVIEW_CASES_OPEN_MAX)
    }

    pub fn decide_review(
        &mut self,
        id: u64,
        approve: bool,
        by: &str,
        now: Timestamp,
    ) -> Result<Option<ReviewCase>, TableError> {
        self.advance_to(now);
        let state = if approve { ReviewState::Approved } else { ReviewState::Rejected };
        self.tables.write(ReviewChange::Decision { id, state, at: now, by: by.to_owned() });
        self.tables.read()?.review(id)
    }

    /// Deletes these cases, except those that are not old any more because a message met them meanwhile.
    pub fn forget_reviews(&mut self, cases: &[u64], old: OldReviews) -> Result<(), TableError> {
        for case in cases {
            if self.tables.read()?.review_status(*case)?.is_some_and(|case| old.include(&case)) {
                self.tables.write(ReviewChange::Delete(*case));
            }
        }
        Ok(())
    }
}
