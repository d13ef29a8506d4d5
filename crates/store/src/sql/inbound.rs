//! SQL for MO messages: those of accounts, those whose number no account owns, and the conversations that decide whose a reply is.

use crate::sql::columns::stored_message;
use crate::sql::{Connection, OptionalExtension, Row, SqlTables, described, params};
use hermod_domain::ids::{AccountId, MessageId};
use hermod_domain::inbound::MoContent;
use hermod_domain::phone::Msisdn;
use hermod_domain::time::Timestamp;
use hermod_engine::ops::{InboundParties, InboundRecord, MoMessage, PAGE_ROWS_MAX, UnassignedMo};
use hermod_engine::tables::{
    Conversation, ConversationKey, ConversationRow, ConversationRows, InboundCounter, InboundRow,
    InboundRows, TableError, UnassignedInboundRows, UnassignedRow, Wire,
};

impl InboundRows for SqlTables<'_> {
    fn inbound_counter(&self, account: AccountId) -> Result<Option<InboundCounter>, TableError> {
        described::row(self.connection, "WHERE account = ?1", [account.get()])
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
    let key = params![account.get(), id.cast_signed()];
    let found: Option<InboundRow> = described::row(connection, "WHERE account = ?1 AND id = ?2", key)?;
    Ok(found.and_then(|InboundRow { text, wire, .. }| {
        let Wire { source, destination, form, header } = wire?;
        Some(MoMessage { id, source, destination, whole: MoContent { text, form, header } })
    }))
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
        message: stored_message(row, 1)?,
        from: row.get(2)?,
        to: row.get(3)?,
        text: row.get(4)?,
        received_at: Timestamp::from_millis(row.get(5)?),
    })
}

impl ConversationRows for SqlTables<'_> {
    fn conversation(&self, handset: Msisdn, number: &str) -> Result<Option<Conversation>, TableError> {
        let key = params![handset.number().cast_signed(), number];
        let row: Option<ConversationRow> =
            described::row(self.connection, "WHERE handset = ?1 AND number = ?2", key)?;
        Ok(row.map(|row| row.last))
    }
}

/// Returns the rows after a key in the order of their keys, each with the time of its last message.
pub(crate) fn read_conversation_page(
    connection: &Connection,
    after: Option<&ConversationKey>,
    limit: usize,
) -> Result<Vec<(ConversationKey, Timestamp)>, TableError> {
    let (handset, number) =
        after.map_or((0, ""), |key| (key.handset.number().cast_signed(), key.number.as_str()));
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let rest = "WHERE (handset, number) > (?1, ?2) ORDER BY handset, number LIMIT ?3";
    let rows: Vec<ConversationRow> = described::rows(connection, rest, params![handset, number, limit])?;
    Ok(rows.into_iter().map(|ConversationRow { key, last }| (key, last.at)).collect())
}

impl UnassignedInboundRows for SqlTables<'_> {
    fn unassigned(&self, message: MessageId) -> Result<Option<UnassignedRow>, TableError> {
        described::row(self.connection, "WHERE message = ?1", [message.as_i64()])
    }

    fn unassigned_below(&self, message: MessageId, limit: usize) -> Result<Vec<MessageId>, TableError> {
        let mut statement = self.connection.prepare_cached(
            "SELECT message FROM unassigned_inbound WHERE message < ?1 ORDER BY message LIMIT ?2",
        )?;
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let rows = statement.query_map(params![message.as_i64(), limit], |row| Ok(stored_message(row, 0)))?;
        rows.map(|row| row?).collect()
    }
}

/// Returns unassigned messages with ids above `since`, oldest first.
pub(crate) fn read_unassigned_page(
    connection: &Connection,
    since: Option<MessageId>,
    limit: u32,
) -> Result<Vec<UnassignedMo>, TableError> {
    let bounds = params![since.map_or(0, MessageId::as_i64), limit.clamp(1, PAGE_ROWS_MAX)];
    let rows: Vec<UnassignedRow> =
        described::rows(connection, "WHERE message > ?1 ORDER BY message LIMIT ?2", bounds)?;
    let listed = rows.into_iter().map(|row| {
        let UnassignedRow { message, carrier, from, to, text, received_at, .. } = row;
        UnassignedMo { message, carrier, from, to, text, received_at }
    });
    Ok(listed.collect())
}
