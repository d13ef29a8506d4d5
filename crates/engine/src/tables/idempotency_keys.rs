//! The tables of idempotency keys, one per UTC day, and the filter of each past day.

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

    /// Returns how many bytes the filter of a day has, without reading it.
    fn key_filter_size(&self, day: Day) -> Result<Option<usize>, TableError>;

    /// Returns the filter of a day, as bytes.
    fn key_filter(&self, day: Day) -> Result<Option<Vec<u8>>, TableError>;

    /// Writes the filter of a day, in place of any other.
    fn put_key_filter(&self, day: Day, filter: &[u8]) -> Result<(), TableError>;

    /// Deletes the filter of a day.
    fn delete_key_filter(&self, day: Day) -> Result<(), TableError>;
}
