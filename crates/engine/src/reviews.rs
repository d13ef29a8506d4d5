//! Reviews of texts that a screening rule matches: one case for each text of each sender of an account, however often
//! it is submitted. The writer decides whether a text is held, so that concurrent submits open one case.

use crate::batch::Batch;
use crate::entry_uses;
use crate::ops::{
    APPROVAL_LASTS, NumberedEntry, REVIEW_CASE_KEPT, REVIEW_CASES_OPEN_MAX, Screened, Screening, Usage,
};
use crate::tables::{ReviewCase, ReviewCounter, ReviewState, RowChange, TableError};
use hermod_domain::ids::AccountId;
use hermod_domain::time::Timestamp;
use serde::{Deserialize, Serialize};

/// The times that make a case old: it was last matched before `met`, and decided, if it was, before `decided`. An
/// approval is kept as long as it is valid, also if the case is old.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OldReviews {
    pub met: Timestamp,
    pub decided: Timestamp,
}

impl OldReviews {
    pub fn at(now: Timestamp) -> OldReviews {
        OldReviews { met: now.minus(REVIEW_CASE_KEPT), decided: now.minus(APPROVAL_LASTS) }
    }

    /// Whether a case is old.
    pub fn include(self, case: &ReviewCase) -> bool {
        case.last_at <= self.met && case.decided_at.is_none_or(|at| at <= self.decided)
    }
}

/// Returns whether a matching text passes, because it was approved lately, or is held. Opens a case for a new text.
pub fn screen(batch: &mut Batch<'_>, screened: &Screened) -> Result<Screening, TableError> {
    let Screened { account, digest, now, .. } = screened;
    batch.advance_to(*now);
    let Some(known) = batch.tables.read()?.review_by_digest(*account, digest)? else {
        return open_case(batch, screened);
    };
    let held = Screening::Held { case: Some(known.id) };
    if known.is_approved_at(*now) {
        return Ok(Screening::Passed);
    }
    match known.state {
        ReviewState::Approved => {
            known.decided_at.ok_or_else(|| TableError::unreadable("an undated approval"))?;
            if has_too_many_open(batch, *account)? {
                return Ok(Screening::Held { case: None });
            }
            reopen_case(batch, known, screened);
            Ok(held)
        }
        ReviewState::Open | ReviewState::Rejected => {
            let (last_at, seen) = (known.last_at.max(*now), known.seen + 1);
            batch.tables.write(RowChange::Put(ReviewCase { last_at, seen, ..known }));
            Ok(held)
        }
    }
}

/// Opens a case, unless the account has too many open ones.
fn open_case(batch: &mut Batch<'_>, screened: &Screened) -> Result<Screening, TableError> {
    if has_too_many_open(batch, screened.account)? {
        return Ok(Screening::Held { case: None });
    }
    entry_uses::note_or_refuse(batch, &[NumberedEntry::Account(screened.account)], Usage::Review)?;
    let id = batch.state.last_ids.next_review();
    let Screened { account, from, to, text, digest, rules, now } = screened.clone();
    batch.tables.write(RowChange::Add(ReviewCase {
        id,
        account,
        digest,
        from,
        to,
        text,
        rules,
        opened_at: now,
        last_at: now,
        seen: 1,
        state: ReviewState::Open,
        decided_at: None,
        decided_by: String::new(),
        reason: String::new(),
    }));
    batch.tables.write(RowChange::Put(ReviewCounter { last: id }));
    Ok(Screening::Held { case: Some(id) })
}

/// Opens a case again whose approval has ended, with the rules that match now.
fn reopen_case(batch: &mut Batch<'_>, known: ReviewCase, screened: &Screened) {
    let Screened { to, rules, now, .. } = screened;
    batch.tables.write(RowChange::Put(ReviewCase {
        to: *to,
        rules: rules.clone(),
        opened_at: *now,
        last_at: *now,
        seen: known.seen + 1,
        state: ReviewState::Open,
        decided_at: None,
        decided_by: String::new(),
        reason: String::new(),
        ..known
    }));
}

/// Whether the account has the most open cases that are allowed.
fn has_too_many_open(batch: &Batch<'_>, account: AccountId) -> Result<bool, TableError> {
    let open = batch.tables.read()?.count_open_reviews(account, REVIEW_CASES_OPEN_MAX)?;
    Ok(open >= REVIEW_CASES_OPEN_MAX)
}

/// Approves or rejects a case. Returns it; none if there is no such case.
pub fn decide(
    batch: &mut Batch<'_>,
    id: u64,
    approve: bool,
    (by, reason): (&str, &str),
    now: Timestamp,
) -> Result<Option<ReviewCase>, TableError> {
    batch.advance_to(now);
    let state = if approve { ReviewState::Approved } else { ReviewState::Rejected };
    let Some(case) = batch.tables.read()?.review(id)? else { return Ok(None) };
    let (decided_by, reason) = (by.to_owned(), reason.to_owned());
    let decided = ReviewCase { state, decided_at: Some(now), decided_by, reason, ..case };
    batch.tables.write(RowChange::Put(decided.clone()));
    Ok(Some(decided))
}

/// Deletes those of these cases that are still old.
pub fn forget(batch: &mut Batch<'_>, cases: &[u64], old: OldReviews) -> Result<(), TableError> {
    for case in cases {
        if batch.tables.read()?.review(*case)?.is_some_and(|case| old.include(&case)) {
            batch.tables.write(RowChange::<ReviewCase>::Delete((*case,)));
        }
    }
    Ok(())
}
