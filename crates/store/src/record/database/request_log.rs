//! SQL that writes the request log.

use crate::record::RequestEntry;
use crate::record::database::rows::{kind_to_stored, replay_to_stored};
use crate::sql::{Connection, params};
use hermod_domain::erasure::ShortDigest;
use hermod_domain::ids::MessageId;
use hermod_engine::tables::TableError;

/// Adds a line.
pub(super) fn add(connection: &Connection, entry: &RequestEntry) -> Result<(), TableError> {
    let RequestEntry {
        at,
        account,
        connection: of,
        kind,
        operation,
        who,
        address,
        status,
        code,
        reason,
        took_ms,
        request,
        replay,
        message,
        recipient,
    } = entry;
    connection
        .prepare_cached(
            "INSERT INTO request (at, account, connection, kind, operation, who, address, status, code, reason, took_ms,
                 request, replay, message, recipient)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)",
        )?
        .execute(params![
            at.as_millis(),
            account.map(|account| account.get()),
            of.map(|connection| connection.get()),
            kind_to_stored(*kind),
            operation,
            who,
            address.map(|address| address.to_string()),
            status,
            code,
            reason,
            took_ms,
            request,
            replay_to_stored(*replay),
            message.map(MessageId::as_i64),
            recipient.map(ShortDigest::to_stored),
        ])?;
    Ok(())
}
