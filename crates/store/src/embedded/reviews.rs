//! Texts that a screening rule has met: one case for each text of each sender of an account, however often it is tried.
//! Whether it is held is settled by the writer, so that a hundred tries at once open one case.

use crate::embedded::Embedded;
use crate::embedded::batch::Batch;
use crate::fault::StoreFault;
use hermod_domain::ids::AccountId;
use hermod_domain::phone::Msisdn;
use hermod_domain::sender::Sender;
use hermod_domain::time::Timestamp;
use hermod_engine::ops::{
    APPROVAL_LASTS, OPEN_REVIEWS_COUNTED_MAX, OpenReviews, PAGE_ROWS_MAX, REVIEW_CASE_KEPT,
    REVIEW_CASES_OPEN_MAX, ReviewCase, ReviewState, Screened, Screening,
};
use rusqlite::{Connection, OptionalExtension, Row, params};

/// Between the names of the rules in a case's row. No name has it: names are printable.
const RULE_SEPARATOR: &str = "\u{1f}";
/// Cases that are looked at in one read, and deleted in one transaction.
const CASES_PER_STEP: usize = 500;
/// Cases that a call looks at and keeps.
const CASES_KEPT_PER_CALL: usize = 5_000;

const COLUMNS: &str =
    "id, account, source, dest, text, rules, opened_at, last_at, seen, state, decided_at, decided_by";

/// What the writer needs to know of the case a text has.
struct Known {
    id: i64,
    state: ReviewState,
    decided_at: Option<Timestamp>,
}

impl Embedded {
    /// Whether a text that a rule has met may pass: if it was approved lately. Otherwise its case is opened, or counted
    /// up. It writes, so a replay and an opt-out are looked for first.
    pub async fn screen(&self, screened: Screened) -> Result<Screening, StoreFault> {
        self.request(move |batch| batch.screen(&screened)).await
    }

    /// Cases of every account, newest first, from before one or from the end; all of them or those in a state.
    pub async fn reviews(
        &self,
        state: Option<ReviewState>,
        before: Option<u64>,
        limit: u32,
    ) -> Result<Vec<ReviewCase>, StoreFault> {
        self.inner.readers.run(move |connection| page(connection, state, before, limit)).await
    }

    pub async fn review(&self, id: u64) -> Result<Option<ReviewCase>, StoreFault> {
        self.inner.readers.run(move |connection| find(connection, id)).await
    }

    /// How many cases wait for a decision, over all accounts.
    pub async fn open_reviews(&self) -> Result<OpenReviews, StoreFault> {
        self.inner.readers.run(open_reviews).await
    }

    /// Approves or rejects a case, whatever was decided before. Nothing if there is no such case.
    pub async fn decide_review(
        &self,
        id: u64,
        approve: bool,
        by: String,
        now: Timestamp,
    ) -> Result<Option<ReviewCase>, StoreFault> {
        self.request(move |batch| batch.decide_review(id, approve, &by, now)).await
    }

    /// Deletes cases that no text has met for a long time: goes on where the last call ended, and keeps
    /// [`CASES_KEPT_PER_CALL`] at most.
    pub(crate) async fn forget_reviews(&self, now: Timestamp) -> Result<(), StoreFault> {
        let mut after = self.walk_places().review.take();
        let mut kept = 0;
        while kept < CASES_KEPT_PER_CALL {
            // Looked for beside the writer, which then has only to delete.
            let page = self.inner.readers.run(move |connection| read_cases(connection, after, now)).await?;
            after = page.last().filter(|_| page.len() == CASES_PER_STEP).map(|(id, _)| *id);
            let old: Vec<i64> = page.iter().filter(|(_, is_old)| *is_old).map(|(id, _)| *id).collect();
            kept += page.len() - old.len();
            if !old.is_empty() {
                self.request(move |batch| forget(batch.connection, &old, now)).await?;
            }
            if after.is_none() {
                break;
            }
        }
        self.walk_places().review = after;
        Ok(())
    }
}

impl Batch<'_> {
    fn screen(&mut self, screened: &Screened) -> Result<Screening, StoreFault> {
        let Screened { account, digest, now, .. } = screened;
        self.at(*now);
        let Some(known) = known(self.connection, *account, digest)? else {
            return self.open_case(screened);
        };
        let held = Screening::Held { case: Some(known.id.cast_unsigned()) };
        match known.state {
            ReviewState::Approved => {
                let decided_at =
                    known.decided_at.ok_or_else(|| StoreFault::damaged("an undated approval"))?;
                if *now < decided_at.plus(APPROVAL_LASTS) {
                    return Ok(Screening::Passed);
                }
                if self.has_too_many_open(*account)? {
                    return Ok(Screening::Held { case: None });
                }
                self.reopen_case(known.id, screened)?;
                Ok(held)
            }
            ReviewState::Open | ReviewState::Rejected => {
                self.connection
                    .prepare_cached(
                        "UPDATE review SET seen = seen + 1, last_at = max(last_at, ?2) WHERE id = ?1",
                    )?
                    .execute(params![known.id, now.as_millis()])?;
                Ok(held)
            }
        }
    }

    fn open_case(&mut self, screened: &Screened) -> Result<Screening, StoreFault> {
        let Screened { account, from, to, text, digest, rules, now } = screened;
        if self.has_too_many_open(*account)? {
            return Ok(Screening::Held { case: None });
        }
        self.connection
            .prepare_cached(
                "INSERT INTO review (account, digest, source, dest, text, rules, opened_at, last_at, seen, state,
                     decided_by)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?7, 1, ?8, '')",
            )?
            .execute(params![
                account.get(),
                digest,
                from.as_str(),
                to.number().cast_signed(),
                text,
                rules.join(RULE_SEPARATOR),
                now.as_millis(),
                ReviewState::Open.to_stored()
            ])?;
        Ok(Screening::Held { case: Some(self.connection.last_insert_rowid().cast_unsigned()) })
    }

    /// Its approval is over: somebody has to look again, at the rules it meets now.
    fn reopen_case(&mut self, id: i64, screened: &Screened) -> Result<(), StoreFault> {
        self.connection
            .prepare_cached(
                "UPDATE review SET state = ?2, decided_at = NULL, decided_by = '', dest = ?3, rules = ?4,
                     opened_at = ?5, last_at = ?5, seen = seen + 1
                 WHERE id = ?1",
            )?
            .execute(params![
                id,
                ReviewState::Open.to_stored(),
                screened.to.number().cast_signed(),
                screened.rules.join(RULE_SEPARATOR),
                screened.now.as_millis()
            ])?;
        Ok(())
    }

    fn has_too_many_open(&self, account: AccountId) -> Result<bool, StoreFault> {
        // The literal lets the partial index answer it.
        let full = self
            .connection
            .prepare_cached("SELECT 1 FROM review WHERE account = ?1 AND state = 0 LIMIT 1 OFFSET ?2")?
            .exists(params![account.get(), REVIEW_CASES_OPEN_MAX - 1])?;
        Ok(full)
    }

    fn decide_review(
        &mut self,
        id: u64,
        approve: bool,
        by: &str,
        now: Timestamp,
    ) -> Result<Option<ReviewCase>, StoreFault> {
        self.at(now);
        let state = if approve { ReviewState::Approved } else { ReviewState::Rejected };
        self.connection
            .prepare_cached("UPDATE review SET state = ?2, decided_at = ?3, decided_by = ?4 WHERE id = ?1")?
            .execute(params![stored_id(id), state.to_stored(), now.as_millis(), by])?;
        find(self.connection, id)
    }
}

fn known(
    connection: &Connection,
    account: AccountId,
    digest: &[u8; 16],
) -> Result<Option<Known>, StoreFault> {
    connection
        .prepare_cached("SELECT id, state, decided_at FROM review WHERE account = ?1 AND digest = ?2")?
        .query_row(params![account.get(), digest], |row| {
            let decided_at = row.get::<_, Option<i64>>(2)?.map(Timestamp::from_millis);
            Ok((row.get(0)?, row.get(1)?, decided_at))
        })
        .optional()?
        .map(|(id, state, decided_at)| Ok(Known { id, state: stored_review_state(state)?, decided_at }))
        .transpose()
}

/// An approval is kept for as long as it lasts, however old the case is.
const IS_OLD: &str = "last_at <= ?1 AND ifnull(decided_at <= ?2, 1)";

/// Returns the next [`CASES_PER_STEP`] cases behind one, and of each whether it is to be forgotten.
fn read_cases(
    connection: &Connection,
    after: Option<i64>,
    now: Timestamp,
) -> Result<Vec<(i64, bool)>, StoreFault> {
    let mut statement = connection
        .prepare_cached(&format!("SELECT id, {IS_OLD} FROM review WHERE id > ?3 ORDER BY id LIMIT ?4"))?;
    let (met, decided) = (now.minus(REVIEW_CASE_KEPT), now.minus(APPROVAL_LASTS));
    let limit = i64::try_from(CASES_PER_STEP).unwrap_or(i64::MAX);
    let bounds = params![met.as_millis(), decided.as_millis(), after.unwrap_or(0), limit];
    let rows = statement.query_map(bounds, |row| row.try_into())?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Unless one was met again meanwhile.
fn forget(connection: &Connection, cases: &[i64], now: Timestamp) -> Result<(), StoreFault> {
    let mut statement =
        connection.prepare_cached(&format!("DELETE FROM review WHERE id = ?3 AND {IS_OLD}"))?;
    let (met, decided) = (now.minus(REVIEW_CASE_KEPT), now.minus(APPROVAL_LASTS));
    for case in cases {
        statement.execute(params![met.as_millis(), decided.as_millis(), case])?;
    }
    Ok(())
}

fn find(connection: &Connection, id: u64) -> Result<Option<ReviewCase>, StoreFault> {
    connection
        .prepare_cached(&format!("SELECT {COLUMNS} FROM review WHERE id = ?1"))?
        .query_row([stored_id(id)], |row| Ok(read(row)))
        .optional()?
        .transpose()
}

fn open_reviews(connection: &Connection) -> Result<OpenReviews, StoreFault> {
    // The literals let the index on states answer both.
    let (count, oldest): (i64, Option<i64>) = connection
        .prepare_cached(
            "SELECT (SELECT count(*) FROM (SELECT 1 FROM review WHERE state = 0 LIMIT ?1)),
                 (SELECT opened_at FROM review WHERE state = 0 ORDER BY id LIMIT 1)",
        )?
        .query_row([OPEN_REVIEWS_COUNTED_MAX], |row| row.try_into())?;
    Ok(OpenReviews { count: count.cast_unsigned(), oldest: oldest.map(Timestamp::from_millis) })
}

fn page(
    connection: &Connection,
    state: Option<ReviewState>,
    before: Option<u64>,
    limit: u32,
) -> Result<Vec<ReviewCase>, StoreFault> {
    let (before, limit) = (before.map_or(i64::MAX, stored_id), limit.min(PAGE_ROWS_MAX));
    let filter = if state.is_some() { "state = ?3 AND" } else { "?3 IS NULL AND" };
    let mut statement = connection.prepare_cached(&format!(
        "SELECT {COLUMNS} FROM review WHERE {filter} id < ?1 ORDER BY id DESC LIMIT ?2"
    ))?;
    let rows = statement
        .query_map(params![before, limit, state.map(ReviewState::to_stored)], |row| Ok(read(row)))?;
    rows.map(|row| row?).collect()
}

/// A number no case can have stays one.
fn stored_id(id: u64) -> i64 {
    i64::try_from(id).unwrap_or(i64::MAX)
}

fn stored_review_state(number: i64) -> Result<ReviewState, StoreFault> {
    ReviewState::from_stored(number)
        .ok_or_else(|| StoreFault::damaged(format!("{number} is no state of a review")))
}

fn read(row: &Row<'_>) -> Result<ReviewCase, StoreFault> {
    let source: String = row.get(2)?;
    let dest: i64 = row.get(3)?;
    let rules: String = row.get(5)?;
    Ok(ReviewCase {
        id: row.get::<_, i64>(0)?.cast_unsigned(),
        account: AccountId::new(row.get(1)?),
        from: Sender::parse(&source).map_err(StoreFault::damaged)?,
        to: Msisdn::from_number(dest.cast_unsigned()).ok_or_else(|| StoreFault::damaged("a recipient"))?,
        text: row.get(4)?,
        rules: rules.split(RULE_SEPARATOR).filter(|rule| !rule.is_empty()).map(str::to_owned).collect(),
        opened_at: Timestamp::from_millis(row.get(6)?),
        last_at: Timestamp::from_millis(row.get(7)?),
        seen: row.get::<_, i64>(8)?.cast_unsigned(),
        state: stored_review_state(row.get(9)?)?,
        decided_at: row.get::<_, Option<i64>>(10)?.map(Timestamp::from_millis),
        decided_by: row.get(11)?,
    })
}
