//! MO messages of accounts.

use super::MemoryTables;
use hermod_domain::ids::AccountId;
use hermod_engine::tables::{InboundCounter, InboundRows, TableError};

impl InboundRows for MemoryTables {
    fn inbound_counter(&self, account: AccountId) -> Result<Option<InboundCounter>, TableError> {
        Ok(self.read().inbound_counter.get(&(account,)).map(|row| **row))
    }
}
