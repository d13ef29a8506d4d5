//! SQL for MT messages: one row each, from acceptance until it is purged; their exceptional facts, and their names on SMPP 3.3 binds.

use crate::sql::columns::{encoding_to_stored, stored_number, stored_sender};
use crate::sql::message_texts::insert_message;
use crate::sql::{Connection, OptionalExtension, Row, RowKey, SqlTables, blobs, described, params};
use hermod_domain::believed_cost::BelievedCost;
use hermod_domain::ids::{AccountId, CarrierId, ConnectionId, MessageId};
use hermod_domain::lifecycle::{Billable, MessageState};
use hermod_domain::money::Money;
use hermod_domain::origin::Alias;
use hermod_domain::receipt::DlrCode;
use hermod_domain::time::Timestamp;
use hermod_engine::ops::{EarlierCost, MessageRecord};
use hermod_engine::progress;
use hermod_engine::tables::{
    AliasRow, AliasRows, EarlierCostRows, LastAlias, MessageChange, MessageExceptionRows, MessageExceptions,
    MessageKey, MessageOrigin, MessageParties, MessageRow, MessageRows, MessageStatus, TableError,
};

/// The row of a message.
fn message_row(id: MessageId) -> RowKey {
    RowKey { table: "message", row: id.as_i64() }
}

fn add_message(connection: &Connection, row: &MessageRow) -> Result<(), TableError> {
    let options = row.options.as_ref().filter(|options| !options.is_plain());
    let options = options.map(|options| blobs::options_to_blob(options));
    let origin = row.origin.as_ref().map(|origin| blobs::origin_to_blob(origin, row.alias));
    // In the order of the columns in `insert_message`.
    insert_message(
        connection,
        row.id,
        params![
            row.id.as_i64(),
            row.account.get(),
            row.connection.get(),
            row.carrier.get(),
            row.from.as_str(),
            row.to.number().cast_signed(),
            encoding_to_stored(row.encoding),
            row.parts,
            row.reference,
            row.cost.as_micros(),
            row.expires_at.as_millis(),
            row.status.state.to_stored(),
            row.status.code.as_u8(),
            row.status.err,
            row.whole,
            origin.as_deref(),
            row.carrier_cost.map(|cost| cost.terms.per_part.as_micros()),
            row.carrier_cost.map(|cost| cost.packed_terms()),
            row.text.as_str(),
            row.tlvs.as_ref().map(|tlvs| &*tlvs.0),
            options.as_deref(),
        ],
    )
}

fn put_message_status(
    connection: &Connection,
    message: MessageId,
    status: MessageStatus,
) -> Result<(), TableError> {
    let MessageStatus { state, code, err } = status;
    connection
        .prepare_cached("UPDATE message SET state = ?2, dlr = ?3, err = ?4 WHERE id = ?1")?
        .change(message_row(message), params![message.as_i64(), state.to_stored(), code.as_u8(), err])?;
    Ok(())
}

fn put_message_end(
    connection: &Connection,
    message: MessageId,
    status: MessageStatus,
    settled_at: Timestamp,
    billable: Billable,
) -> Result<(), TableError> {
    let MessageStatus { state, code, err } = status;
    connection
        .prepare_cached(
            "UPDATE message SET state = ?2, dlr = ?3, err = ?4, settled_at = ?5, billable = ?6 WHERE id = ?1",
        )?
        .change(
            message_row(message),
            params![
                message.as_i64(),
                state.to_stored(),
                code.as_u8(),
                err,
                settled_at.as_millis(),
                billable.to_stored()
            ],
        )?;
    Ok(())
}

fn put_message_carrier(
    connection: &Connection,
    message: MessageId,
    carrier: CarrierId,
    whole: bool,
    cost: Option<BelievedCost>,
) -> Result<(), TableError> {
    let (per_part, terms) = cost.map(|cost| (cost.terms.per_part.as_micros(), cost.packed_terms())).unzip();
    connection
        .prepare_cached(
            "UPDATE message SET carrier = ?2, whole = ?3, carrier_cost = ?4, cost_terms = ?5 WHERE id = ?1",
        )?
        .change(message_row(message), params![message.as_i64(), carrier.get(), whole, per_part, terms])?;
    Ok(())
}

fn put_message_expiry(
    connection: &Connection,
    message: MessageId,
    expires_at: Timestamp,
) -> Result<(), TableError> {
    connection
        .prepare_cached("UPDATE message SET expires_at = ?2 WHERE id = ?1")?
        .change(message_row(message), params![message.as_i64(), expires_at.as_millis()])?;
    Ok(())
}

impl MessageRows for SqlTables<'_> {
    fn highest_id(&self) -> Result<Option<MessageId>, TableError> {
        let last: Option<i64> = self.connection.query_row(
            "SELECT max(id) FROM (SELECT max(id) AS id FROM message UNION ALL SELECT max(message) FROM inbound_counter
                 UNION ALL SELECT max(message) FROM unassigned_inbound UNION ALL SELECT max(upto) FROM retention) AS ids",
            [],
            |row| row.get(0),
        )?;
        Ok(last.and_then(MessageId::from_i64))
    }

    fn newest_message(&self) -> Result<Option<MessageId>, TableError> {
        let newest: Option<i64> =
            self.connection.query_row("SELECT max(id) FROM message", [], |row| row.get(0))?;
        Ok(newest.and_then(MessageId::from_i64))
    }

    fn change_message(&self, change: &MessageChange) -> Result<(), TableError> {
        match change {
            MessageChange::Add(row) => add_message(self.connection, row),
            MessageChange::Status { message, status } => {
                put_message_status(self.connection, *message, *status)
            }
            MessageChange::End { message, status, settled_at, billable } => {
                put_message_end(self.connection, *message, *status, *settled_at, *billable)
            }
            MessageChange::Carrier { message, carrier, whole, cost } => {
                put_message_carrier(self.connection, *message, *carrier, *whole, *cost)
            }
            MessageChange::Expiry { message, expires_at } => {
                put_message_expiry(self.connection, *message, *expires_at)
            }
        }
    }

    fn message_state(&self, message: MessageId) -> Result<MessageState, TableError> {
        let state: i64 = self
            .connection
            .prepare_cached("SELECT state FROM message WHERE id = ?1")?
            .query_row([message.as_i64()], |row| row.get(0))?;
        MessageState::from_stored(state).map_err(TableError::unreadable)
    }

    fn message_cost(&self, message: MessageId) -> Result<Money, TableError> {
        let cost: i64 = self
            .connection
            .prepare_cached("SELECT cost FROM message WHERE id = ?1")?
            .query_row([message.as_i64()], |row| row.get(0))?;
        Ok(Money::from_micros(cost))
    }

    fn message_carrier_cost(&self, message: MessageId) -> Result<Option<BelievedCost>, TableError> {
        self.connection
            .prepare_cached("SELECT carrier_cost, cost_terms FROM message WHERE id = ?1")?
            .query_row([message.as_i64()], |row| Ok(stored_cost(row, 0)))?
    }

    fn message_parts(&self, message: MessageId) -> Result<u8, TableError> {
        let mut parts = self.connection.prepare_cached("SELECT parts FROM message WHERE id = ?1")?;
        Ok(parts.query_row([message.as_i64()], |row| row.get(0))?)
    }

    fn message_parties(
        &self,
        account: AccountId,
        message: MessageId,
    ) -> Result<Option<MessageParties>, TableError> {
        let found: Option<(u32, String, i64)> = self
            .connection
            .prepare_cached("SELECT carrier, source, dest FROM message WHERE id = ?1 AND account = ?2")?
            .query_row(params![message.as_i64(), account.get()], |row| row.try_into())
            .optional()?;
        let Some((carrier, source, dest)) = found else { return Ok(None) };
        let (from, to) = (stored_sender(&source)?, stored_number(dest)?);
        Ok(Some(MessageParties { carrier: CarrierId::new(carrier), from, to }))
    }

    fn open_message_carrier(&self, message: MessageId) -> Result<Option<CarrierId>, TableError> {
        let carrier: Option<u32> = self
            .connection
            .prepare_cached("SELECT carrier FROM message WHERE id = ?1 AND settled_at IS NULL")?
            .query_row([message.as_i64()], |row| row.get(0))
            .optional()?;
        Ok(carrier.map(CarrierId::new))
    }

    fn message_origin(&self, message: MessageId) -> Result<Option<MessageOrigin>, TableError> {
        let found = self
            .connection
            .prepare_cached("SELECT connection, parts, origin FROM message WHERE id = ?1")?
            .query_row([message.as_i64()], |row| {
                let origin = row.get_ref(2)?.as_blob_or_null()?.map(blobs::origin_of);
                Ok((ConnectionId::new(row.get(0)?), row.get(1)?, origin))
            })
            .optional()?;
        let Some((connection, parts, origin)) = found else { return Ok(None) };
        Ok(Some(MessageOrigin { connection, parts, origin: origin.transpose()? }))
    }

    fn has_message(&self, account: AccountId, message: MessageId) -> Result<bool, TableError> {
        Ok(self
            .connection
            .prepare_cached("SELECT EXISTS (SELECT 1 FROM message WHERE id = ?1 AND account = ?2)")?
            .query_row(params![message.as_i64(), account.get()], |row| row.get(0))?)
    }

    fn message_settled_at(&self, message: MessageId) -> Result<Option<Timestamp>, TableError> {
        let settled_at: Option<Option<i64>> = self
            .connection
            .prepare_cached("SELECT settled_at FROM message WHERE id = ?1")?
            .query_row([message.as_i64()], |row| row.get(0))
            .optional()?;
        Ok(settled_at.flatten().map(Timestamp::from_millis))
    }
}

/// Returns the cost of a carrier in two columns.
pub(crate) fn stored_cost(row: &Row<'_>, column: usize) -> Result<Option<BelievedCost>, TableError> {
    let Some(per_part) = row.get::<Option<i64>>(column)? else { return Ok(None) };
    let cost = BelievedCost::unpack(Money::from_micros(per_part), row.get(column + 1)?);
    cost.map(Some).map_err(TableError::unreadable)
}

impl EarlierCostRows for SqlTables<'_> {
    fn earlier_costs(&self, message: MessageId) -> Result<Vec<EarlierCost>, TableError> {
        described::rows(self.connection, "WHERE message = ?1 ORDER BY no", [message.as_i64()])
    }
}

impl MessageExceptionRows for SqlTables<'_> {
    fn message_exceptions(&self, message: MessageId) -> Result<MessageExceptions, TableError> {
        let row = self
            .connection
            .prepare_cached(
                "SELECT failed_over, unknown_at, late_receipts FROM message_exception WHERE message = ?1",
            )?
            .query_row([message.as_i64()], |row| {
                Ok(MessageExceptions {
                    has_failed_over: row.get(0)?,
                    unknown_at: row.get::<Option<i64>>(1)?.map(Timestamp::from_millis),
                    // A number out of range counts as above every limit, so that no decision fails because of it.
                    late_receipts: u32::try_from(row.get::<i64>(2)?).unwrap_or(u32::MAX),
                })
            })
            .optional()?;
        Ok(row.unwrap_or_default())
    }

    fn has_refused(&self, message: MessageId, carrier: CarrierId) -> Result<bool, TableError> {
        let mut refusal = self
            .connection
            .prepare_cached("SELECT 1 FROM carrier_refusal WHERE message = ?1 AND carrier = ?2")?;
        Ok(refusal.exists(params![message.as_i64(), carrier.get()])?)
    }
}

impl AliasRows for SqlTables<'_> {
    fn last_aliases(&self) -> Result<Vec<(AccountId, Alias)>, TableError> {
        let rows: Vec<LastAlias> = described::rows(self.connection, "", [])?;
        Ok(rows.into_iter().map(|row| (row.account, row.last)).collect())
    }

    fn aliased_message(&self, account: AccountId, alias: Alias) -> Result<Option<MessageId>, TableError> {
        let key = params![account.get(), alias.get()];
        let row: Option<AliasRow> =
            described::row(self.connection, "WHERE account = ?1 AND alias = ?2", key)?;
        Ok(row.map(|row| row.message))
    }
}

/// Returns a message of this account, so that no customer reads another's. Before it is final, its state is computed from its parts.
pub(crate) fn find(
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
        .query_row(params![id.as_i64(), account.get()], |row| Ok(read_record(row, account, id)))
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

fn read_record(row: &Row<'_>, account: AccountId, id: MessageId) -> Result<MessageRecord, TableError> {
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
