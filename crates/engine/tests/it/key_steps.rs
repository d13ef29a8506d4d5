//! Stale merge steps of idempotency keys: found before another step changed the tables.

use crate::memory::MemoryTables;
use hermod_domain::ids::MessageId;
use hermod_engine::block_filter::FilterBlock;
use hermod_engine::state::idempotency_keys::{IdempotencyKeys, KeyLimits, KeyStep};
use hermod_engine::tables::{
    IdempotencyKeyRows, KeyBucketId, KeyBucketRow, KeyBucketState, KeyChange, KeySegment, Tables,
};

const BUCKET: KeyBucketId = KeyBucketId(1);

#[test]
fn repeated_merge_step_changes_nothing() {
    let memory = MemoryTables::default();
    let tables = Tables::new(memory.clone());
    let id = MessageId::from_i64(1).unwrap();
    let state = KeyBucketState::Dropped;
    tables.write(KeyChange::Bucket(KeyBucketRow {
        id: BUCKET,
        state,
        blocks: 1,
        keys: 0,
        first: id,
        last: id,
    }));
    let segment = KeySegment { no: 0, blocks: vec![Vec::new()], filter: vec![FilterBlock::default()] };
    tables.write(KeyChange::AddSegment { bucket: BUCKET, segment });
    let mut keys = IdempotencyKeys::load(&tables, KeyLimits::DEFAULT).unwrap();
    // A bucket with a segment cannot be deleted.
    let (segment, bucket) = (KeyStep::DeleteSegment(BUCKET, 0), KeyStep::Delete(BUCKET));
    for step in [&bucket, &segment, &segment, &bucket, &bucket] {
        keys.apply(&tables, step).unwrap();
        tables.apply().unwrap();
    }
    assert!(memory.key_buckets().unwrap().is_empty());
}
