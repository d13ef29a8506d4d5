//! Erases phone numbers, in short reads and short transactions, and makes erasures again that a restored backup or the record of a
//! node that was away lacks.

use crate::backend::ErasureScopes;
use crate::backend::read_results::{CoveredInbound, CoveredMessage, NumberPage};
use crate::data_folder::erasure_list;
use crate::error::StoreError;
use crate::operations::ErasureStore;
use crate::record::RecordErasure;
use crate::sql::{carrier_ids, erasure, erasure_scans};
use hermod_domain::erasure::{ERASURES_KEPT, ErasureKey, ErasureScope, KeptErasure, NumberDigest};
use hermod_domain::ids::{AccountId, MessageId};
use hermod_domain::phone::Msisdn;
use hermod_domain::time::Timestamp;
use hermod_engine::commands::{
    EraseCarrierIds, EraseInbound, EraseMessages, EraseOthers, EraseResponses, KeepErasure,
};
use hermod_engine::erase::Erased;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// Rows erased in one transaction.
const ROWS_PER_WRITE: usize = 500;
/// Maximum number of messages that are listed because they are not final and so were not erased.
const NAMED_MAX: usize = 100;
/// Pause before erasures are made again that found messages in progress: they read every stored message.
const REPLAY_PAUSE: Duration = Duration::from_secs(3_600);
/// How far what is stored may be ahead of the clock when a number is erased.
const CLOCK_AHEAD_MAX: Duration = Duration::from_secs(86_400);

impl ErasureStore<'_> {
    /// Sets the key of the digests of erased numbers, which is derived from the pepper. A second call changes nothing.
    pub fn set_key(self, key: ErasureKey) {
        // A store has one pepper.
        let _ = self.0.inner.access.shared.erasure_key.set(key);
    }

    fn key(self) -> Option<ErasureKey> {
        self.0.inner.access.shared.erasure_key.get().copied()
    }

    /// Erases a phone number in the data of one account or of all. Reads every stored message, in short reads.
    /// Messages that are not final keep the number and are counted in the result. The erasure is kept, as a keyed digest of the
    /// number, to be made again by [`ErasureStore::replay`] up to this time.
    pub async fn erase_number(
        self,
        number: Msisdn,
        account: Option<AccountId>,
        now: Timestamp,
    ) -> Result<Erased, StoreError> {
        // Ids and times may be ahead of the clock, if it was set back or that of another node is ahead.
        let newest = self.0.read(erasure_scans::newest_message).await?;
        let at = newest.map_or(now, |newest| newest.accepted_at().max(now)).min(now.plus(CLOCK_AHEAD_MAX));
        let kept = self.key().map(|key| KeptErasure { digest: key.digest(number), account, at });
        let scope = ErasureScope { number, account, until: at.plus(CLOCK_AHEAD_MAX) };
        let progress = self.erase(&[scope], kept).await?;
        self.erase_requests(kept.as_slice()).await?;
        self.write_list(kept.as_slice())?;
        Ok(progress.erased)
    }

    /// Erases numbers in the store and in the record, and keeps the erasure if one is given. Reads each table once for all
    /// numbers.
    async fn erase(self, all: &[ErasureScope], keep: Option<KeptErasure>) -> Result<Progress, StoreError> {
        let mut progress = Progress::default();
        let Some(scopes) = ErasureScopes::new(all).map(Arc::new) else { return Ok(progress) };
        self.erase_messages(&scopes, &mut progress).await?;
        self.erase_inbound(&scopes, &mut progress).await?;
        self.erase_carrier_ids(&scopes).await?;
        self.erase_responses(&scopes).await?;
        if let Some(erasure) = keep {
            self.0.request(KeepErasure(erasure)).await?;
        }
        for scope in all {
            progress.erased.others += self.0.request(EraseOthers(*scope)).await?;
            self.0.record().erase(RecordErasure::Messages(*scope)).await?;
        }
        // The write-ahead log still contains the erased data.
        self.0.inner.access.shared.disk.request_truncation();
        Ok(progress)
    }

    async fn erase_messages(
        self,
        scopes: &Arc<ErasureScopes>,
        progress: &mut Progress,
    ) -> Result<(), StoreError> {
        let mut after = None;
        loop {
            let covered = scopes.clone();
            let page = self.0.read(move |database| erasure::messages_to(database, &covered, after)).await?;
            let ended = page.found.iter().filter(|found| found.has_ended).map(|found| found.id);
            let reported = self.find_reported(ended.collect()).await?;
            let is_done = |found: &CoveredMessage| found.has_ended && !reported.contains(&found.id);
            let (done, open): (Vec<_>, Vec<_>) = page.found.into_iter().partition(is_done);
            open.iter().for_each(|found| progress.leave_message(found));
            for found in done.chunks(ROWS_PER_WRITE) {
                let ids = found.iter().map(|found| found.id).collect();
                let (done, left) = self.0.request(EraseMessages { ids }).await?;
                progress.erased.messages += done;
                let left = found.iter().filter(|found| left.contains(&found.id));
                left.for_each(|found| progress.leave_message(found));
            }
            after = page.last;
            if after.is_none() {
                return Ok(());
            }
        }
    }

    /// Returns those of these messages, MO included, that a report or webhook event waits to deliver. Reads the tables beside
    /// the writer: they have no index by message, which would cost every message. One that begins to wait later, such as for
    /// a late receipt, has the substitute, as after the erasure.
    async fn find_reported(self, messages: HashSet<MessageId>) -> Result<HashSet<MessageId>, StoreError> {
        let messages = Arc::new(messages);
        let mut found = HashSet::new();
        if messages.is_empty() {
            return Ok(found);
        }
        // Reports first: they may move to the webhook meanwhile.
        let mut after = None;
        loop {
            let about = messages.clone();
            let page =
                self.0.read(move |database| erasure_scans::reports_about(database, &about, after)).await?;
            found.extend(page.found.into_iter().map(|place| place.message));
            after = page.last;
            if after.is_none() {
                break;
            }
        }
        let mut after = None;
        loop {
            let about = messages.clone();
            let page =
                self.0.read(move |database| erasure_scans::events_about(database, &about, after)).await?;
            found.extend(page.found.into_iter().map(|place| place.message));
            after = page.last;
            if after.is_none() {
                return Ok(found);
            }
        }
    }

    async fn erase_inbound(
        self,
        scopes: &Arc<ErasureScopes>,
        progress: &mut Progress,
    ) -> Result<(), StoreError> {
        let mut after = None;
        loop {
            let covered = scopes.clone();
            let page = self.0.read(move |database| erasure::inbound_from(database, &covered, after)).await?;
            let messages = page.found.iter().map(|found| found.message);
            let reported = self.find_reported(messages.collect()).await?;
            let is_done = |found: &CoveredInbound| !reported.contains(&found.message);
            let (done, open): (Vec<_>, Vec<_>) = page.found.into_iter().partition(is_done);
            open.iter().for_each(|found| progress.leave(found.from));
            for found in done.chunks(ROWS_PER_WRITE) {
                let keys = found.iter().map(|found| found.key).collect();
                self.0.request(EraseInbound { keys }).await?;
                progress.erased.inbound += u64::try_from(found.len()).unwrap_or(u64::MAX);
            }
            after = page.last;
            if after.is_none() {
                return Ok(());
            }
        }
    }

    /// Removes numbers from the carriers' ids of parts.
    async fn erase_carrier_ids(self, scopes: &Arc<ErasureScopes>) -> Result<(), StoreError> {
        for day in self.0.read(carrier_ids::carrier_id_days).await? {
            let mut after = None;
            loop {
                let covered = scopes.clone();
                let read = self.0.read(move |database| {
                    erasure_scans::carrier_ids_to(database, day, &covered, after.as_ref())
                });
                let page = match read.await {
                    // Its table was retired meanwhile: it is about to be deleted.
                    Err(_) if !self.0.read(carrier_ids::carrier_id_days).await?.contains(&day) => break,
                    page => page?,
                };
                for ids in page.found.chunks(ROWS_PER_WRITE) {
                    self.0.request(EraseCarrierIds { ids: ids.to_vec() }).await?;
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
    async fn erase_responses(self, scopes: &Arc<ErasureScopes>) -> Result<(), StoreError> {
        let mut after = None;
        loop {
            let covered = scopes.clone();
            let page = self
                .0
                .read(move |database| erasure_scans::responses_naming(database, &covered, after))
                .await?;
            for attempts in page.found.chunks(ROWS_PER_WRITE) {
                self.0.request(EraseResponses { attempts: attempts.to_vec() }).await?;
            }
            after = page.last;
            if after.is_none() {
                return Ok(());
            }
        }
    }

    /// Erases numbers in the request log, which has them as digests.
    async fn erase_requests(self, erasures: &[KeptErasure]) -> Result<(), StoreError> {
        if erasures.is_empty() {
            return Ok(());
        }
        self.0.record().erase(RecordErasure::Requests(erasures.to_vec())).await
    }

    fn write_list(self, erasures: &[KeptErasure]) -> Result<(), StoreError> {
        erasure_list::add(self.0.inner.access.shared.disk.folder(), erasures)
    }

    /// Makes erasures again, each up to the time when it was made: in the store those that only the folder's list has, because
    /// the store was restored from a backup; in the record those that the list lacks, because this node was away. Returns how
    /// many numbers were found. An erasure that finds messages in progress is made again later, until it finds none. Without
    /// [`ErasureStore::set_key`] it does nothing.
    pub async fn replay(self, now: Timestamp) -> Result<u64, StoreError> {
        let Some(key) = self.key() else { return Ok(0) };
        let folder = self.0.inner.access.shared.disk.folder().to_owned();
        // The list first: an erasure that ends between the two reads is in the store already.
        let listed = erasure_list::read(&folder)?;
        let kept = self.0.read(erasure_scans::kept).await?;
        // Older ones are not kept any more.
        let kept_since = now.minus(ERASURES_KEPT);
        let (mut missing, mut new) =
            (erasure_list::missing_in(&kept, &listed), erasure_list::missing_in(&listed, &kept));
        missing.retain(|one| one.at >= kept_since);
        new.retain(|one| one.at >= kept_since);
        Ok(self.replay_in_store(key, missing, now).await? + self.replay_in_record(key, &new).await?)
    }

    /// Makes erasures again that a restored store lacks. Returns how many numbers were found.
    async fn replay_in_store(
        self,
        key: ErasureKey,
        mut erasures: Vec<KeptErasure>,
        now: Timestamp,
    ) -> Result<u64, StoreError> {
        let waiting = &self.0.inner.access.shared.replay_after_ms;
        if erasures.is_empty() || now.as_millis() < waiting.load(Ordering::Relaxed) {
            return Ok(0);
        }
        let found = self.find_stored(key, &erasures).await?;
        let scopes: Vec<ErasureScope> = found.iter().map(|(scope, _)| *scope).collect();
        let unfinished = self.erase(&scopes, None).await?.unfinished;
        self.erase_requests(&erasures).await?;
        if !unfinished.is_empty() {
            let left = found.iter().filter(|(scope, _)| unfinished.contains(&scope.number));
            let left: HashSet<_> = left.map(|(_, erasure)| erasure.key()).collect();
            erasures.retain(|erasure| !left.contains(&erasure.key()));
            waiting.store(now.plus(REPLAY_PAUSE).as_millis(), Ordering::Relaxed);
        }
        for erasure in &erasures {
            self.0.request(KeepErasure(*erasure)).await?;
        }
        tracing::info!(
            erasures = erasures.len(),
            numbers = found.len(),
            "Erased numbers again in a restored store"
        );
        Ok(u64::try_from(found.len()).unwrap_or(u64::MAX))
    }

    /// Makes erasures again that were made while this node was away, and lists them. Returns how many numbers were found.
    async fn replay_in_record(self, key: ErasureKey, erasures: &[KeptErasure]) -> Result<u64, StoreError> {
        if erasures.is_empty() {
            return Ok(0);
        }
        let mut search = NumberSearch::new(key, erasures);
        if let Some(record) = &self.0.inner.record {
            search.read_all(|after| record.readers.recipients(after)).await?;
        }
        for (scope, _) in &search.found {
            self.0.record().erase(RecordErasure::Messages(*scope)).await?;
        }
        self.erase_requests(erasures).await?;
        self.write_list(erasures)?;
        Ok(u64::try_from(search.found.len()).unwrap_or(u64::MAX))
    }

    /// Finds the numbers of erasures among all that are stored.
    async fn find_stored(
        self,
        key: ErasureKey,
        erasures: &[KeptErasure],
    ) -> Result<Vec<(ErasureScope, KeptErasure)>, StoreError> {
        let backend = &self.0.inner.access.backend;
        let mut search = NumberSearch::new(key, erasures);
        search
            .read_all(|after| backend.read(move |database| erasure_scans::recipients(database, after)))
            .await?;
        search
            .read_all(|after| backend.read(move |database| erasure_scans::inbound_sources(database, after)))
            .await?;
        search
            .read_all(|after| backend.read(move |database| erasure_scans::reviewed_numbers(database, after)))
            .await?;
        search
            .read_all(|after| {
                backend.read(move |database| erasure_scans::conversation_handsets(database, after))
            })
            .await?;
        search
            .read_all(|after| {
                backend.read(move |database| erasure_scans::parked_numbers(database, after.as_ref()))
            })
            .await?;
        search
            .read_all(|after| {
                backend.read(move |database| erasure_scans::unassigned_sources(database, after))
            })
            .await?;
        Ok(search.found)
    }
}

/// What was erased so far.
#[derive(Default)]
struct Progress {
    erased: Erased,
    /// Numbers of messages and MO messages that were left because they are still being delivered.
    unfinished: HashSet<Msisdn>,
}

impl Progress {
    fn leave(&mut self, number: Msisdn) {
        self.erased.in_progress += 1;
        self.unfinished.insert(number);
    }

    fn leave_message(&mut self, found: &CoveredMessage) {
        self.leave(found.to);
        if self.erased.named.len() < NAMED_MAX {
            self.erased.named.push(found.id);
        }
    }
}

/// Looks for the numbers that erasures mean. Holds a page of numbers at a time, and those that it found.
struct NumberSearch {
    key: ErasureKey,
    /// Erasures whose numbers were not found yet.
    wanted: HashMap<NumberDigest, Vec<KeptErasure>>,
    found: Vec<(ErasureScope, KeptErasure)>,
}

impl NumberSearch {
    fn new(key: ErasureKey, erasures: &[KeptErasure]) -> NumberSearch {
        let mut wanted: HashMap<NumberDigest, Vec<KeptErasure>> = HashMap::new();
        for erasure in erasures {
            wanted.entry(erasure.digest).or_default().push(*erasure);
        }
        NumberSearch { key, wanted, found: Vec::new() }
    }

    /// Looks through a table, page by page. Ends once every number was found.
    async fn read_all<T, R>(&mut self, read: impl Fn(Option<T>) -> R) -> Result<(), StoreError>
    where
        R: Future<Output = Result<NumberPage<T>, StoreError>>,
    {
        let mut after = None;
        while !self.wanted.is_empty() {
            let NumberPage { numbers, last } = read(after).await?;
            numbers.into_iter().for_each(|number| self.look_at(number));
            after = last;
            if after.is_none() {
                break;
            }
        }
        Ok(())
    }

    fn look_at(&mut self, number: Msisdn) {
        let erasures = self.wanted.remove(&self.key.digest(number)).unwrap_or_default();
        self.found.extend(erasures.into_iter().map(|erasure| {
            let KeptErasure { account, at, .. } = erasure;
            (ErasureScope { number, account, until: at }, erasure)
        }));
    }
}
