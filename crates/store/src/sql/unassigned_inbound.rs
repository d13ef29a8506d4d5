//! SQL for unassigned MO messages: no account owns the number.

use crate::sql::SqlTables;
use crate::sql::inbound::read_message;
use crate::sql::mo_blobs;
use crate::sql::{Connection, OptionalExtension, Row, params};
use hermod_domain::ids::{CarrierId, MessageId};
use hermod_domain::time::Timestamp;
use hermod_engine::ops::{PAGE_ROWS_MAX, UnassignedMo};
use hermod_engine::tables::{
    TableError, UnassignedInboundChange, UnassignedInboundRows, UnassignedMessage, UnassignedRow,
};

impl SqlTables<'_> {
    fn add_unassigned(&self, row: &UnassignedRow) -> Result<(), TableError> {
        let UnassignedRow { message, carrier, from, to, text, wire, missing, received_at } = row;
        self.connection
            .prepare_cached(
                "INSERT INTO unassigned_inbound (message, carrier, source, dest, text, wire, missing, received_at)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
            )?
            .execute(params![
                message.as_i64(),
                carrier.get(),
                from,
                to,
                text,
                &mo_blobs::to_blob(wire)[..],
                missing,
                received_at.as_millis()
            ])?;
        Ok(())
    }

    fn delete_unassigned(&self, message: MessageId) -> Result<(), TableError> {
        self.connection
            .prepare_cached("DELETE FROM unassigned_inbound WHERE message = ?1")?
            .execute([message.as_i64()])?;
        Ok(())
    }
}

impl UnassignedInboundRows for SqlTables<'_> {
    fn change_unassigned_inbound(&self, change: &UnassignedInboundChange) -> Result<(), TableError> {
        match change {
            UnassignedInboundChange::Add(row) => self.add_unassigned(row),
            UnassignedInboundChange::Delete(message) => self.delete_unassigned(*message),
        }
    }

    fn unassigned(&self, message: MessageId) -> Result<Option<UnassignedMessage>, TableError> {
        self.connection
            .prepare_cached(
                "SELECT carrier, text, wire, missing, received_at FROM unassigned_inbound WHERE message = ?1",
            )?
            .query_row([message.as_i64()], |row| Ok(read_message_to_assign(row)))
            .optional()?
            .transpose()
    }

    fn unassigned_below(&self, message: MessageId, limit: usize) -> Result<Vec<MessageId>, TableError> {
        let mut statement = self.connection.prepare_cached(
            "SELECT message FROM unassigned_inbound WHERE message < ?1 ORDER BY message LIMIT ?2",
        )?;
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let rows = statement.query_map(params![message.as_i64(), limit], |row| row.get(0))?;
        rows.map(|row| read_message(row?)).collect()
    }
}

fn read_message_to_assign(row: &Row<'_>) -> Result<UnassignedMessage, TableError> {
    Ok(UnassignedMessage {
        carrier: CarrierId::new(row.get(0)?),
        text: row.get(1)?,
        wire: mo_blobs::of_blob(row.get_ref(2)?.as_blob().map_err(TableError::unreadable)?)?,
        missing: row.get(3)?,
        received_at: Timestamp::from_millis(row.get(4)?),
    })
}

/// Returns unassigned messages with ids above `since`, oldest first.
pub(crate) fn read_unassigned_page(
    connection: &Connection,
    since: Option<MessageId>,
    limit: u32,
) -> Result<Vec<UnassignedMo>, TableError> {
    let mut statement = connection.prepare_cached(
        "SELECT message, carrier, source, dest, text, received_at FROM unassigned_inbound
         WHERE message > ?1 ORDER BY message LIMIT ?2",
    )?;
    let bounds = params![since.map_or(0, MessageId::as_i64), limit.clamp(1, PAGE_ROWS_MAX)];
    let rows = statement.query_map(bounds, |row| Ok(read_record(row)))?;
    rows.map(|row| row?).collect()
}

fn read_record(row: &Row<'_>) -> Result<UnassignedMo, TableError> {
    Ok(UnassignedMo {
        message: read_message(row.get(0)?)?,
        carrier: CarrierId::new(row.get(1)?),
        from: row.get(2)?,
        to: row.get(3)?,
        text: row.get(4)?,
        received_at: Timestamp::from_millis(row.get(5)?),
    })
}
