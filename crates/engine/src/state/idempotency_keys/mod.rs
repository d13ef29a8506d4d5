//! Idempotency keys. The latest are in memory, and each batch appends its keys to a log. When the log is long enough it
//! is sealed: its keys are sorted by digest into a bucket. Buckets are merged (`merging.rs`) so that there are few, and
//! each has a Bloom filter in memory. So a new key costs one memory access per bucket, however many keys there are.
//!
//! A key is valid while its message's id is above a mark. Void keys are deleted with their bucket, or when it is
//! merged.

mod merging;
mod segments;

pub use merging::{KeyStep, next_step};
pub use segments::{BLOCKS_PER_SEGMENT, blocks_for, build_segments};

use crate::block_filter::{FilterBlock, block_of};
use crate::ops::{Duplicate, KeyClaim};
use crate::tables::{
    KeyBucketId, KeyBucketRow, KeyBucketState, KeyChange, KeyEntry, PurgeChange, PurgeMark, StoredTables,
    TableError, Tables,
};
use hermod_domain::ids::MessageId;
use segments::{filter_hash, prefix};
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::Arc;

/// The most keys that a batch usually claims.
const KEYS_PER_BATCH: usize = 512;

/// Keys in memory. Their digests need no further hash.
type RecentKeys = HashMap<[u8; 16], Used, BuildHasherDefault<DigestHasher>>;

/// Uses part of a digest, which is evenly distributed, as the hash.
#[derive(Default)]
struct DigestHasher(u64);

impl Hasher for DigestHasher {
    fn write(&mut self, digest: &[u8]) {
        if let Some(piece) = digest.last_chunk::<8>() {
            self.0 = u64::from_be_bytes(*piece);
        }
    }

    /// Ignores the length of a digest, which is constant.
    fn write_usize(&mut self, _: usize) {}

    fn finish(&self) -> u64 {
        self.0
    }
}

/// How much of the keys is in memory.
#[derive(Clone, Copy, Debug)]
pub struct KeyLimits {
    /// Keys in the log from which on it is sealed. Sealing takes the writer some milliseconds.
    pub sealed_keys: usize,
    /// Octets of filters in memory. Beyond that the oldest buckets have no filter, and a look-up reads one of their
    /// blocks: slower, but correct. Doubles for the moment in which a merged bucket replaces others.
    pub filter_bytes: usize,
}

impl KeyLimits {
    /// 3 MB of keys, and the filters of 134 million.
    pub const DEFAULT: KeyLimits = KeyLimits { sealed_keys: 32_768, filter_bytes: 256 * 1024 * 1024 };

    /// Allocates room for all keys of a log.
    fn new_recent(self) -> RecentKeys {
        let all = self.sealed_keys.saturating_add(KEYS_PER_BATCH);
        RecentKeys::with_capacity_and_hasher(all, BuildHasherDefault::new())
    }
}

/// The message that used a key, and the fingerprint of its request.
#[derive(Clone, Copy)]
struct Used {
    message: MessageId,
    fingerprint: u64,
}

/// A sealed bucket, and its filter if that is in memory.
#[derive(Clone)]
struct Bucket {
    row: KeyBucketRow,
    filter: Option<Arc<[FilterBlock]>>,
}

/// All valid idempotency keys.
pub struct IdempotencyKeys {
    /// The keys of the log, and those that this batch claimed.
    recent: RecentKeys,
    /// No message in `recent` is older.
    oldest_recent: Option<MessageId>,
    /// No key belongs to a later message.
    newest: Option<MessageId>,
    /// Claimed by this batch.
    claimed: Vec<KeyEntry>,
    /// The live buckets, newest first.
    buckets: Vec<Bucket>,
    last_bucket: u32,
    /// Keys of messages up to this one are void.
    void_up_to: Option<MessageId>,
    limits: KeyLimits,
    /// What a rollback restores, if the batch changed more than `claimed`.
    before: Option<Before>,
}

struct Before {
    /// None if it changed only by what was claimed.
    recent: Option<RecentKeys>,
    buckets: Vec<Bucket>,
    void_up_to: Option<MessageId>,
}

impl IdempotencyKeys {
    /// Reads the log and the filters.
    pub fn load(tables: &Tables<'_>, limits: KeyLimits) -> Result<IdempotencyKeys, TableError> {
        let tables = tables.read()?;
        let rows = tables.key_buckets()?;
        let last_bucket = rows.iter().map(|row| row.id.0).max().unwrap_or(0);
        let mut buckets = Vec::new();
        let mut bytes_left = limits.filter_bytes;
        for row in rows.into_iter().rev().filter(|row| row.state == KeyBucketState::Live) {
            let filter = if filter_bytes(&row) <= bytes_left { load_filter(tables, &row)? } else { None };
            bytes_left -= filter.as_ref().map_or(0, |_| filter_bytes(&row));
            buckets.push(Bucket { row, filter });
        }
        let log = tables.key_log()?;
        let mut recent = limits.new_recent();
        recent.extend(log.iter().map(|entry| (entry.digest, used(entry))));
        Ok(IdempotencyKeys {
            newest: log.last().map(|entry| entry.message).max(buckets.first().map(|bucket| bucket.row.last)),
            oldest_recent: log.first().map(|entry| entry.message),
            recent,
            claimed: Vec::new(),
            buckets,
            last_bucket,
            void_up_to: tables.last_purged(PurgeMark::Keys)?,
            limits,
            before: None,
        })
    }

    /// Reads the filter blocks of keys that will be looked up next. A large filter is not in the processor's cache, and
    /// independent reads overlap.
    pub fn touch<'a>(&self, keys: impl Iterator<Item = &'a KeyClaim>) {
        let mut bits = 0;
        for KeyClaim { digest, .. } in keys {
            for Bucket { row, filter } in &self.buckets {
                let no = usize::try_from(block_of(prefix(digest), row.blocks)).unwrap_or(0);
                bits |= filter.as_ref().and_then(|filter| filter.get(no)).map_or(0, |block| block.0[0]);
            }
        }
        std::hint::black_box(bits);
    }

    /// Returns the message that used this key, if the key is valid.
    pub fn find(&self, tables: &Tables<'_>, key: &KeyClaim) -> Result<Option<Duplicate>, TableError> {
        if let Some(used) = self.recent.get(&key.digest).filter(|used| self.is_valid(used.message)) {
            return Ok(Some(duplicate(used, key)));
        }
        let (prefix, hash) = (prefix(&key.digest), filter_hash(&key.digest));
        for Bucket { row, filter } in &self.buckets {
            let no = block_of(prefix, row.blocks);
            let block = filter.as_ref().and_then(|filter| filter.get(usize::try_from(no).ok()?));
            if block.is_none_or(|block| block.may_hold(hash))
                && let Some(used) = find_in_block(tables.read()?, row.id, no, &key.digest)?
                && self.is_valid(used.message)
            {
                return Ok(Some(duplicate(&used, key)));
            }
        }
        Ok(None)
    }

    /// Claims a key for a message. The key must not be in use.
    pub fn claim(&mut self, key: &KeyClaim, message: MessageId) {
        let KeyClaim { digest, fingerprint } = *key;
        self.recent.insert(digest, Used { message, fingerprint });
        self.oldest_recent.get_or_insert(message);
        self.newest = self.newest.max(Some(message));
        self.claimed.push(KeyEntry { digest, message, fingerprint });
    }

    /// Writes the keys that the batch claimed to the log, or seals the log with them. The last step of a batch.
    pub fn write(&mut self, tables: &Tables<'_>) {
        if self.claimed.is_empty() {
            return;
        }
        if self.recent.len() < self.limits.sealed_keys {
            tables.write(KeyChange::AddToLog(self.claimed.clone()));
        } else {
            self.seal(tables);
        }
    }

    /// Makes the changes of the batch final.
    pub fn committed(&mut self) {
        self.claimed.clear();
        self.before = None;
    }

    /// Undoes what the batch changed.
    pub fn rolled_back(&mut self) {
        if let Some(Before { recent, buckets, void_up_to }) = self.before.take() {
            self.buckets = buckets;
            self.void_up_to = void_up_to;
            if let Some(recent) = recent {
                self.recent = recent;
                self.oldest_recent = self.recent.values().map(|used| used.message).min();
            }
        }
        for KeyEntry { digest, message, .. } in self.claimed.drain(..) {
            if self.recent.get(&digest).is_some_and(|used| used.message == message) {
                self.recent.remove(&digest);
            }
        }
    }

    /// Makes the keys of all messages before this one void. Returns whether there may be any.
    pub fn expire(&mut self, tables: &Tables<'_>, before: MessageId) -> bool {
        // Never above the newest key: if the clock was ahead, the next message may be before that time.
        let last = before.as_i64().checked_sub(1).and_then(MessageId::from_i64).min(self.newest);
        let Some(last) = last else { return false };
        let oldest_sealed = self.buckets.last().map(|bucket| bucket.row.first);
        let oldest = oldest_sealed.into_iter().chain(self.oldest_recent).min();
        if Some(last) <= self.void_up_to || oldest.is_none_or(|oldest| oldest > last) {
            return false;
        }
        tables.write(PurgeChange::Mark { mark: PurgeMark::Keys, last });
        tables.write(KeyChange::DeleteLogUpTo(last));
        let recent = self.recent.clone();
        self.before().recent.get_or_insert(recent);
        self.void_up_to = Some(last);
        self.recent.retain(|_, used| used.message > last);
        self.oldest_recent = self.recent.values().map(|used| used.message).min();
        true
    }

    /// Writes all keys of the log into a new bucket and clears the log.
    fn seal(&mut self, tables: &Tables<'_>) {
        let entry = |(digest, used): (&[u8; 16], &Used)| KeyEntry {
            digest: *digest,
            message: used.message,
            fingerprint: used.fingerprint,
        };
        let mut entries: Vec<KeyEntry> = self.recent.iter().map(entry).collect();
        entries.sort_unstable_by_key(|entry| u128::from_be_bytes(entry.digest));
        let messages = || entries.iter().map(|entry| entry.message);
        let (Some(first), Some(last)) = (messages().min(), messages().max()) else { return };
        let id = self.next_bucket();
        let keys = u64::try_from(entries.len()).unwrap_or(u64::MAX);
        let blocks = blocks_for(keys);
        let mut filter = Vec::new();
        for segment in build_segments(&entries, blocks) {
            filter.extend_from_slice(&segment.filter);
            tables.write(KeyChange::AddSegment { bucket: id, segment });
        }
        let row = KeyBucketRow { id, state: KeyBucketState::Live, blocks, keys, first, last };
        tables.write(KeyChange::Bucket(row));
        tables.write(KeyChange::ClearLog);
        let recent = std::mem::replace(&mut self.recent, self.limits.new_recent());
        self.before().recent.get_or_insert(recent);
        self.oldest_recent = None;
        self.buckets.insert(0, Bucket { row, filter: Some(filter.into()) });
        self.limit_filters();
    }

    fn next_bucket(&mut self) -> KeyBucketId {
        self.last_bucket += 1;
        KeyBucketId(self.last_bucket)
    }

    /// Returns what a rollback restores. Must be called before anything but `recent` changes.
    fn before(&mut self) -> &mut Before {
        let (buckets, void_up_to) = (&self.buckets, self.void_up_to);
        self.before.get_or_insert_with(|| Before { recent: None, buckets: buckets.clone(), void_up_to })
    }

    fn is_valid(&self, message: MessageId) -> bool {
        Some(message) > self.void_up_to
    }

    /// Drops the filters of the oldest buckets beyond the limit.
    fn limit_filters(&mut self) {
        let mut bytes_left = self.limits.filter_bytes;
        for Bucket { row, filter } in &mut self.buckets {
            filter.take_if(|_| filter_bytes(row) > bytes_left);
            bytes_left -= filter.as_ref().map_or(0, |_| filter_bytes(row));
        }
    }
}

fn used(entry: &KeyEntry) -> Used {
    Used { message: entry.message, fingerprint: entry.fingerprint }
}

fn duplicate(used: &Used, key: &KeyClaim) -> Duplicate {
    Duplicate { message: used.message, is_same_request: used.fingerprint == key.fingerprint }
}

fn find_in_block(
    tables: &dyn StoredTables,
    bucket: KeyBucketId,
    no: u32,
    digest: &[u8; 16],
) -> Result<Option<Used>, TableError> {
    let mut entries = Vec::new();
    if tables.read_key_blocks(bucket, no, no, &mut entries)? != 1 {
        return Err(missing_block());
    }
    Ok(entries.iter().find(|entry| entry.digest == *digest).map(used))
}

fn missing_block() -> TableError {
    TableError::unreadable("a block of idempotency keys is missing")
}

fn filter_bytes(row: &KeyBucketRow) -> usize {
    usize::try_from(row.blocks).unwrap_or(usize::MAX).saturating_mul(FilterBlock::BYTES)
}

/// Reads the filter of a bucket. None if it is incomplete: then the bucket's blocks are read instead.
fn load_filter(
    tables: &dyn StoredTables,
    row: &KeyBucketRow,
) -> Result<Option<Arc<[FilterBlock]>>, TableError> {
    let filter = tables.key_filter(row.id)?;
    Ok((u32::try_from(filter.len()) == Ok(row.blocks)).then(|| filter.into()))
}
