//! MO messages to numbers that belong to no account.

use super::columns::stored_message;
use super::{MemoryTables, MoRow};
use hermod_domain::erasure::ErasureScope;
use hermod_domain::ids::{CarrierId, MessageId};
use hermod_domain::time::Timestamp;
use hermod_engine::tables::{
    TableError, UnassignedInboundChange, UnassignedInboundRows, UnassignedMessage, UnassignedRow, Wire,
};

/// The row of an MO message.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Row {
    carrier: CarrierId,
    from: String,
    to: String,
    text: String,
    wire: Wire,
    missing: u8,
    received_at: Timestamp,
}

impl Row {
    pub(super) fn facts(&self) -> MoRow {
        let Row { from, to, text, missing, received_at, .. } = self.clone();
        MoRow { from, to, text, missing, received_at }
    }

    /// Whether an erasure deletes it.
    pub(super) fn is_covered(&self, scope: &ErasureScope) -> bool {
        self.from.trim_start_matches('+') == scope.number.digits() && self.received_at <= scope.until
    }
}

impl UnassignedInboundRows for MemoryTables {
    fn change_unassigned_inbound(&self, change: &UnassignedInboundChange) -> Result<(), TableError> {
        let table = &mut self.write().unassigned_inbound;
        match change {
            UnassignedInboundChange::Add(row) => {
                let UnassignedRow { message, carrier, from, to, text, wire, missing, received_at } =
                    (**row).clone();
                let row = Row { carrier, from, to, text, wire, missing, received_at };
                table.add(message.as_i64(), row);
            }
            UnassignedInboundChange::Delete(message) => drop(table.delete(&message.as_i64())),
        }
        Ok(())
    }

    fn unassigned(&self, message: MessageId) -> Result<Option<UnassignedMessage>, TableError> {
        let rows = self.read();
        let found = rows.unassigned_inbound.get(&message.as_i64()).cloned();
        Ok(found.map(|row| {
            let Row { carrier, text, wire, missing, received_at, .. } = row;
            UnassignedMessage { carrier, text, wire, missing, received_at }
        }))
    }

    fn unassigned_below(&self, message: MessageId, limit: usize) -> Result<Vec<MessageId>, TableError> {
        let rows = self.read();
        let below = rows.unassigned_inbound.range(..message.as_i64()).take(limit);
        below.map(|(id, _)| stored_message(*id)).collect()
    }
}
