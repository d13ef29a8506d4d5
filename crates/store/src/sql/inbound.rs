//! SQL for MO messages of accounts.

use crate::sql::SqlTables;
use crate::sql::mo_blobs;
use crate::sql::{Connection, OptionalExtension, Row, params};
use hermod_domain::ids::{AccountId, MessageId};
use hermod_domain::inbound::MoContent;
use hermod_domain::time::Timestamp;
use hermod_engine::ops::{InboundParties, InboundRecord, MoMessage, PAGE_ROWS_MAX};
use hermod_engine::tables::{InboundChange, InboundCounter, InboundRow, InboundRows, TableError, Wire};

impl SqlTables<'_> {
    fn put_inbound_counter(&self, account: AccountId, counter: InboundCounter) -> Result<(), TableError> {
        let InboundCounter { last, newest } = counter;
        self.connection
            .prepare_cached(
                "INSERT INTO inbound_counter (account, last, message) VALUES (?1, ?2, ?3)
                 ON CONFLICT (account) DO UPDATE SET last = excluded.last, message = excluded.message",
            )?
            .execute(params![account.get(), last.cast_signed(), newest.as_i64()])?;
        Ok(())
    }

    fn add_inbound(&self, id: u64, row: &InboundRow) -> Result<(), TableError> {
        let InboundRow { account, message, from, to, text, wire, missing, received_at } = row;
        self.connection
            .prepare_cached(
                "INSERT INTO inbound (account, id, message, source, dest, text, received_at, wire, missing)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
            )?
            .execute(params![
                account.get(),
                id.cast_signed(),
                message.as_i64(),
                from,
                to,
                text,
                received_at.as_millis(),
                wire.as_ref().map(mo_blobs::to_blob).as_deref(),
                missing
            ])?;
        Ok(())
    }
}

impl InboundRows for SqlTables<'_> {
    fn change_inbound(&self, change: &InboundChange) -> Result<(), TableError> {
        match change {
            InboundChange::Counter { account, counter } => self.put_inbound_counter(*account, *counter),
            InboundChange::Add { id, row } => self.add_inbound(*id, row),
        }
    }

    fn inbound_counter(&self, account: AccountId) -> Result<Option<InboundCounter>, TableError> {
        let found: Option<(i64, i64)> = self
            .connection
            .prepare_cached("SELECT last, message FROM inbound_counter WHERE account = ?1")?
            .query_row([account.get()], |row| Ok((row.get(0)?, row.get(1)?)))
            .optional()?;
        let Some((last, newest)) = found else { return Ok(None) };
        Ok(Some(InboundCounter { last: last.cast_unsigned(), newest: read_message(newest)? }))
    }
}

/// Returns an MO message of an account; `None` if there is none or it was purged.
pub(crate) fn find_inbound(
    connection: &Connection,
    account: AccountId,
    id: u64,
) -> Result<Option<InboundRecord>, TableError> {
    let found = connection
        .prepare_cached(
            "SELECT id, message, source, dest, text, received_at FROM inbound WHERE account = ?1 AND id = ?2",
        )?
        .query_row(params![account.get(), id.cast_signed()], |row| Ok(read_record(row)))
        .optional()?;
    found.transpose()
}

/// Returns an MO message as it is delivered over SMPP; `None` if it does not exist, or did not come from a carrier.
pub(crate) fn read_mo_message(
    connection: &Connection,
    account: AccountId,
    id: u64,
) -> Result<Option<MoMessage>, TableError> {
    connection
        .prepare_cached("SELECT text, wire FROM inbound WHERE account = ?1 AND id = ?2 AND wire IS NOT NULL")?
        .query_row(params![account.get(), id.cast_signed()], |row| {
            let wire = mo_blobs::of_blob(row.get_ref(1)?.as_blob()?);
            Ok((row.get::<String>(0)?, wire))
        })
        .optional()?
        .map(|(text, wire)| {
            let Wire { source, destination, form, header } = wire?;
            Ok(MoMessage { id, source, destination, whole: MoContent { text, form, header } })
        })
        .transpose()
}

/// Returns an account's MO messages with numbers above `since`, oldest first.
pub(crate) fn read_inbound_page(
    connection: &Connection,
    account: AccountId,
    since: u64,
    limit: u32,
) -> Result<Vec<InboundRecord>, TableError> {
    let mut statement = connection.prepare_cached(
        "SELECT id, message, source, dest, text, received_at FROM inbound
         WHERE account = ?1 AND id > ?2 ORDER BY id LIMIT ?3",
    )?;
    // No counter reaches a number that does not fit into the column.
    let since = i64::try_from(since).unwrap_or(i64::MAX);
    let rows = statement
        .query_map(params![account.get(), since, limit.min(PAGE_ROWS_MAX)], |row| Ok(read_record(row)))?;
    rows.map(|row| row?).collect()
}

/// Returns who wrote to whom in an account's MO messages with numbers below `before`, or all, newest first.
pub(crate) fn read_parties(
    connection: &Connection,
    account: AccountId,
    before: Option<u64>,
    limit: u32,
) -> Result<Vec<InboundParties>, TableError> {
    let mut statement = connection.prepare_cached(
        "SELECT id, source, dest FROM inbound WHERE account = ?1 AND id < ?2 ORDER BY id DESC LIMIT ?3",
    )?;
    let before = before.map_or(i64::MAX, |before| i64::try_from(before).unwrap_or(i64::MAX));
    let rows = statement.query_map(params![account.get(), before, limit], |row| {
        Ok(InboundParties { id: row.get::<i64>(0)?.cast_unsigned(), from: row.get(1)?, to: row.get(2)? })
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Returns MO messages of an account by their numbers. Those that were purged are left out.
pub(crate) fn read_records(
    connection: &Connection,
    account: AccountId,
    ids: &[u64],
) -> Result<Vec<InboundRecord>, TableError> {
    ids.iter().filter_map(|id| find_inbound(connection, account, *id).transpose()).collect()
}

fn read_record(row: &Row<'_>) -> Result<InboundRecord, TableError> {
    Ok(InboundRecord {
        id: row.get::<i64>(0)?.cast_unsigned(),
        message: read_message(row.get(1)?)?,
        from: row.get(2)?,
        to: row.get(3)?,
        text: row.get(4)?,
        received_at: Timestamp::from_millis(row.get(5)?),
    })
}

/// Returns the id of an MO message from its stored form.
pub(crate) fn read_message(stored: i64) -> Result<MessageId, TableError> {
    MessageId::from_i64(stored).ok_or_else(|| TableError::unreadable("an inbound message's id"))
}
