//! The tables of idempotency keys, one per UTC day, and the filter of each past day, which is stored in parts.

use crate::ops::KeyClaim;
use crate::tables::TableError;
use hermod_domain::ids::MessageId;
use hermod_domain::time::Day;

/// The message that used a key, and the fingerprint of its request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UsedKey {
    pub message: MessageId,
    pub fingerprint: u64,
}

/// A part of a day's filter. It is about the filter keys above those of the part before, up to its own highest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyFilterPart {
    /// Counted from 0.
    pub no: u32,
    /// The highest filter key that it is about; the highest there is in a day's last part.
    pub upto: u64,
    /// Empty where there are no keys.
    pub bytes: Vec<u8>,
}

impl KeyFilterPart {
    /// Says whether it is the last of its day.
    pub fn is_last(&self) -> bool {
        self.upto == u64::MAX
    }
}

/// Reads and writes idempotency keys.
pub trait IdempotencyKeyRows {
    /// Returns the days that have a table, the oldest first.
    fn key_days(&self) -> Result<Vec<Day>, TableError>;

    /// Creates the table of a day that has none.
    fn create_key_day(&self, day: Day) -> Result<(), TableError>;

    /// Drops the table of a day, with all keys in it.
    fn drop_key_day(&self, day: Day) -> Result<(), TableError>;

    /// Returns which message used this key on a day.
    fn used_key(&self, day: Day, digest: &[u8; 16]) -> Result<Option<UsedKey>, TableError>;

    /// Writes which message used a key on a day unless the key has a row there. Returns whether it wrote it.
    fn add_key(&self, day: Day, key: &KeyClaim, message: MessageId) -> Result<bool, TableError>;

    /// Returns up to `limit` digests of a day in their order, from the one behind `after` on.
    fn key_digests_after(
        &self,
        day: Day,
        after: Option<&[u8; 16]>,
        limit: usize,
    ) -> Result<Vec<[u8; 16]>, TableError>;

    /// Returns how many bytes the parts of a day's filter have together, without reading them.
    fn key_filter_size(&self, day: Day) -> Result<usize, TableError>;

    /// Returns the number of the last part of a day's filter and its highest filter key, without reading the part.
    fn last_key_filter_part(&self, day: Day) -> Result<Option<(u32, u64)>, TableError>;

    /// Returns the parts of a day's filter, in order.
    fn key_filter_parts(&self, day: Day) -> Result<Vec<KeyFilterPart>, TableError>;

    /// Writes a part of a day's filter, in place of any other of its number.
    fn put_key_filter_part(&self, day: Day, part: &KeyFilterPart) -> Result<(), TableError>;

    /// Deletes the filter of a day, with all parts.
    fn delete_key_filter(&self, day: Day) -> Result<(), TableError>;
}
