//! Erases phone numbers, in short reads and short transactions, and makes erasures again that a restored backup or the record of a
//! node that was away lacks.

use crate::erasure_list;
use crate::error::StoreError;
use crate::read_results::NumberPage;
use crate::store::Store;
use hermod_domain::erasure::{ERASURES_KEPT, ErasureKey, KeptErasure};
use hermod_domain::ids::AccountId;
use hermod_domain::phone::Msisdn;
use hermod_domain::time::Timestamp;
use hermod_engine::commands::{
    EraseCarrierIds, EraseInbound, EraseMessages, EraseOthers, EraseResponses, KeepErasure,
};
use hermod_engine::erase::Erased;
use std::collections::BTreeSet;

/// Rows erased in one transaction.
const ROWS_PER_WRITE: usize = 500;
/// Maximum number of messages that are listed because they are not final and so were not erased.
const NAMED_MAX: usize = 100;

impl Store {
    /// Sets the key of the digests of erased numbers, which is derived from the pepper. A second call changes nothing.
    pub fn set_erasure_key(&self, key: ErasureKey) {
        // A store has one pepper.
        let _ = self.inner.access.shared.erasure_key.set(key);
    }

    fn erasure_key(&self) -> Option<ErasureKey> {
        self.inner.access.shared.erasure_key.get().copied()
    }

    /// Erases a phone number in the data of one account or of all. Reads every stored message, in short reads. Messages that
    /// are not final keep the number and are counted in the result. The erasure is kept, as a keyed digest of the number, to be
    /// made again by [`Store::replay_erasures`].
    pub async fn erase_number(
        &self,
        number: Msisdn,
        account: Option<AccountId>,
        now: Timestamp,
    ) -> Result<Erased, StoreError> {
        let mut erased = Erased::default();
        self.erase_messages(number, account, &mut erased).await?;
        self.erase_inbound(number, account, &mut erased).await?;
        self.erase_carrier_ids(number, account).await?;
        self.erase_responses(number, account).await?;
        let kept = self.erasure_key().map(|key| KeptErasure { digest: key.digest(number), account, at: now });
        if let Some(kept) = kept {
            self.request(KeepErasure(kept)).await?;
        }
        erased.others = self.request(EraseOthers { number, account }).await?;
        self.erase_in_record(number, account).await?;
        self.list_erasures(kept.as_slice())?;
        // The write-ahead log still contains the erased data.
        self.inner.access.shared.disk.request_truncation();
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
            let page = self.inner.access.backend.messages_to(number, account, after).await?;
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
            let page = self.inner.access.backend.inbound_from(number, account, after).await?;
            for keys in page.found.chunks(ROWS_PER_WRITE) {
                erased.inbound += self.request(EraseInbound { keys: keys.to_vec() }).await?;
            }
            after = page.last;
            if after.is_none() {
                return Ok(());
            }
        }
    }

    /// Removes a number from the carriers' ids of parts.
    async fn erase_carrier_ids(&self, number: Msisdn, account: Option<AccountId>) -> Result<(), StoreError> {
        let backend = &self.inner.access.backend;
        for day in backend.carrier_id_days().await? {
            let mut after = None;
            loop {
                let page = match backend.carrier_ids_to(day, number, account, after).await {
                    // Its table was retired meanwhile: it is about to be deleted.
                    Err(_) if !backend.carrier_id_days().await?.contains(&day) => break,
                    page => page?,
                };
                for ids in page.found.chunks(ROWS_PER_WRITE) {
                    self.request(EraseCarrierIds { ids: ids.to_vec() }).await?;
                }
                after = page.last;
                if after.is_none() {
                    break;
                }
            }
        }
        Ok(())
    }

    /// Removes responses of webhook receivers that have a number in them.
    async fn erase_responses(&self, number: Msisdn, account: Option<AccountId>) -> Result<(), StoreError> {
        let mut after = None;
        loop {
            let page = self.inner.access.backend.responses_naming(number, account, after).await?;
            for attempts in page.found.chunks(ROWS_PER_WRITE) {
                self.request(EraseResponses { attempts: attempts.to_vec() }).await?;
            }
            after = page.last;
            if after.is_none() {
                return Ok(());
            }
        }
    }

    fn list_erasures(&self, erasures: &[KeptErasure]) -> Result<(), StoreError> {
        erasure_list::add(self.inner.access.shared.disk.folder(), erasures)
    }

    /// Makes erasures again: in the store those that only the folder's list has, because the store was restored from a backup;
    /// in the record those that the list lacks, because this node was away. Returns how many numbers were found. Without
    /// [`Store::set_erasure_key`] it does nothing.
    pub async fn replay_erasures(&self, now: Timestamp) -> Result<u64, StoreError> {
        let Some(key) = self.erasure_key() else { return Ok(0) };
        let folder = self.inner.access.shared.disk.folder().to_owned();
        // The list first: an erasure that ends between the two reads is in the store already.
        let listed = erasure_list::read(&folder)?;
        let kept = self.inner.access.backend.kept_erasures().await?;
        // One that is not kept any more is not made again: the number may be in use again.
        let kept_since = now.minus(ERASURES_KEPT);
        let lacks = |all: &[KeptErasure], one: &KeptErasure| {
            one.at >= kept_since && !all.iter().any(|other| other.is_same(one))
        };
        let missing: Vec<KeptErasure> = listed.iter().filter(|one| lacks(&kept, one)).copied().collect();
        let new: Vec<KeptErasure> = kept.iter().filter(|one| lacks(&listed, one)).copied().collect();
        let mut found = 0;
        if !missing.is_empty() {
            for (number, account) in meant(&missing, key, self.stored_numbers().await?) {
                self.erase_number(number, account, now).await?;
                found += 1;
            }
            for erasure in &missing {
                self.request(KeepErasure(*erasure)).await?;
            }
            tracing::info!(
                erasures = missing.len(),
                numbers = found,
                "Erased numbers again in a restored store"
            );
        }
        if !new.is_empty() {
            for (number, account) in meant(&new, key, self.recorded_numbers().await?) {
                self.erase_in_record(number, account).await?;
                found += 1;
            }
            self.list_erasures(&new)?;
        }
        Ok(found)
    }

    /// Returns every number in the store.
    async fn stored_numbers(&self) -> Result<BTreeSet<Msisdn>, StoreError> {
        let backend = &self.inner.access.backend;
        let mut numbers: BTreeSet<Msisdn> = backend.other_numbers().await?.into_iter().collect();
        let mut after = None;
        loop {
            let NumberPage { numbers: found, last } = backend.recipients(after).await?;
            numbers.extend(found);
            after = last;
            if after.is_none() {
                break;
            }
        }
        let mut after = None;
        loop {
            let NumberPage { numbers: found, last } = backend.inbound_sources(after).await?;
            numbers.extend(found);
            after = last;
            if after.is_none() {
                return Ok(numbers);
            }
        }
    }

    /// Returns every recipient in the record; none if there is no record.
    async fn recorded_numbers(&self) -> Result<BTreeSet<Msisdn>, StoreError> {
        let mut numbers = BTreeSet::new();
        let Some(record) = &self.inner.record else { return Ok(numbers) };
        let mut after = None;
        loop {
            let NumberPage { numbers: found, last } = record.backend.recipients(after).await?;
            numbers.extend(found);
            after = last;
            if after.is_none() {
                return Ok(numbers);
            }
        }
    }
}

/// Returns the numbers that these erasures mean, with their accounts.
fn meant(
    erasures: &[KeptErasure],
    key: ErasureKey,
    numbers: BTreeSet<Msisdn>,
) -> Vec<(Msisdn, Option<AccountId>)> {
    let mut found = Vec::new();
    for number in numbers {
        let digest = key.digest(number);
        let same = erasures.iter().filter(|erasure| erasure.digest == digest);
        found.extend(same.map(|erasure| (number, erasure.account)));
    }
    found
}
