//! SQL for reviews of messages that a screening rule held.

use crate::sql::{Connection, SqlTables, described, params};
use hermod_domain::ids::AccountId;
use hermod_domain::time::Timestamp;
use hermod_engine::ops::{OPEN_REVIEWS_COUNTED_MAX, OpenReviews};
use hermod_engine::tables::{ReviewCase, ReviewCounter, ReviewRows, ReviewState, TableError};

impl ReviewRows for SqlTables<'_> {
    fn last_review(&self) -> Result<u64, TableError> {
        let counter: Option<ReviewCounter> = described::row(self.connection, "", [])?;
        Ok(counter.map_or(0, |counter| counter.last))
    }

    fn review(&self, id: u64) -> Result<Option<ReviewCase>, TableError> {
        find(self.connection, id)
    }

    fn review_by_digest(
        &self,
        account: AccountId,
        digest: &[u8; 16],
    ) -> Result<Option<ReviewCase>, TableError> {
        find_by_digest(self.connection, account, digest)
    }

    fn count_open_reviews(&self, account: AccountId, limit: u32) -> Result<u32, TableError> {
        count_open_of(self.connection, account, limit)
    }
}

/// Returns how many cases of an account are open, at most `limit`.
pub(crate) fn count_open_of(
    connection: &Connection,
    account: AccountId,
    limit: u32,
) -> Result<u32, TableError> {
    // The literal makes SQLite use the partial index.
    let count = connection
        .prepare_cached(
            "SELECT count(*) FROM (SELECT 1 FROM review WHERE account = ?1 AND state = 0 LIMIT ?2) AS counted",
        )?
        .query_row(params![account.get(), limit], |row| row.get(0))?;
    Ok(count)
}

/// Returns the case of a text of an account.
pub(crate) fn find_by_digest(
    connection: &Connection,
    account: AccountId,
    digest: &[u8; 16],
) -> Result<Option<ReviewCase>, TableError> {
    described::row(connection, "WHERE account = ?1 AND digest = ?2", params![account.get(), digest])
}

/// Returns the case with this id.
pub(crate) fn find(connection: &Connection, id: u64) -> Result<Option<ReviewCase>, TableError> {
    described::row(connection, "WHERE id = ?1", [stored_id(id)])
}

/// Returns cases before an id, newest first; of one account or of all, optionally only those in a state.
pub(crate) fn page(
    connection: &Connection,
    account: Option<AccountId>,
    state: Option<ReviewState>,
    before: Option<u64>,
    limit: u32,
) -> Result<Vec<ReviewCase>, TableError> {
    let before = before.map_or(i64::MAX, stored_id);
    let in_state = if state.is_some() { "state = ?3 AND" } else { "?3 IS NULL AND" };
    let of_account = if account.is_some() { "account = ?4 AND" } else { "?4 IS NULL AND" };
    let matching = format!("WHERE {in_state} {of_account} id < ?1 ORDER BY id DESC LIMIT ?2");
    let (state, account) = (state.map(ReviewState::to_stored), account.map(AccountId::get));
    described::rows(connection, &matching, params![before, limit, state, account])
}

/// Returns the number of open cases, at most [`OPEN_REVIEWS_COUNTED_MAX`], and when the oldest was opened.
pub(crate) fn count_open(connection: &Connection) -> Result<OpenReviews, TableError> {
    // The literals make SQLite use the index on states.
    let (count, oldest): (i64, Option<i64>) = connection
        .prepare_cached(
            "SELECT (SELECT count(*) FROM (SELECT 1 FROM review WHERE state = 0 LIMIT ?1) AS counted),
                 (SELECT opened_at FROM review WHERE state = 0 ORDER BY id LIMIT 1)",
        )?
        .query_row([OPEN_REVIEWS_COUNTED_MAX], |row| row.try_into())?;
    Ok(OpenReviews { count: count.cast_unsigned(), oldest: oldest.map(Timestamp::from_millis) })
}

/// Returns the cases after an id, in order, at most `limit`.
pub(crate) fn page_after(
    connection: &Connection,
    after: Option<u64>,
    limit: usize,
) -> Result<Vec<ReviewCase>, TableError> {
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let page = params![after.map_or(0, stored_id), limit];
    described::rows(connection, "WHERE id > ?1 ORDER BY id LIMIT ?2", page)
}

/// Returns the stored form of an id. A number too large for the column matches no case.
fn stored_id(id: u64) -> i64 {
    i64::try_from(id).unwrap_or(i64::MAX)
}
