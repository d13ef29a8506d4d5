//! Where the texts of messages are, and with them everything else that a customer wrote: TLVs and options of the SMS.
//!
//! The embedded store has them in the rows of their messages. PostgreSQL has them in `message_text`, with a partition per day:
//! the texts of a day are deleted by dropping its partition. Until then the mark of the purge hides them
//! (`postgres/partitions.rs`, ADR 28).

use crate::sql::{Connection, RowKey, ToSql, params};
use hermod_domain::ids::MessageId;
use hermod_engine::tables::{MessageRange, TableError};

/// The first column of a new message, its id, is a column of `message_text` too; its last columns are the text, the TLVs and
/// the options.
const TEXT_COLUMNS: usize = 3;

/// Returns the table or view that has messages together with their texts: the columns of `message`, and `text`, `tlvs` and
/// `shape`.
pub(crate) fn messages_with_texts(connection: &Connection) -> &'static str {
    match connection {
        Connection::Sqlite(_) => "message",
        Connection::Postgres(_) => "message_with_text",
    }
}

/// Returns the query of the audit for texts that are past the mark of the purge. On PostgreSQL those of its day and of the day
/// before may wait for the drop of their partition.
pub(crate) fn purged_texts(connection: &Connection) -> &'static str {
    match connection {
        Connection::Sqlite(_) => {
            "SELECT 'text of message ' || id FROM message WHERE id < (SELECT upto FROM retention WHERE what = 1)
                 AND (text IS NOT NULL OR tlvs IS NOT NULL OR shape IS NOT NULL)"
        }
        Connection::Postgres(_) => {
            "SELECT 'text of message ' || id FROM message_text_default
             WHERE id < (SELECT upto FROM retention WHERE what = 1)
             UNION SELECT 'text of message ' || id FROM message_text
             WHERE id < (SELECT ((((upto >> 18) + 1735689600000) / 86400000 - 1) * 86400000 - 1735689600000) << 18
                 FROM retention WHERE what = 1)"
        }
    }
}

/// Adds a message. The last of the values are those of the text.
pub(super) fn insert_message(
    connection: &Connection,
    id: MessageId,
    values: &[&dyn ToSql],
) -> Result<(), TableError> {
    let message = RowKey { table: "message", row: id.as_i64() };
    if let Connection::Sqlite(_) = connection {
        connection
            .prepare_cached(
                "INSERT INTO message (id, account, connection, carrier, source, dest, encoding, parts,
                     reference, cost, expires_at, state, dlr, err, whole, origin, carrier_cost, cost_terms, text, tlvs, shape)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21)",
            )?
            .change(message, values)?;
        return Ok(());
    }
    let (own, text) = values.split_at(values.len() - TEXT_COLUMNS);
    connection
        .prepare_cached(
            "INSERT INTO message (id, account, connection, carrier, source, dest, encoding, parts,
                 reference, cost, expires_at, state, dlr, err, whole, origin, carrier_cost, cost_terms)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18)",
        )?
        .change(message, own)?;
    connection
        .prepare_cached("INSERT INTO message_text (id, text, tlvs, shape) VALUES (?1, ?2, ?3, ?4)")?
        .change(
            RowKey { table: "message_text", row: id.as_i64() },
            params![own[0], text[0], text[1], text[2]],
        )?;
    Ok(())
}

/// Deletes the texts of messages that are past their retention. On PostgreSQL the mark of the purge hides them and their
/// partition is dropped, unless they have none.
pub(super) fn purge_texts(connection: &Connection, range: MessageRange) -> Result<(), TableError> {
    let statement = match connection {
        Connection::Sqlite(_) => {
            "UPDATE message SET text = NULL, tlvs = NULL, shape = NULL WHERE id BETWEEN ?1 AND ?2
                 AND (text IS NOT NULL OR tlvs IS NOT NULL OR shape IS NOT NULL)"
        }
        Connection::Postgres(_) => "DELETE FROM message_text_default WHERE id BETWEEN ?1 AND ?2",
    };
    connection.prepare_cached(statement)?.execute(params![range.first.as_i64(), range.last.as_i64()])?;
    Ok(())
}

/// Deletes the text of a message at once.
pub(super) fn erase_text(connection: &Connection, message: MessageId) -> Result<(), TableError> {
    let statement = match connection {
        Connection::Sqlite(_) => "UPDATE message SET text = NULL, tlvs = NULL, shape = NULL WHERE id = ?1",
        Connection::Postgres(_) => "DELETE FROM message_text WHERE id = ?1",
    };
    connection.prepare_cached(statement)?.execute([message.as_i64()])?;
    Ok(())
}
