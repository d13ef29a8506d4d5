//! What earlier carriers of messages can bill.

use super::MemoryTables;
use hermod_domain::ids::MessageId;
use hermod_engine::ops::EarlierCost;
use hermod_engine::tables::{EarlierCostRows, TableError};

impl EarlierCostRows for MemoryTables {
    fn earlier_costs(&self, message: MessageId) -> Result<Vec<EarlierCost>, TableError> {
        let rows = self.read();
        Ok(rows.earlier_cost.values().filter(|row| row.message == message).map(|row| **row).collect())
    }
}
