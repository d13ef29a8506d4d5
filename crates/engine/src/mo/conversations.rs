//! Conversations: the account that last wrote to a handset from a shared number or from a name. They find the owner of a reply where
//! the catalogue does not name one.

use crate::batch::Batch;
use crate::ops::{Acceptance, CONVERSATION_KEPT};
use crate::tables::{Conversation, ConversationKey, ConversationRow, RowChange, TableError};
use hermod_domain::ids::MessageId;
use hermod_domain::phone::Msisdn;
use hermod_domain::sender::Sender;
use hermod_domain::time::Timestamp;

/// Stores that an account wrote to a handset from a number or name.
pub fn remember(batch: &Batch<'_>, message: MessageId, acceptance: &Acceptance, number: &Sender) {
    let Acceptance { account, connection, to, now, .. } = acceptance;
    let last = Conversation { account: *account, connection: *connection, message, at: *now };
    let key = ConversationKey { handset: *to, number: number.address().to_owned() };
    batch.tables.write(RowChange::Put(ConversationRow { key, last }));
}

/// Returns the account that last wrote to a handset from a number, unless that is older than [`CONVERSATION_KEPT`].
pub fn find(
    batch: &Batch<'_>,
    handset: Option<Msisdn>,
    number: &str,
) -> Result<Option<Conversation>, TableError> {
    let Some(handset) = handset else { return Ok(None) };
    let last = batch.tables.read()?.conversation(handset, number)?;
    let before = batch.now.minus(CONVERSATION_KEPT);
    Ok(last.filter(|last| last.at >= before))
}

/// Deletes those of these conversations whose last message is from before a time. They may have had another message
/// since they were listed.
pub fn forget(batch: &mut Batch<'_>, keys: &[ConversationKey], before: Timestamp) -> Result<(), TableError> {
    for key in keys {
        let last = batch.tables.read()?.conversation(key.handset, &key.number)?;
        if last.is_some_and(|last| last.at < before) {
            batch.tables.write(RowChange::<ConversationRow>::Delete((key.clone(),)));
        }
    }
    Ok(())
}
