//! Operations on MO messages.

use crate::error::StoreError;
use crate::operations::InboundStore;
use crate::sql::{inbound, reports};
use hermod_domain::ids::{AccountId, ConnectionId, MessageId};
use hermod_domain::time::Timestamp;
use hermod_engine::commands::{AssignInbound, ForgetConversations, ForgetRepeats, ForgetUnassigned};
use hermod_engine::ops::{
    CONVERSATION_KEPT, INBOUND_LOOKED_AT_MAX, Inbound, InboundParties, InboundRecord, PAGE_ROWS_MAX,
    UnassignedMo,
};
use hermod_engine::tables::ConversationKey;

/// Digests of MO messages deleted in one transaction.
const DIGESTS_PER_WRITE: usize = 5_000;
/// Unassigned MO messages deleted in one transaction.
const UNASSIGNED_PER_WRITE: usize = 500;
/// Conversations per read, so that no snapshot lasts long.
const CONVERSATIONS_PER_READ: usize = 5_000;
/// Conversations that one call may read without deleting them. Called every minute, a scan of five million takes 100 minutes.
const CONVERSATIONS_KEPT_PER_CALL: usize = 50_000;
/// Conversations deleted in one transaction.
const CONVERSATIONS_PER_WRITE: usize = 500;

impl InboundStore<'_> {
    /// Stores an MO message of an account.
    pub async fn receive(self, inbound: Inbound) -> Result<InboundRecord, StoreError> {
        self.0.request(inbound).await
    }

    /// Returns an account's MO messages with numbers above `since`, oldest first.
    pub async fn list(
        self,
        account: AccountId,
        since: u64,
        limit: u32,
    ) -> Result<Vec<InboundRecord>, StoreError> {
        self.0.read(move |database| inbound::read_inbound_page(database, account, since, limit)).await
    }

    /// Returns who wrote to whom in an account's MO messages with numbers below `before`, or all, newest first.
    pub async fn parties(
        self,
        account: AccountId,
        before: Option<u64>,
        limit: u32,
    ) -> Result<Vec<InboundParties>, StoreError> {
        self.0
            .read(move |database| {
                inbound::read_parties(database, account, before, limit.min(INBOUND_LOOKED_AT_MAX))
            })
            .await
    }

    /// Returns MO messages of an account by their numbers, in the same order. Those that were purged are left out.
    pub async fn records(
        self,
        account: AccountId,
        mut ids: Vec<u64>,
    ) -> Result<Vec<InboundRecord>, StoreError> {
        ids.truncate(usize::try_from(PAGE_ROWS_MAX).unwrap_or(usize::MAX));
        self.0.read(move |database| inbound::read_records(database, account, &ids)).await
    }

    /// Returns the numbers of an account's MO messages that wait for the binds of a connection. Looks at the newest
    /// [`INBOUND_LOOKED_AT_MAX`] reports of the connection.
    pub async fn waiting(self, connection: ConnectionId, account: AccountId) -> Result<Vec<u64>, StoreError> {
        self.0
            .read(move |database| {
                reports::inbound_waiting(database, connection, account, INBOUND_LOOKED_AT_MAX)
            })
            .await
    }

    /// Returns unassigned MO messages after `since`, oldest first.
    pub async fn unassigned(
        self,
        since: Option<MessageId>,
        limit: u32,
    ) -> Result<Vec<UnassignedMo>, StoreError> {
        self.0.read(move |database| inbound::read_unassigned_page(database, since, limit)).await
    }

    /// Assigns an unassigned MO message to an account, with the same effects as if the account had received it directly.
    /// Returns `None` if there is no such message.
    pub async fn assign(
        self,
        message: MessageId,
        account: AccountId,
        now: Timestamp,
    ) -> Result<Option<InboundRecord>, StoreError> {
        self.0.request(AssignInbound { message, account, now }).await
    }

    /// Deletes the digests of MO messages so old that the carrier no longer repeats them.
    pub(crate) async fn forget_repeats(self, now: Timestamp) -> Result<(), StoreError> {
        let forget = ForgetRepeats { now, limit: DIGESTS_PER_WRITE };
        while self.0.request(forget).await? == DIGESTS_PER_WRITE {}
        Ok(())
    }

    /// Deletes unassigned MO messages whose retention is over.
    pub(crate) async fn forget_unassigned(self, now: Timestamp) -> Result<(), StoreError> {
        let forget = ForgetUnassigned { now, limit: UNASSIGNED_PER_WRITE };
        while self.0.request(forget).await? == UNASSIGNED_PER_WRITE {}
        Ok(())
    }

    /// Deletes conversations whose retention is over. Continues where the last call ended, and ends after it has read
    /// [`CONVERSATIONS_KEPT_PER_CALL`] that it keeps. An expired one has no effect until it is deleted.
    pub(crate) async fn forget_conversations(self, now: Timestamp) -> Result<(), StoreError> {
        let before = now.minus(CONVERSATION_KEPT);
        let mut after = self.0.scan_positions().conversation.take();
        let mut kept = 0;
        while kept < CONVERSATIONS_KEPT_PER_CALL {
            let mut page = self
                .0
                .read(move |database| {
                    inbound::read_conversation_page(database, after.as_ref(), CONVERSATIONS_PER_READ)
                })
                .await?;
            let read = page.len();
            after = page.last().filter(|_| read == CONVERSATIONS_PER_READ).map(|(key, _)| key.clone());
            page.retain(|(_, at)| *at < before);
            kept += read - page.len();
            let old: Vec<ConversationKey> = page.into_iter().map(|(key, _)| key).collect();
            for some in old.chunks(CONVERSATIONS_PER_WRITE) {
                self.0.request(ForgetConversations { keys: some.to_vec(), before }).await?;
            }
            if after.is_none() {
                break;
            }
        }
        self.0.scan_positions().conversation = after;
        Ok(())
    }
}
