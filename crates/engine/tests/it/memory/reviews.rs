//! Messages held for review, and the decisions about them.

use super::columns::{stored_number, stored_sender};
use super::{MemoryTables, Rows};
use hermod_domain::ids::AccountId;
use hermod_domain::time::Timestamp;
use hermod_engine::ops::{ReviewCase, ReviewState, Screened};
use hermod_engine::tables::{ReopenedReview, ReviewChange, ReviewRows, ReviewStatus, TableError};

/// The row of a case.
#[derive(Clone, Debug)]
pub(super) struct Row {
    pub(super) account: AccountId,
    digest: [u8; 16],
    from: String,
    pub(super) to: u64,
    text: String,
    rules: Vec<String>,
    pub(super) opened_at: Timestamp,
    last_at: Timestamp,
    seen: u64,
    state: ReviewState,
    decided_at: Option<Timestamp>,
    decided_by: String,
    reason: String,
}

impl Row {
    fn standing(&self, id: u64) -> ReviewStatus {
        let Row { state, decided_at, last_at, seen, .. } = *self;
        ReviewStatus { id, state, decided_at, last_at, seen }
    }
}

impl Rows {
    #[track_caller]
    fn add_review(&mut self, id: u64, screened: &Screened) {
        let Screened { account, from, to, text, digest, rules, now } = screened;
        let there = self.review.values().find(|row| row.account == *account && row.digest == *digest);
        assert!(there.is_none(), "{screened:?} is added and one has its digest: {there:?}");
        let row = Row {
            account: *account,
            digest: *digest,
            from: from.as_str().to_owned(),
            to: to.number(),
            text: text.clone(),
            rules: rules.clone(),
            opened_at: *now,
            last_at: *now,
            seen: 1,
            state: ReviewState::Open,
            decided_at: None,
            decided_by: String::new(),
            reason: String::new(),
        };
        self.review.add(id, row);
        // The store's table counts the ids that it has given, those of deleted rows included.
        let last = self.review_sequence.get(&()).copied().unwrap_or(0);
        self.review_sequence.put((), last.max(id));
    }
}

impl ReviewRows for MemoryTables {
    fn last_review(&self) -> Result<u64, TableError> {
        Ok(self.read().review_sequence.get(&()).copied().unwrap_or(0))
    }

    fn change_review(&self, change: &ReviewChange) -> Result<(), TableError> {
        let rows = &mut *self.write();
        match change {
            ReviewChange::Add { id, screened } => rows.add_review(*id, screened),
            ReviewChange::Met { id, last_at, seen } => rows.review.update(id, |row| {
                row.last_at = *last_at;
                row.seen = *seen;
            }),
            ReviewChange::Reopen { id, reopened } => rows.review.update(id, |row| {
                let ReopenedReview { to, rules, at, seen } = reopened.clone();
                row.state = ReviewState::Open;
                row.decided_at = None;
                row.decided_by = String::new();
                row.reason = String::new();
                row.to = to.number();
                row.rules = rules;
                row.opened_at = at;
                row.last_at = at;
                row.seen = seen;
            }),
            ReviewChange::Decision { id, state, at, by, reason } => rows.review.update(id, |row| {
                row.state = *state;
                row.decided_at = Some(*at);
                row.decided_by = by.clone();
                row.reason = reason.clone();
            }),
            ReviewChange::Delete(id) => drop(rows.review.delete(id)),
        }
        Ok(())
    }

    fn review(&self, id: u64) -> Result<Option<ReviewCase>, TableError> {
        let rows = self.read();
        let Some(row) = rows.review.get(&id) else { return Ok(None) };
        Ok(Some(ReviewCase {
            id,
            account: row.account,
            from: stored_sender(&row.from)?,
            to: stored_number(row.to)?,
            text: row.text.clone(),
            rules: row.rules.iter().filter(|rule| !rule.is_empty()).cloned().collect(),
            opened_at: row.opened_at,
            last_at: row.last_at,
            seen: row.seen,
            state: row.state,
            decided_at: row.decided_at,
            decided_by: row.decided_by.clone(),
            reason: row.reason.clone(),
        }))
    }

    fn review_by_digest(
        &self,
        account: AccountId,
        digest: &[u8; 16],
    ) -> Result<Option<ReviewStatus>, TableError> {
        let rows = self.read();
        let found = rows.review.iter().find(|(_, row)| row.account == account && row.digest == *digest);
        Ok(found.map(|(id, row)| row.standing(*id)))
    }

    fn review_status(&self, id: u64) -> Result<Option<ReviewStatus>, TableError> {
        Ok(self.read().review.get(&id).map(|row| row.standing(id)))
    }

    fn count_open_reviews(&self, account: AccountId, limit: u32) -> Result<u32, TableError> {
        let rows = self.read();
        let open =
            rows.review.values().filter(|row| row.account == account && row.state == ReviewState::Open);
        Ok(u32::try_from(open.take(usize::try_from(limit)?).count())?)
    }
}
