//! Exceptions of messages (failover, UNKNOWN, late receipts, refusals) that decide later steps.

use super::MemoryTables;
use super::columns::stored_range;
use hermod_domain::ids::{CarrierId, MessageId};
use hermod_engine::tables::{MessageExceptionChange, MessageExceptionRows, MessageExceptions, TableError};

/// The row of a message.
pub(super) type Row = MessageExceptions;

impl MemoryTables {
    fn put_exceptions(&self, message: MessageId, change: impl FnOnce(&mut Row)) {
        let table = &mut self.write().message_exception;
        let mut row = table.get(&message.as_i64()).copied().unwrap_or_default();
        change(&mut row);
        table.put(message.as_i64(), row);
    }
}

impl MessageExceptionRows for MemoryTables {
    fn change_message_exceptions(&self, change: &MessageExceptionChange) -> Result<(), TableError> {
        match *change {
            MessageExceptionChange::FailedOver(message) => {
                self.put_exceptions(message, |row| row.has_failed_over = true);
            }
            MessageExceptionChange::Unknown { message, at } => {
                self.put_exceptions(message, |row| row.unknown_at = Some(at));
            }
            MessageExceptionChange::LateReceipts { message, count } => {
                self.put_exceptions(message, |row| row.late_receipts = count);
            }
            MessageExceptionChange::Refused { message, by } => {
                self.write().carrier_refusal.put((message.as_i64(), by.get()), ());
            }
            MessageExceptionChange::Delete(range) => {
                let (rows, range) = (&mut *self.write(), stored_range(range));
                rows.message_exception.delete_where(|message, _| range.contains(message));
                rows.carrier_refusal.delete_where(|(message, _), ()| range.contains(message));
            }
        }
        Ok(())
    }

    fn message_exceptions(&self, message: MessageId) -> Result<MessageExceptions, TableError> {
        Ok(self.read().message_exception.get(&message.as_i64()).copied().unwrap_or_default())
    }

    fn has_refused(&self, message: MessageId, carrier: CarrierId) -> Result<bool, TableError> {
        Ok(self.read().carrier_refusal.contains_key(&(message.as_i64(), carrier.get())))
    }
}
