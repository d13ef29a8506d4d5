//! Messages by the name their customer knows, read beside the writer.

use crate::fault::StoreFault;
use crate::store::Store;
use hermod_domain::ids::{AccountId, MessageId};
use hermod_domain::origin::MessageName;
use hermod_engine::ops::MessageRecord;

impl Store {
    /// The id of the account's message of that name.
    pub async fn named(
        &self,
        account: AccountId,
        name: MessageName,
    ) -> Result<Option<MessageId>, StoreFault> {
        self.inner.backend.named(account, name).await
    }

    /// The account's message of that name.
    pub async fn message_named(
        &self,
        account: AccountId,
        name: MessageName,
    ) -> Result<Option<MessageRecord>, StoreFault> {
        self.inner.backend.message_named(account, name).await
    }
}
