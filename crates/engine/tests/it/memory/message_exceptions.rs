//! Exceptions of messages (failover, UNKNOWN, late receipts, refusals) that decide later steps.

use super::MemoryTables;
use hermod_domain::ids::{CarrierId, MessageId};
use hermod_engine::tables::{MessageExceptionRows, MessageExceptions, TableError};

impl MessageExceptionRows for MemoryTables {
    fn message_exceptions(&self, message: MessageId) -> Result<MessageExceptions, TableError> {
        let rows = self.read();
        Ok(rows
            .message_exception
            .get(&(message,))
            .map_or_else(MessageExceptions::default, |row| row.exceptions))
    }

    fn has_refused(&self, message: MessageId, carrier: CarrierId) -> Result<bool, TableError> {
        Ok(self.read().carrier_refusal.contains_key(&(message, carrier)))
    }
}
