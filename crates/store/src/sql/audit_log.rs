//! SQL for the audit log.

use crate::sql::{Connection, OptionalExtension, Row, SqlTables, described, params};
use hermod_domain::audit::{AuditEnd, AuditFilter, AuditHash, AuditRow};
use hermod_domain::ids::AccountId;
use hermod_domain::time::Timestamp;
use hermod_engine::tables::{AuditLogEnd, AuditLogRows, SealedEnd, TableError};

impl AuditLogRows for SqlTables<'_> {
    fn audit_log_end(&self) -> Result<AuditLogEnd, TableError> {
        let last = self
            .connection
            .prepare_cached("SELECT number, hash FROM audit_log ORDER BY number DESC LIMIT 1")?
            .query_row([], read_end)
            .optional()?;
        Ok(AuditLogEnd { last: last.unwrap_or(AuditEnd::EMPTY), sealed: sealed_end(self.connection)? })
    }
}

/// Returns the sealed end of the log; none if no row was ever written.
pub(crate) fn sealed_end(connection: &Connection) -> Result<Option<SealedEnd>, TableError> {
    described::row(connection, "", [])
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
    let matching = format!(
        "WHERE {of_account} number < ?1 AND (?4 = '' OR instr(lower(author), lower(?4)) > 0)
             AND (?5 = '' OR action = ?5 OR substr(action, 1, length(?5) + 1) = ?5 || '.') AND at >= ?6
         ORDER BY number DESC LIMIT ?2"
    );
    let before = before.and_then(|before| i64::try_from(before).ok()).unwrap_or(i64::MAX);
    let since = since.map_or(i64::MIN, Timestamp::as_millis);
    let account = account.map(AccountId::get);
    described::rows(connection, &matching, params![before, limit, account, by, action, since])
}

/// Visits all rows, the oldest first.
pub(crate) fn visit(
    connection: &Connection,
    mut visit: impl FnMut(&AuditRow) -> Result<(), TableError>,
) -> Result<(), TableError> {
    described::visit_rows(connection, "ORDER BY number", [], |row| visit(&row))
}
