//! Reads for pages and polls. Every one that is about a customer carries the account in its key.

use crate::embedded::progress;
use crate::fault::StoreFault;
use crate::sqlite::SqliteTables;
use hermod_domain::ids::{AccountId, CarrierId, MessageId};
use hermod_domain::lifecycle::MessageState;
use hermod_domain::money::Money;
use hermod_domain::phone::Msisdn;
use hermod_domain::receipt::DlrCode;
use hermod_domain::sender::Sender;
use hermod_domain::time::Timestamp;
use hermod_engine::ops::{Balance, MessageRecord};
use hermod_engine::tables::Place;
use rusqlite::{Connection, OptionalExtension, Row, params};

pub(crate) fn message(
    connection: &Connection,
    account: AccountId,
    id: MessageId,
) -> Result<Option<MessageRecord>, StoreFault> {
    // One snapshot for the message and its parts: it must not end in between.
    let snapshot = connection.unchecked_transaction()?;
    let record = snapshot
        .prepare_cached(
            "SELECT carrier, source, dest, state, dlr, err, parts, cost, settled_at FROM message
             WHERE id = ?1 AND account = ?2",
        )?
        .query_row(params![id.as_i64(), account.get()], |row| Ok(read_message(row, account, id)))
        .optional()?
        .transpose()?;
    let Some(mut record) = record else { return Ok(None) };
    if !record.state.is_final()
        && let Some(progress) = progress::load(
            &SqliteTables { connection: &snapshot },
            Place { carrier: record.carrier, account, message: id },
        )?
    {
        record.state = progress.state;
    }
    Ok(Some(record))
}

fn read_message(row: &Row<'_>, account: AccountId, id: MessageId) -> Result<MessageRecord, StoreFault> {
    let source: String = row.get(1)?;
    let dest: i64 = row.get(2)?;
    Ok(MessageRecord {
        id,
        account,
        carrier: CarrierId::new(row.get(0)?),
        from: Sender::parse(&source).map_err(StoreFault::damaged)?,
        to: Msisdn::from_number(dest.cast_unsigned()).ok_or_else(|| StoreFault::damaged("a recipient"))?,
        state: MessageState::from_stored(row.get(3)?).map_err(StoreFault::damaged)?,
        dlr: DlrCode::from_u8(row.get(4)?).ok_or_else(|| StoreFault::damaged("a receipt code"))?,
        err: row.get(5)?,
        parts: row.get(6)?,
        cost: Money::from_micros(row.get(7)?),
        settled_at: row.get::<_, Option<i64>>(8)?.map(Timestamp::from_millis),
    })
}

pub(crate) fn balance(connection: &Connection, account: AccountId) -> Result<Balance, StoreFault> {
    let found = connection
        .prepare_cached("SELECT balance, credit_used FROM balance WHERE account = ?1")?
        .query_row([account.get()], |row| {
            Ok(Balance {
                balance: Money::from_micros(row.get(0)?),
                credit_used: Money::from_micros(row.get(1)?),
            })
        })
        .optional()?;
    Ok(found.unwrap_or_default())
}
