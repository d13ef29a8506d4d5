//! Idempotency keys, one table per UTC day. A new key is looked for in every day that is kept; for past days a filter in
//! memory answers "certainly not" at the cost of a few nanoseconds, so a year of keys costs a send nothing.

use crate::ops::{KeyClaim, Replay};
use crate::tables::{TableError, Tables};
use hermod_domain::ids::MessageId;
use hermod_domain::time::Day;
use xorf::{BinaryFuse8, BinaryFuse8Ref, DmaSerializable, Filter, FilterRef};

/// Filters take about 1.2 bytes a key. Days whose filter does not fit are looked up in their table instead: slower,
/// never wrong.
pub const FILTER_BYTES_MAX: usize = 64 * 1024 * 1024;
/// Keys read in one snapshot for a filter.
const FILTER_KEYS_PER_READ: usize = 100_000;

/// A past day's filter as it stands in the store: the descriptor, then the fingerprints.
pub struct DayFilter(pub Vec<u8>);

impl DayFilter {
    fn may_hold(&self, digest: &[u8; 16]) -> bool {
        let (descriptor, fingerprints) = self.0.split_at(BinaryFuse8::DESCRIPTOR_LEN);
        BinaryFuse8Ref::from_dma(descriptor, fingerprints).contains(&filter_key(digest))
    }
}

pub struct KeyDay {
    pub day: Day,
    pub filter: Option<DayFilter>,
}

/// The days that have keys, newest first.
pub struct KeyDays {
    pub days: Vec<KeyDay>,
}

/// What came of claiming a key for a message.
pub enum Claimed {
    New,
    Used(Replay),
}

impl KeyDays {
    pub fn load(tables: &dyn Tables) -> Result<KeyDays, TableError> {
        let mut keys = KeyDays { days: Vec::new() };
        for day in tables.key_days()? {
            keys.days.insert(0, KeyDay { day, filter: None });
        }
        keys.load_filters(tables)?;
        Ok(keys)
    }

    /// Takes in filters that were built since.
    pub fn load_filters(&mut self, tables: &dyn Tables) -> Result<(), TableError> {
        let mut bytes_left = FILTER_BYTES_MAX;
        for day in &mut self.days {
            if day.filter.is_none() && stored_size(tables, day.day)?.is_some_and(|size| size <= bytes_left) {
                day.filter = tables.key_filter(day.day)?.map(DayFilter);
            }
            // A newer day's filter goes before an older one's.
            day.filter.take_if(|filter| filter.0.len() > bytes_left);
            bytes_left -= day.filter.as_ref().map_or(0, |filter| filter.0.len());
        }
        Ok(())
    }

    /// Was this key used on any day that is kept?
    pub fn find(&self, tables: &dyn Tables, key: &KeyClaim) -> Result<Option<Replay>, TableError> {
        for day in &self.days {
            if day.filter.as_ref().is_some_and(|filter| !filter.may_hold(&key.digest)) {
                continue;
            }
            if let Some(found) = day.find(tables, key)? {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }

    /// Writes the key for a message unless it was used before. On the usual way this is a single insert.
    pub fn claim(
        &mut self,
        tables: &dyn Tables,
        key: &KeyClaim,
        message: MessageId,
    ) -> Result<Claimed, TableError> {
        let day = message.accepted_at().day();
        let today = self.today(tables, day)?;
        if tables.add_key(day, key, message)? {
            return Ok(Claimed::New);
        }
        let used = self.days[today].find(tables, key)?;
        Ok(Claimed::Used(used.ok_or_else(|| TableError::unreadable("a key that is there and is not"))?))
    }

    /// Looks for the key on every day but the one a message accepted now would use.
    pub fn find_before(
        &self,
        tables: &dyn Tables,
        key: &KeyClaim,
        today: Day,
    ) -> Result<Option<Replay>, TableError> {
        for day in self.days.iter().filter(|day| day.day != today) {
            let may_hold = day.filter.as_ref().is_none_or(|filter| filter.may_hold(&key.digest));
            if may_hold && let Some(found) = day.find(tables, key)? {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }

    /// A day that nobody needs any more.
    pub fn drop_day(&mut self, tables: &dyn Tables, day: Day) -> Result<(), TableError> {
        tables.delete_key_filter(day)?;
        tables.drop_key_day(day)?;
        self.days.retain(|known| known.day != day);
        Ok(())
    }

    /// Returns the index of a day. Creates its table if there is none.
    fn today(&mut self, tables: &dyn Tables, day: Day) -> Result<usize, TableError> {
        if let Some(index) = self.days.iter().position(|known| known.day == day) {
            return Ok(index);
        }
        tables.create_key_day(day)?;
        let place = self.days.iter().position(|known| known.day < day).unwrap_or(self.days.len());
        self.days.insert(place, KeyDay { day, filter: None });
        Ok(place)
    }
}

impl KeyDay {
    fn find(&self, tables: &dyn Tables, key: &KeyClaim) -> Result<Option<Replay>, TableError> {
        let used = tables.used_key(self.day, &key.digest)?;
        Ok(used
            .map(|used| Replay { message: used.message, same_request: used.fingerprint == key.fingerprint }))
    }
}

fn filter_key(digest: &[u8; 16]) -> u64 {
    let [a, b, c, d, e, f, g, h, ..] = *digest;
    u64::from_be_bytes([a, b, c, d, e, f, g, h])
}

/// Returns the size of a day's stored filter. One that is too short to be a filter counts as none.
fn stored_size(tables: &dyn Tables, day: Day) -> Result<Option<usize>, TableError> {
    Ok(tables.key_filter_size(day)?.filter(|size| *size > BinaryFuse8::DESCRIPTOR_LEN))
}

/// Past days that have keys and no filter yet.
pub fn days_to_seal(tables: &dyn Tables, today: Day) -> Result<Vec<Day>, TableError> {
    let mut days = tables.key_days()?;
    // A key goes to the day of its message's id, and ids only ever grow: a day before the newest one with keys gets no
    // more of them, wherever the clock is set. Until then it must not be sealed.
    let newest = days.last().copied();
    days.retain(|day| *day < today && Some(*day) != newest);
    let mut missing = Vec::new();
    for day in days {
        if stored_size(tables, day)?.is_none() {
            missing.push(day);
        }
    }
    Ok(missing)
}

/// Reads the filter keys of a day behind a digest, and the digest to read on from; nothing at the end.
pub fn filter_keys(
    tables: &dyn Tables,
    day: Day,
    after: Option<&[u8; 16]>,
) -> Result<(Vec<u64>, Option<[u8; 16]>), TableError> {
    let digests = tables.key_digests_after(day, after, FILTER_KEYS_PER_READ)?;
    let last = digests.last().copied().filter(|_| digests.len() == FILTER_KEYS_PER_READ);
    Ok((digests.iter().map(filter_key).collect(), last))
}

/// Builds the filter of a past day from its keys: the bytes to store.
pub fn build_filter(mut keys: Vec<u64>) -> Result<Vec<u8>, TableError> {
    keys.sort_unstable();
    keys.dedup();
    let filter = BinaryFuse8::try_from(&keys).map_err(TableError::unreadable)?;
    let mut bytes = vec![0; BinaryFuse8::DESCRIPTOR_LEN];
    filter.dma_copy_descriptor_to(&mut bytes);
    bytes.extend_from_slice(filter.dma_fingerprints());
    Ok(bytes)
}
