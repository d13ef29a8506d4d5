//! A blocked Bloom filter: it says of a key "certainly absent" or "perhaps present". It is an array of blocks of 64
//! octets. A key has all its bits in one block, so that a look-up is one memory access.

use hermod_domain::octets;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Bits that a key sets in its block.
const BITS_PER_KEY: u32 = 6;
/// Keys per block of a full filter: 16 bits for each key, about one wrong "perhaps" in 500.
pub const KEYS_PER_BLOCK: usize = 32;
/// Blocks of the first filter of a [`GrowingFilter`].
const FIRST_BLOCKS: usize = 256;
/// The size of each further filter relative to the one before.
const GROWTH: usize = 4;

/// A block of 512 bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FilterBlock(pub [u64; 8]);

impl FilterBlock {
    /// Octets of a block.
    pub const BYTES: usize = 64;

    /// Adds a key by its hash.
    pub fn add(&mut self, hash: u64) {
        for (word, bit) in places(hash) {
            if let Some(word) = self.0.get_mut(word) {
                *word |= bit;
            }
        }
    }

    /// Whether the key with this hash may have been added.
    pub fn may_hold(&self, hash: u64) -> bool {
        places(hash).all(|(word, bit)| self.0.get(word).is_some_and(|word| word & bit != 0))
    }
}

/// Serializes the octets of the words, the lowest first, for binary formats.
impl Serialize for FilterBlock {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut block = [0; FilterBlock::BYTES];
        for (octets, word) in block.as_chunks_mut().0.iter_mut().zip(self.0) {
            *octets = word.to_le_bytes();
        }
        octets::serialize(&block, serializer)
    }
}

impl<'de> Deserialize<'de> for FilterBlock {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<FilterBlock, D::Error> {
        let block: [u8; FilterBlock::BYTES] = octets::deserialize(deserializer)?;
        let mut words = [0; 8];
        for (word, octets) in words.iter_mut().zip(block.as_chunks().0) {
            *word = u64::from_le_bytes(*octets);
        }
        Ok(FilterBlock(words))
    }
}

/// Returns the words and bits of a hash: nine bits of it select one bit of a block.
fn places(hash: u64) -> impl Iterator<Item = (usize, u64)> {
    (0..BITS_PER_KEY).map(move |no| {
        let place = hash >> (9 * no);
        // Three bits, which fit any usize.
        (usize::from((place & 7) as u8), 1 << ((place >> 3) & 63))
    })
}

/// Returns the block, of `blocks` blocks, that has the keys with this prefix. It grows with the prefix.
pub fn block_of(prefix: u64, blocks: u32) -> u32 {
    ((u128::from(prefix) * u128::from(blocks)) >> 64) as u32
}

/// Returns the lowest prefix whose keys are in a block; none if there are fewer blocks.
pub fn first_prefix(block: u32, blocks: u32) -> Option<u64> {
    u64::try_from((u128::from(block) << 64).div_ceil(u128::from(blocks.max(1)))).ok()
}

/// A filter that grows until it has its maximum number of blocks. It starts small and adds larger and larger filters.
pub struct GrowingFilter {
    filters: Vec<Vec<FilterBlock>>,
    /// Keys that fit into the last filter.
    room: usize,
    /// Blocks that may still be added.
    blocks_left: usize,
}

impl GrowingFilter {
    /// Creates an empty filter of at most `bytes_max` octets.
    pub fn new(bytes_max: usize) -> GrowingFilter {
        GrowingFilter { filters: Vec::new(), room: 0, blocks_left: bytes_max / FilterBlock::BYTES }
    }

    /// Adds a key by its hash. Returns false, and adds nothing, if the filter is full.
    pub fn add(&mut self, hash: u64) -> bool {
        if self.room == 0 && !self.grow() {
            return false;
        }
        self.room -= 1;
        if let Some(block) = self.filters.last_mut().and_then(|blocks| {
            let place = place_in(hash, blocks.len());
            blocks.get_mut(place)
        }) {
            block.add(spread(hash));
        }
        true
    }

    /// Whether the key with this hash may have been added.
    pub fn may_hold(&self, hash: u64) -> bool {
        let bits = spread(hash);
        self.filters
            .iter()
            .any(|blocks| blocks.get(place_in(hash, blocks.len())).is_none_or(|block| block.may_hold(bits)))
    }

    fn grow(&mut self) -> bool {
        let blocks =
            self.filters.last().map_or(FIRST_BLOCKS, |last| last.len() * GROWTH).min(self.blocks_left);
        self.blocks_left -= blocks;
        self.room = blocks * KEYS_PER_BLOCK;
        self.filters.push(vec![FilterBlock::default(); blocks]);
        blocks > 0
    }
}

fn place_in(hash: u64, blocks: usize) -> usize {
    let blocks = u32::try_from(blocks).unwrap_or(u32::MAX);
    usize::try_from(block_of(hash, blocks)).unwrap_or(0)
}

/// Returns bits that do not depend on the block of the hash.
fn spread(hash: u64) -> u64 {
    (hash ^ (hash >> 32)).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(32)
}

#[cfg(test)]
#[path = "block_filter_tests.rs"]
mod tests;
