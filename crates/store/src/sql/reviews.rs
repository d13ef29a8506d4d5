//! SQL for reviews of messages that a screening rule held.

use crate::sql::SqlTables;
use crate::sql::columns::{stored_number, stored_sender};
use crate::sql::{Connection, OptionalExtension, Row, params};
use hermod_domain::ids::AccountId;
use hermod_domain::time::Timestamp;
use hermod_engine::ops::{OPEN_REVIEWS_COUNTED_MAX, OpenReviews, ReviewCase, ReviewState, Screened};
use hermod_engine::tables::{ReopenedReview, ReviewChange, ReviewRows, ReviewStatus, TableError};

/// Separates the names of the rules in a row. Names are printable, so none contains it.
const RULE_SEPARATOR: &str = "\u{1f}";

/// The columns in the order that [`read`] expects.
const COLUMNS: &str =
    "id, account, source, dest, text, rules, opened_at, last_at, seen, state, decided_at, decided_by, reason";

impl SqlTables<'_> {
    fn add_review(&self, id: u64, screened: &Screened) -> Result<(), TableError> {
        let Screened { account, from, to, text, digest, rules, now } = screened;
        self.connection
            .prepare_cached(
                "INSERT INTO review (id, account, digest, source, dest, text, rules, opened_at, last_at, seen, state,
                     decided_by)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?8, 1, ?9, '')",
            )?
            .execute(params![
                stored_id(id),
                account.get(),
                digest,
                from.as_str(),
                to.number().cast_signed(),
                text,
                rules.join(RULE_SEPARATOR),
                now.as_millis(),
                ReviewState::Open.to_stored()
            ])?;
        if let Connection::Postgres(_) = self.connection {
            // SQLite counts by itself.
            self.connection
                .execute("UPDATE review_counter SET last = ?1 WHERE last < ?1", [stored_id(id)])?;
        }
        Ok(())
    }

    fn put_review_met(&self, id: u64, last_at: Timestamp, seen: u64) -> Result<(), TableError> {
        self.connection
            .prepare_cached("UPDATE review SET seen = ?2, last_at = ?3 WHERE id = ?1")?
            .execute(params![stored_id(id), seen.cast_signed(), last_at.as_millis()])?;
        Ok(())
    }

    fn put_review_open(&self, id: u64, reopened: &ReopenedReview) -> Result<(), TableError> {
        let ReopenedReview { to, rules, at, seen } = reopened;
        self.connection
            .prepare_cached(
                "UPDATE review SET state = ?2, decided_at = NULL, decided_by = '', reason = '', dest = ?3, rules = ?4,
                     opened_at = ?5, last_at = ?5, seen = ?6
                 WHERE id = ?1",
            )?
            .execute(params![
                stored_id(id),
                ReviewState::Open.to_stored(),
                to.number().cast_signed(),
                rules.join(RULE_SEPARATOR),
                at.as_millis(),
                seen.cast_signed()
            ])?;
        Ok(())
    }

    fn put_review_decision(
        &self,
        id: u64,
        state: ReviewState,
        at: Timestamp,
        (by, reason): (&str, &str),
    ) -> Result<(), TableError> {
        self.connection
            .prepare_cached(
                "UPDATE review SET state = ?2, decided_at = ?3, decided_by = ?4, reason = ?5 WHERE id = ?1",
            )?
            .execute(params![stored_id(id), state.to_stored(), at.as_millis(), by, reason])?;
        Ok(())
    }

    fn delete_review(&self, id: u64) -> Result<(), TableError> {
        self.connection.prepare_cached("DELETE FROM review WHERE id = ?1")?.execute([stored_id(id)])?;
        Ok(())
    }
}

impl ReviewRows for SqlTables<'_> {
    fn last_review(&self) -> Result<u64, TableError> {
        // AUTOINCREMENT counts the ids of deleted rows too.
        let mut last = self.connection.prepare_cached(match self.connection {
            Connection::Sqlite(_) => {
                "SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'review'"
            }
            Connection::Postgres(_) => "SELECT last FROM review_counter",
        })?;
        Ok(last.query_row([], |row| row.get::<i64>(0))?.cast_unsigned())
    }

    fn change_review(&self, change: &ReviewChange) -> Result<(), TableError> {
        match change {
            ReviewChange::Add { id, screened } => self.add_review(*id, screened),
            ReviewChange::Met { id, last_at, seen } => self.put_review_met(*id, *last_at, *seen),
            ReviewChange::Reopen { id, reopened } => self.put_review_open(*id, reopened),
            ReviewChange::Decision { id, state, at, by, reason } => {
                self.put_review_decision(*id, *state, *at, (by, reason))
            }
            ReviewChange::Delete(id) => self.delete_review(*id),
        }
    }

    fn review(&self, id: u64) -> Result<Option<ReviewCase>, TableError> {
        find(self.connection, id)
    }

    fn review_by_digest(
        &self,
        account: AccountId,
        digest: &[u8; 16],
    ) -> Result<Option<ReviewStatus>, TableError> {
        find_by_digest(self.connection, account, digest)
    }

    fn review_status(&self, id: u64) -> Result<Option<ReviewStatus>, TableError> {
        self.connection
            .prepare_cached("SELECT id, state, decided_at, last_at, seen FROM review WHERE id = ?1")?
            .query_row([stored_id(id)], |row| Ok(read_standing(row)))
            .optional()?
            .transpose()
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
) -> Result<Option<ReviewStatus>, TableError> {
    connection
        .prepare_cached(
            "SELECT id, state, decided_at, last_at, seen FROM review WHERE account = ?1 AND digest = ?2",
        )?
        .query_row(params![account.get(), digest], |row| Ok(read_standing(row)))
        .optional()?
        .transpose()
}

/// Returns the case with this id.
pub(crate) fn find(connection: &Connection, id: u64) -> Result<Option<ReviewCase>, TableError> {
    connection
        .prepare_cached(&format!("SELECT {COLUMNS} FROM review WHERE id = ?1"))?
        .query_row([stored_id(id)], |row| Ok(read(row)))
        .optional()?
        .transpose()
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
    let mut statement = connection.prepare_cached(&format!(
        "SELECT {COLUMNS} FROM review WHERE {in_state} {of_account} id < ?1 ORDER BY id DESC LIMIT ?2"
    ))?;
    let (state, account) = (state.map(ReviewState::to_stored), account.map(AccountId::get));
    let rows = statement.query_map(params![before, limit, state, account], |row| Ok(read(row)))?;
    rows.map(|row| row?).collect()
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

/// Returns the state of the cases after an id, in order, at most `limit`.
pub(crate) fn standings_after(
    connection: &Connection,
    after: Option<u64>,
    limit: usize,
) -> Result<Vec<ReviewStatus>, TableError> {
    let mut statement = connection.prepare_cached(
        "SELECT id, state, decided_at, last_at, seen FROM review WHERE id > ?1 ORDER BY id LIMIT ?2",
    )?;
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let mut rows = statement.query(params![after.map_or(0, stored_id), limit])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        found.push(read_standing(&row)?);
    }
    Ok(found)
}

/// Returns the stored form of an id. A number too large for the column matches no case.
fn stored_id(id: u64) -> i64 {
    i64::try_from(id).unwrap_or(i64::MAX)
}

fn stored_state(number: i64) -> Result<ReviewState, TableError> {
    ReviewState::from_stored(number)
        .ok_or_else(|| TableError::unreadable(format!("{number} is not a state of a review")))
}

fn read_standing(row: &Row<'_>) -> Result<ReviewStatus, TableError> {
    Ok(ReviewStatus {
        id: row.get::<i64>(0)?.cast_unsigned(),
        state: stored_state(row.get(1)?)?,
        decided_at: row.get::<Option<i64>>(2)?.map(Timestamp::from_millis),
        last_at: Timestamp::from_millis(row.get(3)?),
        seen: row.get::<i64>(4)?.cast_unsigned(),
    })
}

fn read(row: &Row<'_>) -> Result<ReviewCase, TableError> {
    let source: String = row.get(2)?;
    let rules: String = row.get(5)?;
    Ok(ReviewCase {
        id: row.get::<i64>(0)?.cast_unsigned(),
        account: AccountId::new(row.get(1)?),
        from: stored_sender(&source)?,
        to: stored_number(row.get(3)?)?,
        text: row.get(4)?,
        rules: rules.split(RULE_SEPARATOR).filter(|rule| !rule.is_empty()).map(str::to_owned).collect(),
        opened_at: Timestamp::from_millis(row.get(6)?),
        last_at: Timestamp::from_millis(row.get(7)?),
        seen: row.get::<i64>(8)?.cast_unsigned(),
        state: stored_state(row.get(9)?)?,
        decided_at: row.get::<Option<i64>>(10)?.map(Timestamp::from_millis),
        decided_by: row.get(11)?,
        reason: row.get(12)?,
    })
}
