//! The layout of a bucket: its keys are in blocks by the prefix of their digest, and blocks form segments. Each block
//! has its own block of the filter, so a segment of the filter is built from the same keys as the blocks beside it.

use crate::block_filter::{FilterBlock, KEYS_PER_BLOCK, block_of};
use crate::tables::{KeyEntry, KeySegment};

/// Blocks of a segment, which one step writes: about 8,000 keys.
pub const BLOCKS_PER_SEGMENT: u32 = 256;

/// Returns how many blocks a bucket with this many keys has.
pub fn blocks_for(keys: u64) -> u32 {
    let per_block = u64::try_from(KEYS_PER_BLOCK).unwrap_or(u64::MAX);
    u32::try_from(keys.div_ceil(per_block)).unwrap_or(u32::MAX).max(1)
}

/// Returns the segments of a bucket with these entries, which must be in the order of their digests.
pub fn build_segments(entries: &[KeyEntry], blocks: u32) -> impl Iterator<Item = KeySegment> {
    let mut rest = entries;
    (0..blocks.div_ceil(BLOCKS_PER_SEGMENT)).map(move |no| {
        let end = (no + 1).saturating_mul(BLOCKS_PER_SEGMENT);
        let count = rest.partition_point(|entry| block_of(prefix(&entry.digest), blocks) < end);
        let (these, others) = rest.split_at(count);
        rest = others;
        build_segment(no, these, blocks)
    })
}

/// Returns one segment of a bucket with `blocks` blocks. The entries must be its own, in the order of their digests.
pub(super) fn build_segment(no: u32, entries: &[KeyEntry], blocks: u32) -> KeySegment {
    let first = no * BLOCKS_PER_SEGMENT;
    let count = usize::try_from(BLOCKS_PER_SEGMENT.min(blocks - first)).unwrap_or(0);
    let mut segment = KeySegment {
        no,
        blocks: vec![Vec::with_capacity(KEYS_PER_BLOCK * 2); count],
        filter: vec![FilterBlock::default(); count],
    };
    for entry in entries {
        let place = usize::try_from(block_of(prefix(&entry.digest), blocks) - first).unwrap_or(usize::MAX);
        if let (Some(block), Some(filter)) = (segment.blocks.get_mut(place), segment.filter.get_mut(place)) {
            block.push(*entry);
            filter.add(filter_hash(&entry.digest));
        }
    }
    segment
}

/// Returns the prefix of a digest, which selects its block.
pub(super) fn prefix(digest: &[u8; 16]) -> u64 {
    (u128::from_be_bytes(*digest) >> 64) as u64
}

/// Returns the rest of a digest, which selects its bits in a block of the filter.
pub(super) fn filter_hash(digest: &[u8; 16]) -> u64 {
    u128::from_be_bytes(*digest) as u64
}
