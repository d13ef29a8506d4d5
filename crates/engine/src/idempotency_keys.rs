//! Idempotency keys, one table per UTC day. A new key is looked for in every day that is kept; for past days a filter in
//! memory answers "certainly not" at the cost of a few nanoseconds, so a year of keys costs a send nothing.

use crate::ops::{KeyClaim, Replay};
use crate::tables::{KeyFilterPart, TableError, Tables};
use hermod_domain::ids::MessageId;
use hermod_domain::time::Day;
use xorf::{BinaryFuse8, BinaryFuse8Ref, DmaSerializable, Filter, FilterRef};

/// Filters take about 1.2 bytes a key. Days whose filter does not fit are looked up in their table instead: slower,
/// never wrong.
pub const FILTER_BYTES_MAX: usize = 64 * 1024 * 1024;
/// Keys in one part of a filter. Building it takes some ten times as many bytes of memory for a moment.
pub const FILTER_KEYS_PER_PART: usize = 250_000;

/// A past day's filter: all of its parts, in order.
pub struct DayFilter(pub Vec<KeyFilterPart>);

impl DayFilter {
    /// Reads a day's filter if it has all parts, and none was damaged.
    fn load(tables: &Tables<'_>, day: Day) -> Result<Option<DayFilter>, TableError> {
        let parts = tables.read()?.key_filter_parts(day)?;
        let is_readable =
            |part: &KeyFilterPart| part.bytes.is_empty() || part.bytes.len() > BinaryFuse8::DESCRIPTOR_LEN;
        let is_whole = parts.last().is_some_and(KeyFilterPart::is_last) && parts.iter().all(is_readable);
        Ok(is_whole.then_some(DayFilter(parts)))
    }

    fn size(&self) -> usize {
        self.0.iter().map(|part| part.bytes.len()).sum()
    }

    fn may_hold(&self, digest: &[u8; 16]) -> bool {
        let key = filter_key(digest);
        let part = self.0.get(self.0.partition_point(|part| part.upto < key));
        part.is_none_or(|part| may_hold(&part.bytes, key))
    }
}

/// Says whether a part may hold a key. Its bytes are the descriptor, then the fingerprints.
fn may_hold(part: &[u8], key: u64) -> bool {
    let parts = part.split_at_checked(BinaryFuse8::DESCRIPTOR_LEN);
    parts.is_some_and(|(descriptor, fingerprints)| {
        BinaryFuse8Ref::from_dma(descriptor, fingerprints).contains(&key)
    })
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
    pub fn load(tables: &Tables<'_>) -> Result<KeyDays, TableError> {
        let mut keys = KeyDays { days: Vec::new() };
        for day in tables.read()?.key_days()? {
            keys.days.insert(0, KeyDay { day, filter: None });
        }
        keys.load_filters(tables)?;
        Ok(keys)
    }

    /// Takes in filters that were built since.
    pub fn load_filters(&mut self, tables: &Tables<'_>) -> Result<(), TableError> {
        let mut bytes_left = FILTER_BYTES_MAX;
        for day in &mut self.days {
            if day.filter.is_none() && tables.read()?.key_filter_size(day.day)? <= bytes_left {
                day.filter = DayFilter::load(tables, day.day)?;
            }
            // A newer day's filter goes before an older one's.
            day.filter.take_if(|filter| filter.size() > bytes_left);
            bytes_left -= day.filter.as_ref().map_or(0, DayFilter::size);
        }
        Ok(())
    }

    /// Was this key used on any day that is kept?
    pub fn find(&self, tables: &Tables<'_>, key: &KeyClaim) -> Result<Option<Replay>, TableError> {
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
        tables: &Tables<'_>,
        key: &KeyClaim,
        message: MessageId,
    ) -> Result<Claimed, TableError> {
        let day = message.accepted_at().day();
        let today = self.today(tables, day)?;
        if tables.read()?.add_key(day, key, message)? {
            return Ok(Claimed::New);
        }
        let used = self.days[today].find(tables, key)?;
        Ok(Claimed::Used(used.ok_or_else(|| TableError::unreadable("a key that is there and is not"))?))
    }

    /// Looks for the key on every day but the one a message accepted now would use.
    pub fn find_before(
        &self,
        tables: &Tables<'_>,
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
    pub fn drop_day(&mut self, tables: &Tables<'_>, day: Day) -> Result<(), TableError> {
        tables.read()?.delete_key_filter(day)?;
        tables.read()?.drop_key_day(day)?;
        self.days.retain(|known| known.day != day);
        Ok(())
    }

    /// Returns the index of a day. Creates its table if there is none.
    fn today(&mut self, tables: &Tables<'_>, day: Day) -> Result<usize, TableError> {
        if let Some(index) = self.days.iter().position(|known| known.day == day) {
            return Ok(index);
        }
        tables.read()?.create_key_day(day)?;
        let place = self.days.iter().position(|known| known.day < day).unwrap_or(self.days.len());
        self.days.insert(place, KeyDay { day, filter: None });
        Ok(place)
    }
}

impl KeyDay {
    fn find(&self, tables: &Tables<'_>, key: &KeyClaim) -> Result<Option<Replay>, TableError> {
        let used = tables.read()?.used_key(self.day, &key.digest)?;
        Ok(used
            .map(|used| Replay { message: used.message, same_request: used.fingerprint == key.fingerprint }))
    }
}

fn filter_key(digest: &[u8; 16]) -> u64 {
    let [a, b, c, d, e, f, g, h, ..] = *digest;
    u64::from_be_bytes([a, b, c, d, e, f, g, h])
}

/// Past days that have keys and no whole filter yet.
pub fn days_to_seal(tables: &Tables<'_>, today: Day) -> Result<Vec<Day>, TableError> {
    let mut days = tables.read()?.key_days()?;
    // A key goes to the day of its message's id, and ids only ever grow: a day before the newest one with keys gets no
    // more of them, wherever the clock is set. Until then it must not be sealed.
    let newest = days.last().copied();
    days.retain(|day| *day < today && Some(*day) != newest);
    let mut missing = Vec::new();
    for day in days {
        if tables.read()?.last_key_filter_part(day)?.is_none_or(|(_, upto)| upto != u64::MAX) {
            missing.push(day);
        }
    }
    Ok(missing)
}

/// Builds the part behind those that a day's filter has, from at most so many keys; none if the filter is whole. What is
/// stored says where to go on, so a filter that was begun before a crash is finished after it.
pub fn build_next_part(
    tables: &Tables<'_>,
    day: Day,
    keys_max: usize,
) -> Result<Option<KeyFilterPart>, TableError> {
    let (no, after) = match tables.read()?.last_key_filter_part(day)? {
        None => (0, None),
        Some((_, u64::MAX)) => return Ok(None),
        Some((no, upto)) => (no + 1, Some(highest_digest(upto))),
    };
    // In order, because digests are.
    let mut keys: Vec<u64> =
        tables.read()?.key_digests_after(day, after.as_ref(), keys_max)?.iter().map(filter_key).collect();
    let upto = keys.last().copied().filter(|_| keys.len() == keys_max).unwrap_or(u64::MAX);
    keys.dedup();
    Ok(Some(KeyFilterPart { no, upto, bytes: build_filter(&keys)? }))
}

/// Returns the highest digest that has this filter key.
fn highest_digest(key: u64) -> [u8; 16] {
    ((u128::from(key) << 64) | u128::from(u64::MAX)).to_be_bytes()
}

fn build_filter(keys: &[u64]) -> Result<Vec<u8>, TableError> {
    if keys.is_empty() {
        return Ok(Vec::new());
    }
    let filter = BinaryFuse8::try_from(keys).map_err(TableError::unreadable)?;
    let mut bytes = vec![0; BinaryFuse8::DESCRIPTOR_LEN];
    filter.dma_copy_descriptor_to(&mut bytes);
    bytes.extend_from_slice(filter.dma_fingerprints());
    Ok(bytes)
}
