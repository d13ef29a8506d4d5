//! MO messages to numbers that belong to no account.

use super::MemoryTables;
use hermod_domain::ids::MessageId;
use hermod_engine::tables::{TableError, UnassignedInboundRows, UnassignedRow};

impl UnassignedInboundRows for MemoryTables {
    fn unassigned(&self, message: MessageId) -> Result<Option<UnassignedRow>, TableError> {
        Ok(self.read().unassigned_inbound.get(&(message,)).map(|row| (**row).clone()))
    }

    fn unassigned_below(&self, message: MessageId, limit: usize) -> Result<Vec<MessageId>, TableError> {
        let rows = self.read();
        Ok(rows.unassigned_inbound.range(..(message,)).take(limit).map(|((id,), _)| *id).collect())
    }
}
