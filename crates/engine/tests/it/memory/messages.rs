//! MT messages: one row each, from acceptance to the end of its retention.

use super::columns::{NoRow, StoredOrigin, stored_number, stored_sender};
use super::{MemoryTables, Rows};
use hermod_domain::believed_cost::BelievedCost;
use hermod_domain::ids::{AccountId, CarrierId, ConnectionId, MessageId};
use hermod_domain::lifecycle::{Billable, MessageState};
use hermod_domain::money::Money;
use hermod_domain::text::{Encoding, SmsOptions};
use hermod_domain::time::Timestamp;
use hermod_engine::tables::{
    MessageChange, MessageOrigin, MessageParties, MessageRow, MessageRows, MessageStatus, OpenMessageRow,
    OriginRow, TableError,
};
use std::sync::Arc;

/// The row of a message. Its columns hold what those of the store hold: an erased recipient need not be a number.
#[derive(Clone, Debug)]
pub(super) struct Row {
    pub(super) account: AccountId,
    pub(super) connection: ConnectionId,
    pub(super) carrier: CarrierId,
    pub(super) from: String,
    pub(super) to: u64,
    pub(super) text: Option<String>,
    pub(super) encoding: Encoding,
    pub(super) parts: u8,
    pub(super) whole: bool,
    pub(super) tlvs: Option<Arc<[u8]>>,
    pub(super) options: Option<Arc<SmsOptions>>,
    pub(super) origin: Option<StoredOrigin>,
    pub(super) reference: u8,
    pub(super) cost: Money,
    pub(super) carrier_cost: Option<BelievedCost>,
    pub(super) billable: Option<Billable>,
    pub(super) expires_at: Timestamp,
    pub(super) standing: MessageStatus,
    pub(super) settled_at: Option<Timestamp>,
}

impl Row {
    fn new(row: &MessageRow) -> Row {
        let origin = row.origin.as_ref();
        let origin =
            origin.map(|origin| StoredOrigin(OriginRow { origin: (**origin).clone(), alias: row.alias }));
        Row {
            account: row.account,
            connection: row.connection,
            carrier: row.carrier,
            from: row.from.as_str().to_owned(),
            to: row.to.number(),
            text: Some(row.text.as_str().to_owned()),
            encoding: row.encoding,
            parts: row.parts,
            whole: row.whole,
            tlvs: row.tlvs.as_ref().map(|tlvs| tlvs.0.clone()),
            options: row.options.clone().filter(|options| !options.is_plain()),
            origin,
            reference: row.reference,
            cost: row.cost,
            carrier_cost: row.carrier_cost,
            billable: None,
            expires_at: row.expires_at,
            standing: row.status,
            settled_at: None,
        }
    }
}

impl Rows {
    /// Returns the row of a message. That there is none is an error.
    fn message(&self, message: MessageId) -> Result<&Row, TableError> {
        Ok(self.message.get(&message.as_i64()).ok_or(NoRow)?)
    }
}

impl MessageRows for MemoryTables {
    fn highest_id(&self) -> Result<Option<MessageId>, TableError> {
        let rows = self.read();
        let highest = [
            rows.message.keys().next_back().copied(),
            rows.inbound_counter.values().map(|counter| counter.newest.as_i64()).max(),
            rows.unassigned_inbound.keys().next_back().map(|(message,)| message.as_i64()),
            rows.retention_marks().into_iter().max(),
        ];
        Ok(highest.into_iter().flatten().max().and_then(MessageId::from_i64))
    }

    fn newest_message(&self) -> Result<Option<MessageId>, TableError> {
        Ok(self.read().message.keys().next_back().copied().and_then(MessageId::from_i64))
    }

    fn change_message(&self, change: &MessageChange) -> Result<(), TableError> {
        let table = &mut self.write().message;
        match change {
            MessageChange::Add(row) => table.add(row.id.as_i64(), Row::new(row)),
            MessageChange::Status { message, status: standing } => {
                table.update(&message.as_i64(), |row| row.standing = *standing);
            }
            MessageChange::End { message, status: standing, settled_at, billable } => {
                table.update(&message.as_i64(), |row| {
                    row.standing = *standing;
                    row.settled_at = Some(*settled_at);
                    row.billable = Some(*billable);
                })
            }
            MessageChange::Carrier { message, carrier, whole, cost } => {
                table.update(&message.as_i64(), |row| {
                    row.carrier = *carrier;
                    row.whole = *whole;
                    row.carrier_cost = *cost;
                });
            }
            MessageChange::Expiry { message, expires_at } => {
                table.update(&message.as_i64(), |row| row.expires_at = *expires_at);
            }
        }
        Ok(())
    }

    fn message_state(&self, message: MessageId) -> Result<MessageState, TableError> {
        Ok(self.read().message(message)?.standing.state)
    }

    fn message_cost(&self, message: MessageId) -> Result<Money, TableError> {
        Ok(self.read().message(message)?.cost)
    }

    fn message_carrier_cost(&self, message: MessageId) -> Result<Option<BelievedCost>, TableError> {
        Ok(self.read().message(message)?.carrier_cost)
    }

    fn message_parts(&self, message: MessageId) -> Result<u8, TableError> {
        Ok(self.read().message(message)?.parts)
    }

    fn message_parties(
        &self,
        account: AccountId,
        message: MessageId,
    ) -> Result<Option<MessageParties>, TableError> {
        let rows = self.read();
        let row = rows.message.get(&message.as_i64()).filter(|row| row.account == account);
        let Some(Row { carrier, from, to, .. }) = row else { return Ok(None) };
        let (from, to) = (stored_sender(from)?, stored_number(*to)?);
        Ok(Some(MessageParties { carrier: *carrier, from, to }))
    }

    fn open_message_carrier(&self, message: MessageId) -> Result<Option<CarrierId>, TableError> {
        let rows = self.read();
        let open = rows.message.get(&message.as_i64()).filter(|row| row.settled_at.is_none());
        Ok(open.map(|row| row.carrier))
    }

    fn message_origin(&self, message: MessageId) -> Result<Option<MessageOrigin>, TableError> {
        Ok(self.read().message.get(&message.as_i64()).map(origin))
    }

    fn has_message(&self, account: AccountId, message: MessageId) -> Result<bool, TableError> {
        Ok(self.read().message.get(&message.as_i64()).is_some_and(|row| row.account == account))
    }

    fn message_settled_at(&self, message: MessageId) -> Result<Option<Timestamp>, TableError> {
        Ok(self.read().message.get(&message.as_i64()).and_then(|row| row.settled_at))
    }
}

fn origin(row: &Row) -> MessageOrigin {
    MessageOrigin {
        connection: row.connection,
        parts: row.parts,
        origin: row.origin.as_ref().map(|StoredOrigin(row)| (row.origin.clone(), row.alias)),
    }
}

/// Returns the row as events of an open message need it.
pub(super) fn open_row(row: &Row) -> OpenMessageRow {
    OpenMessageRow { state: row.standing.state, cost: row.cost, origin: origin(row) }
}
