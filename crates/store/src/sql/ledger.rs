//! SQL for the ledger.

use crate::sql::SqlTables;
use crate::sql::columns::stored_message;
use crate::sql::{Connection, OptionalExtension, Row, RowKey, params};
use hermod_domain::ids::{AccountId, MessageId};
use hermod_domain::money::Money;
use hermod_domain::time::{Day, Timestamp};
use hermod_engine::ops::{Balance, LedgerKind, LedgerRow};
use hermod_engine::tables::{
    LedgerChange, LedgerRows, MessageRange, Posting, Refund, RolledUpKey, TableError,
};

/// The columns in the order that [`read`] expects.
const COLUMNS: &str = "id, at, kind, balance, credit_used, message, reference, note";

impl SqlTables<'_> {
    fn add_posting(&self, posting: &Posting) -> Result<(), TableError> {
        let Posting { id, account, at, kind, change, message, reference, note } = posting;
        self.connection
            .prepare_cached(
                "INSERT INTO ledger (id, account, at, kind, balance, credit_used, message, reference, note)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
            )?
            .change(
                RowKey { table: "ledger", row: *id },
                params![
                    id,
                    account.get(),
                    at.as_millis(),
                    kind.to_stored(),
                    change.balance.as_micros(),
                    change.credit_used.as_micros(),
                    message.map(MessageId::as_i64),
                    reference,
                    note
                ],
            )?;
        Ok(())
    }

    fn delete_refunds(&self, range: MessageRange) -> Result<(), TableError> {
        self.connection
            .prepare_cached("DELETE FROM ledger WHERE message BETWEEN ?1 AND ?2")?
            .execute(params![range.first.as_i64(), range.last.as_i64()])?;
        Ok(())
    }

    fn put_rolled_up(&self, key: RolledUpKey, amount: Money) -> Result<(), TableError> {
        let RolledUpKey { account, day, kind } = key;
        self.connection
            .prepare_cached(
                "UPDATE ledger SET balance = ?4 WHERE account = ?1 AND at = ?2 AND kind = ?3 AND kind IN (6, 7)",
            )?
            .execute(params![
                account.get(),
                day.start().as_millis(),
                kind.to_stored(),
                amount.as_micros()
            ])?;
        Ok(())
    }
}

impl LedgerRows for SqlTables<'_> {
    fn last_posting(&self) -> Result<i64, TableError> {
        let mut last = self.connection.prepare_cached("SELECT coalesce(max(id), 0) FROM ledger")?;
        Ok(last.query_row([], |row| row.get(0))?)
    }

    fn change_ledger(&self, change: &LedgerChange) -> Result<(), TableError> {
        match change {
            LedgerChange::Add(posting) => self.add_posting(posting),
            LedgerChange::DeleteRefunds(range) => self.delete_refunds(*range),
            LedgerChange::RolledUp { key, amount } => self.put_rolled_up(*key, *amount),
        }
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

    fn rolled_up_amount(&self, key: RolledUpKey) -> Result<Option<Money>, TableError> {
        let RolledUpKey { account, day, kind } = key;
        // The literals make SQLite use the partial index.
        let mut statement = self.connection.prepare_cached(
            "SELECT balance FROM ledger WHERE account = ?1 AND at = ?2 AND kind = ?3 AND kind IN (6, 7)",
        )?;
        let found = statement
            .query_row(params![account.get(), day.start().as_millis(), kind.to_stored()], |row| row.get(0));
        Ok(found.optional()?.map(Money::from_micros))
    }
}

/// Returns the account's posting with this reference.
pub(crate) fn by_reference(
    connection: &Connection,
    account: AccountId,
    reference: &str,
) -> Result<Option<LedgerRow>, TableError> {
    connection
        .prepare_cached(&format!("SELECT {COLUMNS} FROM ledger WHERE account = ?1 AND reference = ?2"))?
        .query_row(params![account.get(), reference], |row| Ok(read(row)))
        .optional()?
        .transpose()
}

/// Returns the account's postings before an id, newest first.
pub(crate) fn page(
    connection: &Connection,
    account: AccountId,
    before: Option<i64>,
    limit: u32,
) -> Result<Vec<LedgerRow>, TableError> {
    let mut statement = connection.prepare_cached(&format!(
        "SELECT {COLUMNS} FROM ledger WHERE account = ?1 AND id < ?2 ORDER BY id DESC LIMIT ?3"
    ))?;
    let bounds = params![account.get(), before.unwrap_or(i64::MAX), limit];
    let rows = statement.query_map(bounds, |row| Ok(read(row)))?;
    rows.map(|row| row?).collect()
}

/// Returns the account's postings from one day to another, both included, in order of time, except those of one kind.
pub(crate) fn between(
    connection: &Connection,
    account: AccountId,
    (from, to): (Day, Day),
    without: LedgerKind,
    limit: usize,
) -> Result<Vec<LedgerRow>, TableError> {
    let mut statement = connection.prepare_cached(&format!(
        "SELECT {COLUMNS} FROM ledger WHERE account = ?1 AND at >= ?2 AND at < ?3 AND kind <> ?5 ORDER BY at, id LIMIT ?4"
    ))?;
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let (begin, end) = (from.start().as_millis(), to.next().start().as_millis());
    let bounds = params![account.get(), begin, end, limit, without.to_stored()];
    let rows = statement.query_map(bounds, |row| Ok(read(row)))?;
    rows.map(|row| row?).collect()
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

fn read(row: &Row<'_>) -> Result<LedgerRow, TableError> {
    let kind = row.get(2)?;
    let message: Option<i64> = row.get(5)?;
    Ok(LedgerRow {
        id: row.get(0)?,
        at: Timestamp::from_millis(row.get(1)?),
        kind: LedgerKind::from_stored(kind)
            .ok_or_else(|| TableError::unreadable(format!("{kind} is not a kind of ledger entry")))?,
        balance: Money::from_micros(row.get(3)?),
        credit_used: Money::from_micros(row.get(4)?),
        message: message.and_then(MessageId::from_i64),
        reference: row.get(6)?,
        note: row.get(7)?,
    })
}
