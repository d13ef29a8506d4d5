//! SQL for the audit log.

use crate::sql::SqlTables;
use crate::sql::{Connection, OptionalExtension, Row, params};
use hermod_domain::audit::{AuditEnd, AuditEntry, AuditFilter, AuditHash, AuditPosting, AuditRow, AuditSeal};
use hermod_domain::ids::AccountId;
use hermod_domain::money::Money;
use hermod_domain::time::Timestamp;
use hermod_engine::tables::{AuditLogChange, AuditLogEnd, AuditLogRows, SealedEnd, TableError};

/// The columns in the order that [`read`] expects.
const COLUMNS: &str = "number, at, account, author, origin, action, subject, detail, hash,
             posting, posted_balance, posted_credit";

impl AuditLogRows for SqlTables<'_> {
    fn audit_log_end(&self) -> Result<AuditLogEnd, TableError> {
        let last = self
            .connection
            .prepare_cached("SELECT number, hash FROM audit_log ORDER BY number DESC LIMIT 1")?
            .query_row([], read_end)
            .optional()?;
        Ok(AuditLogEnd { last: last.unwrap_or(AuditEnd::EMPTY), sealed: sealed_end(self.connection)? })
    }

    fn change_audit_log(&self, change: &AuditLogChange) -> Result<(), TableError> {
        let AuditLogChange::Add { row: AuditRow { number, entry, posting, hash }, seal } = change;
        let AuditEntry { at, account, by, from, action, subject, detail } = entry;
        self.connection
            .prepare_cached(&format!(
                "INSERT INTO audit_log ({COLUMNS}) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)"
            ))?
            .execute(params![
                number.cast_signed(),
                at.as_millis(),
                account.map(AccountId::get),
                by,
                from,
                action,
                subject,
                detail,
                hash.0,
                posting.map(|posting| posting.entry),
                posting.map(|posting| posting.balance.as_micros()),
                posting.map(|posting| posting.credit_used.as_micros())
            ])?;
        self.connection
            .prepare_cached(
                "INSERT OR REPLACE INTO audit_head (id, number, hash, seal) VALUES (1, ?1, ?2, ?3)",
            )?
            .execute(params![number.cast_signed(), hash.0, seal.0])?;
        Ok(())
    }
}

/// Returns the sealed end of the log; none if no row was ever written.
pub(crate) fn sealed_end(connection: &Connection) -> Result<Option<SealedEnd>, TableError> {
    let mut statement = connection.prepare_cached("SELECT number, hash, seal FROM audit_head")?;
    let found = statement
        .query_row([], |row| Ok(SealedEnd { end: read_end(row)?, seal: AuditSeal(row.get(2)?) }))
        .optional()?;
    Ok(found)
}

/// Returns the hash of a row; none if there is no such row.
pub(crate) fn hash_of(connection: &Connection, number: u64) -> Result<Option<AuditHash>, TableError> {
    let mut statement = connection.prepare_cached("SELECT hash FROM audit_log WHERE number = ?1")?;
    let found = statement.query_row([number.cast_signed()], |row| Ok(AuditHash(row.get(0)?)));
    Ok(found.optional()?)
}

fn read_end(row: &Row<'_>) -> crate::sql::Result<AuditEnd> {
    Ok(AuditEnd { number: row.get::<i64>(0)?.cast_unsigned(), hash: AuditHash(row.get(1)?) })
}

/// Returns rows before a number that match, the newest first.
pub(crate) fn page(
    connection: &Connection,
    filter: &AuditFilter,
    before: Option<u64>,
    limit: u32,
) -> Result<Vec<AuditRow>, TableError> {
    let AuditFilter { account, by, action, since } = filter;
    let of_account = if account.is_some() { "account = ?3 AND" } else { "?3 IS NULL AND" };
    let mut statement = connection.prepare_cached(&format!(
        "SELECT {COLUMNS} FROM audit_log
         WHERE {of_account} number < ?1 AND (?4 = '' OR instr(lower(author), lower(?4)) > 0)
             AND (?5 = '' OR action = ?5 OR substr(action, 1, length(?5) + 1) = ?5 || '.') AND at >= ?6
         ORDER BY number DESC LIMIT ?2"
    ))?;
    let before = before.and_then(|before| i64::try_from(before).ok()).unwrap_or(i64::MAX);
    let since = since.map_or(i64::MIN, Timestamp::as_millis);
    let account = account.map(AccountId::get);
    let rows = statement.query_map(params![before, limit, account, by, action, since], read)?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Visits all rows, the oldest first.
pub(crate) fn visit(
    connection: &Connection,
    mut visit: impl FnMut(&AuditRow) -> Result<(), TableError>,
) -> Result<(), TableError> {
    let mut statement = connection.prepare(&format!("SELECT {COLUMNS} FROM audit_log ORDER BY number"))?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        visit(&read(&row)?)?;
    }
    Ok(())
}

fn read(row: &Row<'_>) -> crate::sql::Result<AuditRow> {
    Ok(AuditRow {
        number: row.get::<i64>(0)?.cast_unsigned(),
        entry: AuditEntry {
            at: Timestamp::from_millis(row.get(1)?),
            account: row.get::<Option<u32>>(2)?.map(AccountId::new),
            by: row.get(3)?,
            from: row.get(4)?,
            action: row.get(5)?,
            subject: row.get(6)?,
            detail: row.get(7)?,
        },
        hash: AuditHash(row.get(8)?),
        posting: read_posting(row)?,
    })
}

fn read_posting(row: &Row<'_>) -> crate::sql::Result<Option<AuditPosting>> {
    let Some(entry) = row.get::<Option<i64>>(9)? else { return Ok(None) };
    let money = |column: usize| -> crate::sql::Result<Money> {
        Ok(Money::from_micros(row.get::<Option<i64>>(column)?.unwrap_or(0)))
    };
    Ok(Some(AuditPosting { entry, balance: money(10)?, credit_used: money(11)? }))
}
