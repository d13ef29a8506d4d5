//! Idempotency keys: the log, the buckets, and their blocks and filters.

use super::MemoryTables;
use hermod_domain::ids::MessageId;
use hermod_engine::block_filter::FilterBlock;
use hermod_engine::state::idempotency_keys::BLOCKS_PER_SEGMENT;
use hermod_engine::tables::{
    IdempotencyKeyRows, KeyBucketId, KeyBucketRow, KeyChange, KeyEntry, KeySegment, TableError,
};

impl MemoryTables {
    fn add_to_key_log(&self, keys: &[KeyEntry]) -> Result<(), TableError> {
        let rows = &mut *self.write();
        let (Some(first), Some(last)) = (keys.first(), keys.last()) else {
            panic!("no key is added to the log")
        };
        let newest = rows.key_log.keys().next_back().copied();
        assert!(
            newest.is_none_or(|newest| first.message.as_i64() > newest),
            "{first:?} is not behind {newest:?}"
        );
        rows.key_log.add(last.message.as_i64(), keys.to_vec());
        Ok(())
    }

    fn clear_key_log(&self) -> Result<(), TableError> {
        self.write().key_log.delete_where(|_, _| true);
        Ok(())
    }

    fn delete_key_log_up_to(&self, last: MessageId) -> Result<(), TableError> {
        self.write().key_log.delete_where(|of, _| *of <= last.as_i64());
        Ok(())
    }

    fn put_key_bucket(&self, bucket: &KeyBucketRow) -> Result<(), TableError> {
        self.write().key_bucket.put(bucket.id.0, *bucket);
        Ok(())
    }

    fn delete_key_bucket(&self, bucket: KeyBucketId) -> Result<(), TableError> {
        let rows = &mut *self.write();
        assert!(rows.key_filter.keys().all(|(of, _)| *of != bucket.0), "{bucket:?} has segments");
        rows.key_bucket.delete(&bucket.0);
        Ok(())
    }

    fn add_key_segment(&self, bucket: KeyBucketId, segment: &KeySegment) -> Result<(), TableError> {
        let rows = &mut *self.write();
        for (no, entries) in (segment.no * BLOCKS_PER_SEGMENT..).zip(&segment.blocks) {
            rows.key_block.add((bucket.0, no), entries.clone());
        }
        rows.key_filter.add((bucket.0, segment.no), segment.filter.clone());
        Ok(())
    }

    fn delete_key_segment(&self, bucket: KeyBucketId, no: u32) -> Result<(), TableError> {
        let rows = &mut *self.write();
        let first = no.saturating_mul(BLOCKS_PER_SEGMENT);
        let blocks = first..=first.saturating_add(BLOCKS_PER_SEGMENT - 1);
        rows.key_block.delete_where(|(of, block), _| *of == bucket.0 && blocks.contains(block));
        rows.key_filter.delete(&(bucket.0, no));
        Ok(())
    }
}

impl IdempotencyKeyRows for MemoryTables {
    fn change_keys(&self, change: &KeyChange) -> Result<(), TableError> {
        match change {
            KeyChange::AddToLog(keys) => self.add_to_key_log(keys),
            KeyChange::ClearLog => self.clear_key_log(),
            KeyChange::DeleteLogUpTo(last) => self.delete_key_log_up_to(*last),
            KeyChange::Bucket(bucket) => self.put_key_bucket(bucket),
            KeyChange::DeleteBucket(bucket) => self.delete_key_bucket(*bucket),
            KeyChange::AddSegment { bucket, segment } => self.add_key_segment(*bucket, segment),
            KeyChange::DeleteSegment { bucket, no } => self.delete_key_segment(*bucket, *no),
        }
    }

    fn key_log(&self) -> Result<Vec<KeyEntry>, TableError> {
        Ok(self.read().key_log.values().flatten().copied().collect())
    }

    fn key_buckets(&self) -> Result<Vec<KeyBucketRow>, TableError> {
        let mut buckets: Vec<KeyBucketRow> = self.read().key_bucket.values().copied().collect();
        buckets.sort_by_key(|bucket| (bucket.first, bucket.id));
        Ok(buckets)
    }

    fn last_key_segment(&self, bucket: KeyBucketId) -> Result<Option<u32>, TableError> {
        let rows = self.read();
        let mut segments = rows.key_filter.range((bucket.0, 0)..=(bucket.0, u32::MAX));
        Ok(segments.next_back().map(|((_, no), _)| *no))
    }

    fn key_filter(&self, bucket: KeyBucketId) -> Result<Vec<FilterBlock>, TableError> {
        let rows = self.read();
        let segments = rows.key_filter.range((bucket.0, 0)..=(bucket.0, u32::MAX));
        Ok(segments.flat_map(|(_, filter)| filter.iter().copied()).collect())
    }

    fn read_key_blocks(
        &self,
        bucket: KeyBucketId,
        first: u32,
        last: u32,
        found: &mut Vec<KeyEntry>,
    ) -> Result<u32, TableError> {
        let rows = self.read();
        let mut count = 0;
        for (_, entries) in rows.key_block.range((bucket.0, first)..=(bucket.0, last)) {
            found.extend_from_slice(entries);
            count += 1;
        }
        Ok(count)
    }
}
