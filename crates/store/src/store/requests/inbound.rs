//! The store's operations on MO messages and opt-outs: what the writer is asked to do, and what is read beside it.

use crate::error::StoreError;
use crate::store::Store;
use hermod_domain::ids::{AccountId, MessageId};
use hermod_domain::phone::Msisdn;
use hermod_domain::time::Timestamp;
use hermod_engine::commands::{AssignInbound, ForgetConversations, ForgetRepeats, ForgetUnassigned, OptIn};
use hermod_engine::ops::{CONVERSATION_KEPT, Inbound, InboundRecord, OptOut, UnassignedMo};
use hermod_engine::tables::ConversationKey;

/// Digests of MO messages that are deleted in one transaction.
const DIGESTS_PER_WRITE: usize = 5_000;
/// Unassigned MO messages that are deleted in one transaction.
const UNASSIGNED_PER_WRITE: usize = 500;
/// Conversations that are read at once, so that no snapshot lasts long.
const CONVERSATIONS_PER_READ: usize = 5_000;
/// Conversations that a call looks at and keeps. Called every minute, a walk over five million takes 100 minutes.
const CONVERSATIONS_KEPT_PER_CALL: usize = 50_000;
/// Conversations that are deleted in one transaction.
const CONVERSATIONS_PER_WRITE: usize = 500;

impl Store {
    /// Keeps a message for its account.
    pub async fn receive(&self, inbound: Inbound) -> Result<InboundRecord, StoreError> {
        self.request(inbound).await
    }

    /// What came in behind a number, oldest first.
    pub async fn inbound(
        &self,
        account: AccountId,
        since: u64,
        limit: u32,
    ) -> Result<Vec<InboundRecord>, StoreError> {
        self.inner.backend.inbound(account, since, limit).await
    }

    /// Messages that are nobody's, oldest first, behind one of them.
    pub async fn unassigned_inbound(
        &self,
        since: Option<MessageId>,
        limit: u32,
    ) -> Result<Vec<UnassignedMo>, StoreError> {
        self.inner.backend.unassigned_inbound(since, limit).await
    }

    /// Gives such a message to an account, as if it had been the account's from the beginning. `None` if there is none.
    pub async fn assign_inbound(
        &self,
        message: MessageId,
        account: AccountId,
        now: Timestamp,
    ) -> Result<Option<InboundRecord>, StoreError> {
        self.request(AssignInbound { message, account, now }).await
    }

    /// No more messages of this account to this number. True if that is new; what is known of an earlier one stays.
    pub async fn opt_out(&self, entry: OptOut) -> Result<bool, StoreError> {
        self.request(entry).await
    }

    /// Messages may be sent again. True if they could not.
    pub async fn opt_in(&self, account: AccountId, number: Msisdn) -> Result<bool, StoreError> {
        self.request(OptIn { account, number }).await
    }

    pub async fn opted_out(&self, account: AccountId, number: Msisdn) -> Result<Option<OptOut>, StoreError> {
        self.inner.backend.opted_out(account, number).await
    }

    /// In order of their numbers, from behind one or from the beginning.
    pub async fn opt_outs(
        &self,
        account: AccountId,
        after: Option<Msisdn>,
        limit: u32,
    ) -> Result<Vec<OptOut>, StoreError> {
        self.inner.backend.opt_outs(account, after, limit).await
    }

    /// Deletes the digests of MO messages that are too old to be delivered again.
    pub(crate) async fn forget_repeats(&self, now: Timestamp) -> Result<(), StoreError> {
        let forget = ForgetRepeats { now, limit: DIGESTS_PER_WRITE };
        while self.request(forget).await? == DIGESTS_PER_WRITE {}
        Ok(())
    }

    /// Deletes unassigned MO messages that were kept long enough.
    pub(crate) async fn forget_unassigned(&self, now: Timestamp) -> Result<(), StoreError> {
        let forget = ForgetUnassigned { now, limit: UNASSIGNED_PER_WRITE };
        while self.request(forget).await? == UNASSIGNED_PER_WRITE {}
        Ok(())
    }

    /// Deletes conversations that are too old: goes on where the last call ended, and keeps
    /// [`CONVERSATIONS_KEPT_PER_CALL`] at most. One that is too old has no effect while it waits for its deletion.
    pub(crate) async fn forget_conversations(&self, now: Timestamp) -> Result<(), StoreError> {
        let before = now.minus(CONVERSATION_KEPT);
        let mut behind = self.walk_places().conversation.take();
        let mut kept = 0;
        while kept < CONVERSATIONS_KEPT_PER_CALL {
            let mut page = self.inner.backend.conversation_page(behind, CONVERSATIONS_PER_READ).await?;
            let read = page.len();
            behind = page.last().filter(|_| read == CONVERSATIONS_PER_READ).map(|(key, _)| key.clone());
            page.retain(|(_, at)| *at < before);
            kept += read - page.len();
            let old: Vec<ConversationKey> = page.into_iter().map(|(key, _)| key).collect();
            for some in old.chunks(CONVERSATIONS_PER_WRITE) {
                self.request(ForgetConversations { keys: some.to_vec(), before }).await?;
            }
            if behind.is_none() {
                break;
            }
        }
        self.walk_places().conversation = behind;
        Ok(())
    }
}
