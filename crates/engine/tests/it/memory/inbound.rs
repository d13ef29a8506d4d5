//! MO messages of accounts.

use super::MemoryTables;
use hermod_domain::ids::{AccountId, MessageId};
use hermod_domain::time::Timestamp;
use hermod_engine::tables::{InboundChange, InboundCounter, InboundRow, InboundRows, TableError, Wire};

/// The row of an MO message.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Row {
    pub(super) message: MessageId,
    pub(super) from: String,
    pub(super) to: String,
    pub(super) text: String,
    pub(super) wire: Option<Wire>,
    pub(super) missing: u8,
    pub(super) received_at: Timestamp,
}

impl InboundRows for MemoryTables {
    fn change_inbound(&self, change: &InboundChange) -> Result<(), TableError> {
        let rows = &mut *self.write();
        match change {
            InboundChange::Counter { account, counter } => {
                rows.inbound_counter.put(account.get(), *counter);
            }
            InboundChange::Add { id, row } => {
                let InboundRow { account, message, from, to, text, wire, missing, received_at } =
                    (**row).clone();
                let row = Row { message, from, to, text, wire, missing, received_at };
                rows.inbound.add((account.get(), *id), row);
            }
        }
        Ok(())
    }

    fn inbound_counter(&self, account: AccountId) -> Result<Option<InboundCounter>, TableError> {
        Ok(self.read().inbound_counter.get(&account.get()).copied())
    }
}
