//! Merges buckets of idempotency keys into larger ones, and drops void buckets. A reader finds each step in the tables,
//! beside the writer, and the writer applies it in a transaction. The tables hold the progress, so a merge that a crash
//! interrupted continues after the start.
//!
//! Keys are looked up in the merged buckets until the new bucket is complete. One transaction then replaces them by it.

use super::segments::{BLOCKS_PER_SEGMENT, blocks_for, build_segment, prefix};
use super::{Bucket, IdempotencyKeys, KeyLimits, filter_bytes, load_filter, missing_block};
use crate::block_filter::{FilterBlock, block_of, first_prefix};
use crate::tables::{
    KeyBucketId, KeyBucketRow, KeyBucketState, KeyChange, KeyEntry, KeySegment, PurgeMark, StoredTables,
    TableError, Tables,
};
use hermod_domain::ids::MessageId;
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::fmt;
use std::sync::Arc;

/// Buckets of about one size that are merged. Between merges there are fewer of each size, and each size is this many
/// times the one before: at most 21 buckets for 100 million keys.
const MERGED_MIN: usize = 4;
/// The most buckets that one merge joins.
const MERGED_MAX: usize = 16;

/// One step of merging or dropping.
#[derive(Clone, Serialize, Deserialize)]
pub enum KeyStep {
    /// Begin to merge the live buckets of these messages into a bucket of `blocks` blocks.
    Begin { first: MessageId, last: MessageId, blocks: u32 },
    /// Write the next segment of the bucket that is being built.
    Fill { bucket: KeyBucketId, segment: KeySegment },
    /// Put the complete bucket in place of those that were merged into it.
    Finish { bucket: KeyBucketId, filter: Option<Arc<[FilterBlock]>> },
    /// Drop a live bucket whose keys are all void.
    Drop(KeyBucketId),
    /// Delete a segment of a dropped bucket.
    DeleteSegment(KeyBucketId, u32),
    /// Delete the row of a dropped bucket that has no segments left.
    Delete(KeyBucketId),
}

/// Prints the step without the keys.
impl fmt::Debug for KeyStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            KeyStep::Begin { first, last, .. } => write!(f, "Begin({first} to {last})"),
            KeyStep::Fill { bucket, segment } => write!(f, "Fill({}, {})", bucket.0, segment.no),
            KeyStep::Finish { bucket, .. } => write!(f, "Finish({})", bucket.0),
            KeyStep::Drop(bucket) => write!(f, "Drop({})", bucket.0),
            KeyStep::DeleteSegment(bucket, no) => write!(f, "DeleteSegment({}, {no})", bucket.0),
            KeyStep::Delete(bucket) => write!(f, "Delete({})", bucket.0),
        }
    }
}

/// Returns the next step; none if there is nothing to merge or drop.
pub fn next_step(tables: &dyn StoredTables, limits: KeyLimits) -> Result<Option<KeyStep>, TableError> {
    let rows = tables.key_buckets()?;
    let void_up_to = tables.last_purged(PurgeMark::Keys)?;
    let in_state = |state| rows.iter().filter(move |row| row.state == state);
    let live: Vec<KeyBucketRow> = in_state(KeyBucketState::Live).copied().collect();
    if let Some(row) = in_state(KeyBucketState::Building).next() {
        return Ok(Some(continue_merge(tables, row, &live, void_up_to, limits)?));
    }
    if let Some(row) = in_state(KeyBucketState::Dropped).next() {
        let segment = tables.last_key_segment(row.id)?;
        return Ok(Some(segment.map_or(KeyStep::Delete(row.id), |no| KeyStep::DeleteSegment(row.id, no))));
    }
    if let Some(row) = live.iter().find(|row| Some(row.last) <= void_up_to) {
        return Ok(Some(KeyStep::Drop(row.id)));
    }
    let merged = half_void(&live, void_up_to).or_else(|| choose(&live, limits));
    let Some([first, ..]) = merged else { return Ok(None) };
    let keys = merged.unwrap_or_default().iter().map(|row| row.keys).sum();
    let last = merged.and_then(<[_]>::last).unwrap_or(first).last;
    Ok(Some(KeyStep::Begin { first: first.first, last, blocks: blocks_for(keys) }))
}

/// Returns the oldest bucket if about half of its keys are void: it is rewritten without them.
fn half_void(live: &[KeyBucketRow], void_up_to: Option<MessageId>) -> Option<&[KeyBucketRow]> {
    let void_up_to = void_up_to?.as_i64();
    let oldest = live.get(..1)?;
    let (first, last) = oldest.first().map(|row| (row.first.as_i64(), row.last.as_i64()))?;
    // Ids grow with time.
    let is_half_void = void_up_to >= first && void_up_to - first >= (last - first) / 2;
    is_half_void.then_some(oldest)
}

/// Returns the buckets to merge, neighbours in time: the smallest size that has enough of them.
fn choose(live: &[KeyBucketRow], limits: KeyLimits) -> Option<&[KeyBucketRow]> {
    let mut levels: Vec<u32> = live.iter().map(|row| level(row, limits)).collect();
    // A small bucket before a larger one is merged with it.
    let mut largest = 0;
    for level in levels.iter_mut().rev() {
        largest = largest.max(*level);
        *level = largest;
    }
    let mut rest = live;
    let mut chosen = None;
    for same in levels.chunk_by(|one, next| one == next) {
        let (these, others) = rest.split_at(same.len());
        rest = others;
        if these.len() >= MERGED_MIN {
            chosen = these.get(..these.len().min(MERGED_MAX));
        }
    }
    chosen
}

/// Returns the size class of a bucket: the power of [`MERGED_MIN`] by which it exceeds a freshly sealed one.
fn level(row: &KeyBucketRow, limits: KeyLimits) -> u32 {
    let sealed = u64::try_from(limits.sealed_keys).unwrap_or(u64::MAX);
    let size = u64::try_from(MERGED_MIN).unwrap_or(u64::MAX);
    (row.keys / sealed).max(1).ilog(size)
}

/// Returns the next segment of the bucket that is being built, or its last step.
fn continue_merge(
    tables: &dyn StoredTables,
    row: &KeyBucketRow,
    live: &[KeyBucketRow],
    void_up_to: Option<MessageId>,
    limits: KeyLimits,
) -> Result<KeyStep, TableError> {
    let no = tables.last_key_segment(row.id)?.map_or(0, |last| last + 1);
    if no < row.blocks.div_ceil(BLOCKS_PER_SEGMENT) {
        let inputs = live.iter().filter(|input| is_merged_into(input, row));
        let entries = read_segment(tables, row, inputs, no, void_up_to)?;
        return Ok(KeyStep::Fill { bucket: row.id, segment: build_segment(no, &entries, row.blocks) });
    }
    let filter = if filter_bytes(row) <= limits.filter_bytes { load_filter(tables, row)? } else { None };
    Ok(KeyStep::Finish { bucket: row.id, filter })
}

/// Whether a bucket is an input of a merge.
fn is_merged_into(input: &KeyBucketRow, merged: &KeyBucketRow) -> bool {
    input.state == KeyBucketState::Live && input.first >= merged.first && input.last <= merged.last
}

/// Returns the valid entries of the inputs that belong to one segment of the new bucket, in the order of their digests.
fn read_segment<'a>(
    tables: &dyn StoredTables,
    merged: &KeyBucketRow,
    inputs: impl Iterator<Item = &'a KeyBucketRow>,
    no: u32,
    void_up_to: Option<MessageId>,
) -> Result<Vec<KeyEntry>, TableError> {
    let end = (no + 1).saturating_mul(BLOCKS_PER_SEGMENT);
    let lowest = first_prefix(no * BLOCKS_PER_SEGMENT, merged.blocks).unwrap_or(u64::MAX);
    let highest = first_prefix(end, merged.blocks).map_or(u64::MAX, |next| next - 1);
    let mut entries = Vec::new();
    for input in inputs {
        let (first, last) = (block_of(lowest, input.blocks), block_of(highest, input.blocks));
        if tables.read_key_blocks(input.id, first, last, &mut entries)? != last - first + 1 {
            return Err(missing_block());
        }
    }
    entries.retain(|entry| {
        (lowest..=highest).contains(&prefix(&entry.digest)) && Some(entry.message) > void_up_to
    });
    // A key that was reused after it became void belongs to the later message.
    entries.sort_unstable_by_key(|entry| (u128::from_be_bytes(entry.digest), Reverse(entry.message)));
    entries.dedup_by_key(|entry| entry.digest);
    Ok(entries)
}

impl IdempotencyKeys {
    /// Applies a step. Does nothing if the tables changed since the step was found.
    pub fn apply(&mut self, tables: &Tables<'_>, step: &KeyStep) -> Result<(), TableError> {
        let rows = tables.read()?.key_buckets()?;
        let find =
            |id: KeyBucketId, state| rows.iter().find(|row| row.id == id && row.state == state).copied();
        // Segments are deleted from the last to the first, and then the bucket.
        let is_next_deleted = |segment: Option<u32>, bucket: KeyBucketId| {
            let last = tables.read()?.last_key_segment(bucket)?;
            Ok::<_, TableError>(last == segment && find(bucket, KeyBucketState::Dropped).is_some())
        };
        match step {
            KeyStep::Begin { first, last, blocks } => {
                if rows.iter().any(|row| row.state == KeyBucketState::Building) {
                    return Ok(());
                }
                let id = self.next_bucket();
                let state = KeyBucketState::Building;
                let row = KeyBucketRow { id, state, blocks: *blocks, keys: 0, first: *first, last: *last };
                tables.write(KeyChange::Bucket(row));
            }
            KeyStep::Fill { bucket, segment } => {
                let next = tables.read()?.last_key_segment(*bucket)?.map_or(0, |last| last + 1);
                let Some(row) = find(*bucket, KeyBucketState::Building).filter(|_| next == segment.no) else {
                    return Ok(());
                };
                tables.write(KeyChange::AddSegment { bucket: *bucket, segment: segment.clone() });
                let added: usize = segment.blocks.iter().map(Vec::len).sum();
                let keys = row.keys + u64::try_from(added).unwrap_or(0);
                tables.write(KeyChange::Bucket(KeyBucketRow { keys, ..row }));
            }
            KeyStep::Finish { bucket, filter } => {
                if let Some(row) = find(*bucket, KeyBucketState::Building) {
                    self.finish_merge(tables, row, filter.clone(), &rows);
                }
            }
            KeyStep::Drop(bucket) => {
                if let Some(row) = find(*bucket, KeyBucketState::Live) {
                    self.drop_bucket(tables, row);
                }
            }
            KeyStep::DeleteSegment(bucket, no) => {
                if is_next_deleted(Some(*no), *bucket)? {
                    tables.write(KeyChange::DeleteSegment { bucket: *bucket, no: *no });
                }
            }
            KeyStep::Delete(bucket) => {
                if is_next_deleted(None, *bucket)? {
                    tables.write(KeyChange::DeleteBucket(*bucket));
                }
            }
        }
        Ok(())
    }

    /// Makes the new bucket live and drops its inputs.
    fn finish_merge(
        &mut self,
        tables: &Tables<'_>,
        row: KeyBucketRow,
        filter: Option<Arc<[FilterBlock]>>,
        rows: &[KeyBucketRow],
    ) {
        self.before();
        for input in rows.iter().filter(|input| is_merged_into(input, &row)) {
            self.drop_bucket(tables, *input);
        }
        // Keys that were void when they were read are not in it.
        let first_valid = self.void_up_to.and_then(|void| MessageId::from_i64(void.as_i64() + 1));
        let first = first_valid.map_or(row.first, |valid| row.first.max(valid).min(row.last));
        let row = KeyBucketRow { state: KeyBucketState::Live, first, ..row };
        tables.write(KeyChange::Bucket(row));
        let place = self.buckets.iter().position(|other| other.row.last < row.first);
        self.buckets.insert(place.unwrap_or(self.buckets.len()), Bucket { row, filter });
        self.limit_filters();
    }

    fn drop_bucket(&mut self, tables: &Tables<'_>, row: KeyBucketRow) {
        self.before();
        tables.write(KeyChange::Bucket(KeyBucketRow { state: KeyBucketState::Dropped, ..row }));
        self.buckets.retain(|bucket| bucket.row.id != row.id);
    }
}
