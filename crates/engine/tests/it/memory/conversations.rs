//! Conversations: the account that last wrote to a handset from a shared number.

use super::MemoryTables;
use hermod_domain::phone::Msisdn;
use hermod_engine::tables::{
    Conversation, ConversationChange, ConversationKey, ConversationRows, TableError,
};

impl ConversationRows for MemoryTables {
    fn change_conversation(&self, change: &ConversationChange) -> Result<(), TableError> {
        let rows = &mut *self.write();
        match change {
            ConversationChange::Put { key, last } => rows.conversation.put(stored_key(key), *last),
            ConversationChange::Delete(key) => drop(rows.conversation.delete(&stored_key(key))),
        }
        Ok(())
    }

    fn conversation(&self, handset: Msisdn, number: &str) -> Result<Option<Conversation>, TableError> {
        Ok(self.read().conversation.get(&(handset.number(), number.to_owned())).copied())
    }
}

fn stored_key(key: &ConversationKey) -> (u64, String) {
    (key.handset.number(), key.number.clone())
}
