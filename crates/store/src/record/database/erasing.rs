//! Erases phone numbers in the record, as in the store: in messages that have ended, and in the request log.

use crate::error::StoreError;
use crate::record::database::schema;
use crate::record::keys::SearchKey;
use crate::record::{RecordErasure, RequestEntry};
use crate::sql::erasure::ROWS_PER_READ;
use crate::sql::erasure_scans::numbers_of;
use crate::sql::read_results::NumberPage;
use crate::sql::{Connection, params};
use hermod_domain::erasure::{ErasureScope, KeptErasure};
use hermod_domain::ids::{AccountId, MessageId};
use hermod_domain::phone::Msisdn;
use hermod_engine::erase::ERASED_NUMBER;
use hermod_engine::tables::TableError;
use std::path::Path;
use std::time::Duration;

/// How long after an erasure a line of the request log that it covers may be written, by its time or by that of this node: the
/// clocks of nodes differ, and lines of other nodes arrive later.
pub(crate) const LATE_LINES_MAX: Duration = Duration::from_secs(60);

/// Erases in one transaction. Returns in how many rows.
pub(super) fn erase(connection: &Connection, erased: &RecordErasure) -> Result<u64, TableError> {
    let transaction = connection.transaction()?;
    let rows = match erased {
        RecordErasure::Messages(scope) => erase_messages(&transaction, scope)?,
        RecordErasure::Requests(erasures) => erase_requests(&transaction, erasures)?,
    };
    transaction.commit()?;
    // Deleted rows are overwritten in the database; the log may still have them.
    connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?;
    Ok(rows)
}

/// Erases a number in the messages that an erasure covers. Returns in how many.
fn erase_messages(connection: &Connection, scope: &ErasureScope) -> Result<u64, TableError> {
    let SearchKey { kind, key } = SearchKey::of_recipient(scope.number);
    let mut erased = 0;
    let chunks = connection
        .prepare_cached("SELECT no FROM chunk")?
        .query_map([], |row| row.get(0))?
        .collect::<Result<Vec<i64>, _>>()?;
    let mut found = connection.prepare_cached(
        "SELECT k.message FROM key k CROSS JOIN message m ON m.id = k.message
         WHERE k.kind = ?1 AND k.chunk = ?2 AND k.key = ?3 AND m.settled_ms IS NOT NULL
             AND (?4 IS NULL OR m.account = ?4) AND m.id < ?5",
    )?;
    let mut change = connection.prepare_cached("UPDATE message SET recipient = ?2 WHERE id = ?1")?;
    let mut forget = connection
        .prepare_cached("DELETE FROM key WHERE kind = ?1 AND chunk = ?2 AND key = ?3 AND message = ?4")?;
    let (account, end) = (scope.account.map(AccountId::get), scope.first_left().as_i64());
    for chunk in chunks {
        let messages = found
            .query_map(params![kind as u8, chunk, key, account, end], |row| row.get(0))?
            .collect::<Result<Vec<i64>, _>>()?;
        for message in messages {
            change.execute(params![message, ERASED_NUMBER.cast_signed()])?;
            forget.execute(params![kind as u8, chunk, key, message])?;
            erased += 1;
        }
    }
    Ok(erased)
}

/// Removes the digests of numbers from the lines of the request log that erasures cover. Returns from how many.
fn erase_requests(connection: &Connection, erasures: &[KeptErasure]) -> Result<u64, TableError> {
    let mut forget = connection.prepare_cached(
        "UPDATE request INDEXED BY request_by_recipient SET recipient = NULL
         WHERE recipient = ?1 AND recipient IS NOT NULL AND (?2 IS NULL OR account = ?2) AND at <= ?3",
    )?;
    let mut erased = 0;
    for KeptErasure { digest, account, at } in erasures {
        let until = at.plus(LATE_LINES_MAX).as_millis();
        let lines =
            forget.execute(params![digest.shortened().to_stored(), account.map(AccountId::get), until])?;
        erased += u64::try_from(lines)?;
    }
    Ok(erased)
}

/// Removes the digests of numbers from lines that are not written yet.
pub(crate) fn erase_in_lines(lines: &mut [RequestEntry], erasures: &[KeptErasure]) {
    for line in lines.iter_mut().filter(|line| line.recipient.is_some()) {
        let covers = |erasure: &KeptErasure| {
            line.recipient == Some(erasure.digest.shortened())
                && (erasure.account.is_none() || erasure.account == line.account)
                && line.at <= erasure.at.plus(LATE_LINES_MAX)
        };
        if erasures.iter().any(covers) {
            line.recipient = None;
        }
    }
}

/// Returns the recipients of the next messages after one.
pub(crate) fn recipients(
    connection: &Connection,
    after: Option<MessageId>,
) -> Result<NumberPage<MessageId>, TableError> {
    let mut statement =
        connection.prepare_cached("SELECT id, recipient FROM message WHERE id > ?1 ORDER BY id LIMIT ?2")?;
    let limit = i64::try_from(ROWS_PER_READ)?;
    numbers_of(statement.query(params![after.map_or(0, MessageId::as_i64), limit])?, |row| {
        let id = MessageId::from_i64(row.get(0)?).ok_or_else(|| TableError::unreadable("a message id"))?;
        Ok((id, Msisdn::from_number(row.get::<i64>(1)?.cast_unsigned())))
    })
}

/// Erases in the record of a folder whose store keeps none now, and deletes records that were moved aside.
pub(crate) fn erase_in_unused(folder: &Path, erased: &RecordErasure) -> Result<u64, StoreError> {
    schema::delete_unusable(folder)?;
    match schema::open_unused(folder)? {
        Some(connection) => Ok(erase(&connection, erased)?),
        None => Ok(0),
    }
}
