//! Conversations: the account that last wrote to a handset from a shared number.

use super::MemoryTables;
use hermod_domain::phone::Msisdn;
use hermod_engine::tables::{Conversation, ConversationKey, ConversationRows, TableError};

impl ConversationRows for MemoryTables {
    fn conversation(&self, handset: Msisdn, number: &str) -> Result<Option<Conversation>, TableError> {
        let key = ConversationKey { handset, number: number.to_owned() };
        Ok(self.read().conversation.get(&(key,)).map(|row| row.last))
    }
}
