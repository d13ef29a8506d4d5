//! The tables of idempotency keys: a log of the latest, and buckets of all others, in which a key is found by its digest.

use crate::block_filter::FilterBlock;
use crate::tables::TableError;
use hermod_domain::ids::MessageId;
use serde::{Deserialize, Serialize};

/// The digest of a key, the message that used it, and the fingerprint of its request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeyEntry {
    #[serde(with = "hermod_domain::octets")]
    pub digest: [u8; 16],
    pub message: MessageId,
    #[serde(with = "postcard::fixint::le")]
    pub fingerprint: u64,
}

/// The number of a bucket. It is never given to another bucket while rows of the first are left.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct KeyBucketId(pub u32);

/// What a bucket is used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum KeyBucketState {
    /// The keys of other buckets are being merged into it. They are looked for in those.
    Building,
    /// Keys are looked for in it.
    Live,
    /// It is deleted, segment by segment.
    Dropped,
}

/// A sealed set of keys. Its entries are in blocks by the beginning of their digest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeyBucketRow {
    pub id: KeyBucketId,
    pub state: KeyBucketState,
    pub blocks: u32,
    /// Entries written so far.
    pub keys: u64,
    /// Its keys are of messages from this one on.
    pub first: MessageId,
    /// Its keys are of messages up to this one. No other live bucket has any between the two.
    pub last: MessageId,
}

/// Consecutive blocks of a bucket, and the filter block of each.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeySegment {
    /// Counted from 0.
    pub no: u32,
    /// Each in the order of digests.
    pub blocks: Vec<Vec<KeyEntry>>,
    pub filter: Vec<FilterBlock>,
}

/// A change of the tables.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum KeyChange {
    /// Keys, of which there is at least one, of later messages than those in the log.
    AddToLog(Vec<KeyEntry>),
    ClearLog,
    /// The rows of the log that have no key of a message behind this one are deleted.
    DeleteLogUpTo(MessageId),
    /// The row of a bucket, in place of any other of its number.
    Bucket(KeyBucketRow),
    /// The row of a bucket without segments is deleted.
    DeleteBucket(KeyBucketId),
    /// A segment that the bucket does not have.
    AddSegment {
        bucket: KeyBucketId,
        segment: KeySegment,
    },
    /// A segment is deleted, with its blocks.
    DeleteSegment {
        bucket: KeyBucketId,
        no: u32,
    },
}

/// Reads and writes idempotency keys.
pub trait IdempotencyKeyRows {
    /// Applies a change.
    fn change_keys(&self, change: &KeyChange) -> Result<(), TableError>;

    /// Returns the keys in the log, the oldest first.
    fn key_log(&self) -> Result<Vec<KeyEntry>, TableError>;

    /// Returns all buckets, in the order of their first messages.
    fn key_buckets(&self) -> Result<Vec<KeyBucketRow>, TableError>;

    /// Returns the number of a bucket's last segment.
    fn last_key_segment(&self, bucket: KeyBucketId) -> Result<Option<u32>, TableError>;

    /// Returns the filter of a bucket: one block for each of its blocks.
    fn key_filter(&self, bucket: KeyBucketId) -> Result<Vec<FilterBlock>, TableError>;

    /// Adds the entries of consecutive blocks, both ends included, to `found`. Returns how many of the blocks have a row.
    fn read_key_blocks(
        &self,
        bucket: KeyBucketId,
        first: u32,
        last: u32,
        found: &mut Vec<KeyEntry>,
    ) -> Result<u32, TableError>;
}
