//! SQL for purging, and for the marks of how far it has come.

use crate::sql::SqlTables;
use crate::sql::blobs;
use crate::sql::columns::stored_message;
use crate::sql::message_texts::purge_texts;
use crate::sql::unreadable::why_unreadable;
use crate::sql::{Connection, OptionalExtension, Row, Rows, params};
use hermod_domain::ids::{AccountId, CarrierId, MessageId};
use hermod_domain::money::Money;
use hermod_domain::time::Timestamp;
use hermod_engine::tables::{
    MessageRange, OriginRow, PurgeChange, PurgeMark, PurgingRows, RecordRow, StoredMessageKey, TableError,
    TextRow, UnreadableMessage, UnreadablePart,
};

fn put_last_purged(connection: &Connection, mark: PurgeMark, last: MessageId) -> Result<(), TableError> {
    connection
        .prepare_cached("UPDATE retention SET upto = ?2 WHERE what = ?1")?
        .execute(params![stored_mark(mark), last.as_i64() + 1])?;
    Ok(())
}

fn put_origin(connection: &Connection, message: MessageId, origin: &OriginRow) -> Result<(), TableError> {
    connection
        .prepare_cached("UPDATE message SET origin = ?2 WHERE id = ?1")?
        .execute(params![message.as_i64(), origin_to_blob(origin).as_slice()])?;
    Ok(())
}

fn delete_messages(connection: &Connection, range: MessageRange) -> Result<(), TableError> {
    connection
        .prepare_cached("DELETE FROM message WHERE id BETWEEN ?1 AND ?2")?
        .execute(params![range.first.as_i64(), range.last.as_i64()])?;
    Ok(())
}

fn delete_timelines(connection: &Connection, range: MessageRange) -> Result<(), TableError> {
    connection
        .prepare_cached("DELETE FROM timeline WHERE message BETWEEN ?1 AND ?2")?
        .execute(params![range.first.as_i64(), range.last.as_i64()])?;
    Ok(())
}

impl PurgingRows for SqlTables<'_> {
    fn change_by_purging(&self, change: &PurgeChange) -> Result<(), TableError> {
        match change {
            PurgeChange::Mark { mark, last } => put_last_purged(self.connection, *mark, *last),
            PurgeChange::DeleteTexts(range) => purge_texts(self.connection, *range),
            PurgeChange::Origin { message, origin } => put_origin(self.connection, *message, origin),
            PurgeChange::DeleteMessages(range) => delete_messages(self.connection, *range),
            PurgeChange::DeleteTimelines(range) => delete_timelines(self.connection, *range),
        }
    }

    fn last_purged(&self, mark: PurgeMark) -> Result<Option<MessageId>, TableError> {
        Ok(MessageId::from_i64(purged_before(self.connection, mark)? - 1))
    }

    fn texts_between(
        &self,
        after: Option<MessageId>,
        before: MessageId,
        limit: u32,
    ) -> Result<Vec<Result<TextRow, UnreadableMessage>>, TableError> {
        let mut statement = self.connection.prepare_cached(
            "SELECT id, carrier, account, settled_at IS NOT NULL, origin
             FROM message WHERE id > ?1 AND id < ?2 ORDER BY id LIMIT ?3",
        )?;
        read_page(statement.query(params![stored_after(after), before.as_i64(), limit])?, read_text)
    }

    fn records_between(
        &self,
        after: Option<MessageId>,
        before: MessageId,
        limit: u32,
    ) -> Result<Vec<Result<RecordRow, UnreadableMessage>>, TableError> {
        let mut statement = self.connection.prepare_cached(
            "SELECT id, carrier, account, cost, settled_at, origin FROM message
             WHERE id > ?1 AND id < ?2 ORDER BY id LIMIT ?3",
        )?;
        read_page(statement.query(params![stored_after(after), before.as_i64(), limit])?, read_record)
    }

    fn first_inbound(&self, account: AccountId, limit: u32) -> Result<Vec<(u64, Timestamp)>, TableError> {
        let mut statement = self
            .connection
            .prepare_cached("SELECT id, received_at FROM inbound WHERE account = ?1 ORDER BY id LIMIT ?2")?;
        let rows = statement.query_map(params![account.get(), limit], |row| {
            Ok((row.get::<i64>(0)?.cast_unsigned(), Timestamp::from_millis(row.get(1)?)))
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }
}

/// Returns the first message id that is not purged yet: 0 if nothing was purged.
pub(crate) fn purged_before(connection: &Connection, mark: PurgeMark) -> Result<i64, TableError> {
    let mut statement = connection.prepare_cached("SELECT upto FROM retention WHERE what = ?1")?;
    Ok(statement.query_row([stored_mark(mark)], |row| row.get(0))?)
}

/// Returns an account whose oldest MO message was received before a time. One seek per account.
pub(crate) fn account_with_old_inbound(
    connection: &Connection,
    before: Timestamp,
) -> Result<Option<AccountId>, TableError> {
    let mut statement = connection.prepare_cached(
        "SELECT c.account FROM inbound_counter c
         WHERE (SELECT i.received_at FROM inbound i WHERE i.account = c.account ORDER BY i.id LIMIT 1) < ?1
         ORDER BY c.account LIMIT 1",
    )?;
    Ok(statement.query_row([before.as_millis()], |row| row.get(0).map(AccountId::new)).optional()?)
}

fn stored_mark(mark: PurgeMark) -> i64 {
    match mark {
        PurgeMark::Texts => 1,
        PurgeMark::Records => 2,
        PurgeMark::Keys => 3,
    }
}

fn stored_after(after: Option<MessageId>) -> i64 {
    after.map_or(-1, MessageId::as_i64)
}

/// Reads rows that begin with a message's id, carrier and account. Unreadable rows are returned in their positions.
fn read_page<T>(
    mut rows: Rows<'_>,
    read: impl Fn(&Row<'_>) -> Result<T, TableError>,
) -> Result<Vec<Result<T, UnreadableMessage>>, TableError> {
    let mut page = Vec::new();
    while let Some(row) = rows.next()? {
        let read = match read(&row) {
            Ok(read) => Ok(read),
            Err(error) => {
                let key =
                    StoredMessageKey { message: row.get(0)?, carrier: row.get(1)?, account: row.get(2)? };
                let part = UnreadablePart { key, reason: why_unreadable(error)? };
                Err(UnreadableMessage { id: stored_message(&row, 0)?, part })
            }
        };
        page.push(read);
    }
    Ok(page)
}

fn read_text(row: &Row<'_>) -> Result<TextRow, TableError> {
    Ok(TextRow {
        id: stored_message(row, 0)?,
        carrier: CarrierId::new(row.get(1)?),
        account: AccountId::new(row.get(2)?),
        has_ended: row.get(3)?,
        origin: read_origin(row, 4)?,
    })
}

fn read_record(row: &Row<'_>) -> Result<RecordRow, TableError> {
    // The row is about to be deleted: an unreadable origin must not prevent that.
    let origin = match read_origin(row, 5) {
        Ok(origin) => origin,
        Err(error) => why_unreadable(error).map(|_| None)?,
    };
    Ok(RecordRow {
        id: stored_message(row, 0)?,
        carrier: CarrierId::new(row.get(1)?),
        account: AccountId::new(row.get(2)?),
        cost: Money::from_micros(row.get(3)?),
        settled_at: row.get::<Option<i64>>(4)?.map(Timestamp::from_millis),
        alias: origin.and_then(|origin| origin.alias),
    })
}

/// Reads the origin of a message from a column of its row.
pub(super) fn read_origin(row: &Row<'_>, column: usize) -> Result<Option<OriginRow>, TableError> {
    let Some(blob) = row.get_ref(column)?.as_blob_or_null()? else { return Ok(None) };
    let (origin, alias) = blobs::origin_of(blob)?;
    Ok(Some(OriginRow { origin, alias }))
}

/// Returns the stored form of a message's origin.
pub(super) fn origin_to_blob(origin: &OriginRow) -> blobs::Blob {
    blobs::origin_to_blob(&origin.origin, origin.alias)
}
