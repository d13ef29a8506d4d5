//! Messages by the name their customer knows, read beside the writer.

use crate::embedded::Embedded;
use crate::fault::StoreFault;
use crate::sqlite::{SqliteTables, records};
use hermod_domain::ids::{AccountId, MessageId};
use hermod_domain::origin::MessageName;
use hermod_engine::aliases;
use hermod_engine::ops::MessageRecord;

impl Embedded {
    /// The id of the account's message of that name.
    pub async fn named(
        &self,
        account: AccountId,
        name: MessageName,
    ) -> Result<Option<MessageId>, StoreFault> {
        self.inner
            .readers
            .run(move |connection| Ok(aliases::named(&SqliteTables::of(connection), account, name)?))
            .await
    }

    /// The account's message of that name.
    pub async fn message_named(
        &self,
        account: AccountId,
        name: MessageName,
    ) -> Result<Option<MessageRecord>, StoreFault> {
        let read = self.inner.readers.run(move |connection| {
            match aliases::named(&SqliteTables::of(connection), account, name)? {
                Some(id) => records::message(connection, account, id),
                None => Ok(None),
            }
        });
        read.await
    }
}
