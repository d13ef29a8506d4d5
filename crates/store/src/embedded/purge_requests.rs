//! The store's operations that remove what is old and erase phone numbers: short reads, and short transactions.

use crate::embedded::Embedded;
use crate::fault::StoreFault;
use crate::sqlite::{erasure, purging};
use hermod_domain::ids::AccountId;
use hermod_domain::phone::Msisdn;
use hermod_domain::time::Timestamp;
use hermod_engine::erase::Erased;
use hermod_engine::ops::{Purged, Retention};

/// Rows erased in one transaction.
const ROWS_PER_WRITE: usize = 500;
/// Messages that are named because they have not ended.
const NAMED_MAX: usize = 100;

impl Embedded {
    /// One step. To be called again after a pause, until it has nothing to do.
    pub async fn purge(&self, keep: Retention, now: Timestamp) -> Result<Purged, StoreFault> {
        let purged = self.request(move |batch| Ok(batch.purge_messages(keep, now)?)).await?;
        if !purged.is_nothing() {
            return Ok(purged);
        }
        // The account is found without the writer: there may be many.
        let before = now.minus(keep.inbound);
        let old = self
            .inner
            .readers
            .run(move |connection| Ok(purging::account_with_old_inbound(connection, before)?))
            .await?;
        let Some(account) = old else { return Ok(purged) };
        let inbound = self.request(move |batch| Ok(batch.purge_inbound(account, before)?)).await?;
        Ok(Purged { inbound, ..purged })
    }

    /// Erases a number, of one account or of all. Walks over every message that is kept, in short reads.
    pub async fn erase_number(
        &self,
        number: Msisdn,
        account: Option<AccountId>,
    ) -> Result<Erased, StoreFault> {
        let mut erased = Erased::default();
        self.erase_messages(number, account, &mut erased).await?;
        self.erase_inbound(number, account, &mut erased).await?;
        erased.others = self.request(move |batch| Ok(batch.erase_others(number, account)?)).await?;
        // The log has the pages as they were before.
        self.inner.shared.want_empty_log();
        Ok(erased)
    }

    async fn erase_messages(
        &self,
        number: Msisdn,
        account: Option<AccountId>,
        erased: &mut Erased,
    ) -> Result<(), StoreFault> {
        let mut after = None;
        loop {
            let page = self
                .inner
                .readers
                .run(move |connection| Ok(erasure::messages_to(connection, number, account, after)?))
                .await?;
            for ids in page.found.chunks(ROWS_PER_WRITE) {
                let ids = ids.to_vec();
                let (done, left) = self.request(move |batch| Ok(batch.erase_messages(&ids)?)).await?;
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
    ) -> Result<(), StoreFault> {
        let mut after = None;
        loop {
            let page = self
                .inner
                .readers
                .run(move |connection| Ok(erasure::inbound_from(connection, number, account, after)?))
                .await?;
            for keys in page.found.chunks(ROWS_PER_WRITE) {
                let keys = keys.to_vec();
                erased.inbound += self.request(move |batch| Ok(batch.erase_inbound(&keys)?)).await?;
            }
            after = page.last;
            if after.is_none() {
                return Ok(());
            }
        }
    }
}
