//! SQL for the ledger.

use crate::sql::SqlTables;
use crate::sql::columns::stored_message;
use crate::sql::{Connection, Params, described, params};
use hermod_domain::ids::AccountId;
use hermod_domain::money::Money;
use hermod_domain::time::{Day, Timestamp};
use hermod_engine::ops::{Balance, LedgerKind, LedgerRow};
use hermod_engine::tables::{LedgerRows, MessageRange, Posting, Refund, RolledUpKey, TableError};

impl LedgerRows for SqlTables<'_> {
    fn last_posting(&self) -> Result<i64, TableError> {
        let mut last = self.connection.prepare_cached("SELECT coalesce(max(id), 0) FROM ledger")?;
        Ok(last.query_row([], |row| row.get(0))?)
    }

    fn posting_by_reference(
        &self,
        account: AccountId,
        reference: &str,
    ) -> Result<Option<LedgerRow>, TableError> {
        by_reference(self.connection, account, reference)
    }

    fn refunds(&self, range: MessageRange) -> Result<Vec<Refund>, TableError> {
        let mut statement = self.connection.prepare_cached(
            "SELECT message, at, balance FROM ledger WHERE message BETWEEN ?1 AND ?2 ORDER BY message",
        )?;
        let mut rows = statement.query(params![range.first.as_i64(), range.last.as_i64()])?;
        let mut refunds = Vec::new();
        while let Some(row) = rows.next()? {
            refunds.push(Refund {
                message: stored_message(&row, 0)?,
                at: Timestamp::from_millis(row.get(1)?),
                amount: Money::from_micros(row.get(2)?),
            });
        }
        Ok(refunds)
    }

    fn rolled_up(&self, key: RolledUpKey) -> Result<Option<Posting>, TableError> {
        let RolledUpKey { account, day, kind } = key;
        // The literals make SQLite use the partial index.
        let rest = "WHERE account = ?1 AND at = ?2 AND kind = ?3 AND kind IN (6, 7)";
        let key = params![account.get(), day.start().as_millis(), kind.to_stored()];
        described::row(self.connection, rest, key)
    }
}

/// Returns the account's posting with this reference.
pub(crate) fn by_reference(
    connection: &Connection,
    account: AccountId,
    reference: &str,
) -> Result<Option<LedgerRow>, TableError> {
    let key = params![account.get(), reference];
    let row: Option<Posting> = described::row(connection, "WHERE account = ?1 AND reference = ?2", key)?;
    Ok(row.map(LedgerRow::from))
}

/// Returns the account's postings before an id, newest first.
pub(crate) fn page(
    connection: &Connection,
    account: AccountId,
    before: Option<i64>,
    limit: u32,
) -> Result<Vec<LedgerRow>, TableError> {
    let bounds = params![account.get(), before.unwrap_or(i64::MAX), limit];
    read(connection, "WHERE account = ?1 AND id < ?2 ORDER BY id DESC LIMIT ?3", bounds)
}

/// Returns the account's postings from one day to another, both included, in order of time, except those of one kind.
pub(crate) fn between(
    connection: &Connection,
    account: AccountId,
    (from, to): (Day, Day),
    without: LedgerKind,
    limit: usize,
) -> Result<Vec<LedgerRow>, TableError> {
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let (begin, end) = (from.start().as_millis(), to.next().start().as_millis());
    read(
        connection,
        "WHERE account = ?1 AND at >= ?2 AND at < ?3 AND kind <> ?5 ORDER BY at, id LIMIT ?4",
        params![account.get(), begin, end, limit, without.to_stored()],
    )
}

/// Returns the sum of the account's postings since the beginning of a day, except those of one kind.
pub(crate) fn sum_since(
    connection: &Connection,
    account: AccountId,
    from: Day,
    without: LedgerKind,
) -> Result<Balance, TableError> {
    let sum = connection
        .prepare_cached(
            "SELECT ifnull(sum(balance), 0), ifnull(sum(credit_used), 0) FROM ledger
             WHERE account = ?1 AND at >= ?2 AND kind <> ?3",
        )?
        .query_row(params![account.get(), from.start().as_millis(), without.to_stored()], |row| {
            Ok(Balance {
                balance: Money::from_micros(row.get(0)?),
                credit_used: Money::from_micros(row.get(1)?),
            })
        })?;
    Ok(sum)
}

fn read(connection: &Connection, rest: &str, params: impl Params) -> Result<Vec<LedgerRow>, TableError> {
    let rows: Vec<Posting> = described::rows(connection, rest, params)?;
    Ok(rows.into_iter().map(LedgerRow::from).collect())
}
