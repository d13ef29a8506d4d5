//! The store's operations that remove what is old and erase phone numbers: short reads, and short transactions.

use crate::error::StoreError;
use crate::store::Store;
use hermod_domain::ids::AccountId;
use hermod_domain::phone::Msisdn;
use hermod_domain::time::Timestamp;
use hermod_engine::commands::{
    EraseInbound, EraseMessages, EraseOthers, ExpireKeys, PurgeCarrierIds, PurgeInbound, PurgeRecords,
    PurgeTexts,
};
use hermod_engine::erase::Erased;
use hermod_engine::ops::{Purged, Retention};

/// Rows erased in one transaction.
const ROWS_PER_WRITE: usize = 500;
/// Messages that are named because they have not ended.
const NAMED_MAX: usize = 100;

/// What went wrong in a step of purging.
#[derive(Default)]
struct Faults {
    first: Option<StoreError>,
}

impl Faults {
    /// Returns what was done; nothing, if it was a fault.
    fn keep(&mut self, done: Result<u64, StoreError>) -> u64 {
        done.unwrap_or_else(|fault| {
            self.first.get_or_insert(fault);
            0
        })
    }
}

impl Store {
    /// Deletes some of everything that there is for each message and that is older than it is kept: one short transaction
    /// for each kind. To be called again after a pause, until it has nothing to do. A kind that fails keeps no other from
    /// its turn; its fault is returned once there is nothing else to do.
    pub async fn purge(&self, keep: Retention, now: Timestamp) -> Result<Purged, StoreError> {
        let mut faults = Faults::default();
        let texts = self.request(PurgeTexts { keep, now }).await;
        let keys = self.request(ExpireKeys { keep, now }).await;
        let carrier_ids = self.request(PurgeCarrierIds { now }).await;
        let records = self.request(PurgeRecords { keep, now }).await;
        let purged = Purged {
            texts: faults.keep(texts),
            keys: faults.keep(keys.map(u64::from)),
            messages: faults.keep(records),
            inbound: faults.keep(self.purge_inbound(now.minus(keep.inbound)).await),
            carrier_ids: faults.keep(carrier_ids),
            webhook_events: faults.keep(self.purge_webhooks(now).await),
            given_up_reports: faults.keep(self.purge_given_up(now).await),
        };
        match faults.first {
            Some(fault) if purged.is_nothing() => Err(fault),
            Some(fault) => {
                tracing::error!(%fault, "A step of purging failed; it is tried again");
                Ok(purged)
            }
            None => Ok(purged),
        }
    }

    async fn purge_inbound(&self, before: Timestamp) -> Result<u64, StoreError> {
        // The account is found without the writer: there may be many.
        let old = self.inner.backend.account_with_old_inbound(before).await?;
        let Some(account) = old else { return Ok(0) };
        self.request(PurgeInbound { account, before }).await
    }

    /// Erases a number, of one account or of all. Walks over every message that is kept, in short reads.
    pub async fn erase_number(
        &self,
        number: Msisdn,
        account: Option<AccountId>,
    ) -> Result<Erased, StoreError> {
        let mut erased = Erased::default();
        self.erase_messages(number, account, &mut erased).await?;
        self.erase_inbound(number, account, &mut erased).await?;
        erased.others = self.request(EraseOthers { number, account }).await?;
        // The log has the pages as they were before.
        self.inner.shared.disk.want_empty_log();
        Ok(erased)
    }

    async fn erase_messages(
        &self,
        number: Msisdn,
        account: Option<AccountId>,
        erased: &mut Erased,
    ) -> Result<(), StoreError> {
        let mut after = None;
        loop {
            let page = self.inner.backend.messages_to(number, account, after).await?;
            for ids in page.found.chunks(ROWS_PER_WRITE) {
                let (done, left) = self.request(EraseMessages { ids: ids.to_vec() }).await?;
                erased.messages += done;
                erased.in_progress += u64::try_from(left.len()).unwrap_or(u64::MAX);
                let room = NAMED_MAX.saturating_sub(erased.named.len());
                erased.named.extend(left.into_iter().take(room));
            }
            after = page.last;
            if after.is_none() {
                return Ok(());
            }
        }
    }

    async fn erase_inbound(
        &self,
        number: Msisdn,
        account: Option<AccountId>,
        erased: &mut Erased,
    ) -> Result<(), StoreError> {
        let mut after = None;
        loop {
            let page = self.inner.backend.inbound_from(number, account, after).await?;
            for keys in page.found.chunks(ROWS_PER_WRITE) {
                erased.inbound += self.request(EraseInbound { keys: keys.to_vec() }).await?;
            }
            after = page.last;
            if after.is_none() {
                return Ok(());
            }
        }
    }
}
