//! SQL for unassigned MO messages: no account owns the number.

use crate::sql::columns::stored_message;
use crate::sql::{Connection, SqlTables, described, params};
use hermod_domain::ids::MessageId;
use hermod_engine::ops::{PAGE_ROWS_MAX, UnassignedMo};
use hermod_engine::tables::{TableError, UnassignedInboundRows, UnassignedRow};

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
