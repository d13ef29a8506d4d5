//! SQL for message records that customers read. The account is part of every key, so no customer reads another's messages.

use crate::sql::SqlTables;
use crate::sql::columns::{stored_number, stored_sender};
use crate::sql::{Connection, OptionalExtension, Row, params};
use hermod_domain::ids::{AccountId, CarrierId, MessageId};
use hermod_domain::lifecycle::MessageState;
use hermod_domain::money::Money;
use hermod_domain::receipt::DlrCode;
use hermod_domain::time::Timestamp;
use hermod_engine::ops::MessageRecord;
use hermod_engine::progress;
use hermod_engine::tables::{MessageKey, TableError};

/// Returns a message of this account. Before it is final, its state is computed from its parts.
pub(crate) fn message(
    connection: &Connection,
    account: AccountId,
    id: MessageId,
) -> Result<Option<MessageRecord>, TableError> {
    // One snapshot for the message and its parts, so that it cannot become final between the two reads.
    let snapshot = connection.snapshot()?;
    let record = snapshot
        .prepare_cached(
            "SELECT carrier, source, dest, state, dlr, err, parts, cost, settled_at FROM message
             WHERE id = ?1 AND account = ?2",
        )?
        .query_row(params![id.as_i64(), account.get()], |row| Ok(read(row, account, id)))
        .optional()?
        .transpose()?;
    let Some(mut record) = record else { return Ok(None) };
    if !record.state.is_final()
        && let Some(progress) = progress::load(
            &SqlTables::of(&snapshot),
            MessageKey { carrier: record.carrier, account, message: id },
        )?
    {
        record.state = progress.state;
    }
    Ok(Some(record))
}

fn read(row: &Row<'_>, account: AccountId, id: MessageId) -> Result<MessageRecord, TableError> {
    let source: String = row.get(1)?;
    Ok(MessageRecord {
        id,
        account,
        carrier: CarrierId::new(row.get(0)?),
        from: stored_sender(&source)?,
        to: stored_number(row.get(2)?)?,
        state: MessageState::from_stored(row.get(3)?).map_err(TableError::unreadable)?,
        dlr: DlrCode::from_u8(row.get(4)?).ok_or_else(|| TableError::unreadable("a receipt code"))?,
        err: row.get(5)?,
        parts: row.get(6)?,
        cost: Money::from_micros(row.get(7)?),
        settled_at: row.get::<Option<i64>>(8)?.map(Timestamp::from_millis),
    })
}
