//! Erases a phone number in the record, as in the store: in messages that have ended.

use crate::error::StoreError;
use crate::record::database::schema;
use crate::record::keys::SearchKey;
use crate::sql::erasure::ROWS_PER_READ;
use crate::sql::erasure_scans::numbers_of;
use crate::sql::read_results::NumberPage;
use crate::sql::{Connection, params};
use hermod_domain::erasure::ErasureScope;
use hermod_domain::ids::{AccountId, MessageId};
use hermod_domain::phone::Msisdn;
use hermod_engine::erase::ERASED_NUMBER;
use hermod_engine::tables::TableError;
use std::path::Path;

/// Erases a number in the messages that an erasure covers, in one transaction. Returns in how many.
pub(super) fn erase(connection: &Connection, scope: &ErasureScope) -> Result<u64, TableError> {
    let SearchKey { kind, key } = SearchKey::of_recipient(scope.number);
    let transaction = connection.transaction()?;
    let mut erased = 0;
    {
        let chunks = transaction
            .prepare_cached("SELECT no FROM chunk")?
            .query_map([], |row| row.get(0))?
            .collect::<Result<Vec<i64>, _>>()?;
        let mut found = transaction.prepare_cached(
            "SELECT k.message FROM key k CROSS JOIN message m ON m.id = k.message
             WHERE k.kind = ?1 AND k.chunk = ?2 AND k.key = ?3 AND m.settled_ms IS NOT NULL
                 AND (?4 IS NULL OR m.account = ?4) AND m.id < ?5",
        )?;
        let mut change = transaction.prepare_cached("UPDATE message SET recipient = ?2 WHERE id = ?1")?;
        let mut forget = transaction
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
    }
    transaction.commit()?;
    // Deleted rows are overwritten in the database; the log may still have them.
    connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?;
    Ok(erased)
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

/// Erases a number in the record of a folder whose store keeps none now, and deletes records that were moved aside.
pub(crate) fn erase_in_unused(folder: &Path, scope: &ErasureScope) -> Result<u64, StoreError> {
    schema::delete_unusable(folder)?;
    match schema::open_unused(folder)? {
        Some(connection) => Ok(erase(&connection, scope)?),
        None => Ok(0),
    }
}
