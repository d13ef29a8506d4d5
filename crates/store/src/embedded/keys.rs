//! Idempotency keys, one table per UTC day. A new key is looked for in every day that is kept; for past days a filter in
//! memory answers "certainly not" at the cost of a few nanoseconds, so a year of keys costs a send nothing.

use crate::embedded::schema;
use crate::fault::StoreFault;
use hermod_domain::ids::MessageId;
use hermod_domain::time::Day;
use hermod_engine::ops::{KeyClaim, Replay};
use rusqlite::{Connection, OptionalExtension, params};
use xorf::{BinaryFuse8, BinaryFuse8Ref, DmaSerializable, Filter, FilterRef};

/// Filters take about 1.2 bytes a key. Days whose filter does not fit are looked up in their table instead: slower,
/// never wrong.
const FILTER_BYTES_MAX: usize = 64 * 1024 * 1024;
/// Keys read in one snapshot for a filter.
const FILTER_KEYS_PER_READ: usize = 100_000;
const TABLE: &str = "key";

/// A past day's filter as it stands in the store: the descriptor, then the fingerprints.
struct DayFilter(Vec<u8>);

impl DayFilter {
    fn may_hold(&self, digest: &[u8; 16]) -> bool {
        let (descriptor, fingerprints) = self.0.split_at(BinaryFuse8::DESCRIPTOR_LEN);
        BinaryFuse8Ref::from_dma(descriptor, fingerprints).contains(&filter_key(digest))
    }
}

struct KeyDay {
    day: i64,
    find_sql: String,
    insert_sql: String,
    filter: Option<DayFilter>,
}

/// The days that have keys, newest first.
pub(crate) struct KeyDays {
    days: Vec<KeyDay>,
}

/// What came of claiming a key for a message.
pub(crate) enum Claimed {
    New,
    Used(Replay),
}

impl KeyDays {
    pub(crate) fn load(connection: &Connection) -> Result<KeyDays, StoreFault> {
        let mut keys = KeyDays { days: Vec::new() };
        for day in schema::bucket_days(connection, TABLE)? {
            keys.days.insert(0, KeyDay::new(day));
        }
        keys.load_filters(connection)?;
        Ok(keys)
    }

    /// Takes in filters that were built since.
    pub(crate) fn load_filters(&mut self, connection: &Connection) -> Result<(), StoreFault> {
        let mut bytes_left = FILTER_BYTES_MAX;
        for day in &mut self.days {
            if day.filter.is_none() {
                day.filter = stored_filter(connection, day.day)?;
            }
            // A newer day's filter goes before an older one's.
            day.filter.take_if(|filter| filter.0.len() > bytes_left);
            bytes_left -= day.filter.as_ref().map_or(0, |filter| filter.0.len());
        }
        Ok(())
    }

    /// Was this key used on any day that is kept?
    pub(crate) fn find(&self, connection: &Connection, key: &KeyClaim) -> Result<Option<Replay>, StoreFault> {
        for day in &self.days {
            if day.filter.as_ref().is_some_and(|filter| !filter.may_hold(&key.digest)) {
                continue;
            }
            if let Some(found) = day.find(connection, key)? {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }

    /// Writes the key for a message unless it was used before. On the usual way this is a single insert.
    pub(crate) fn claim(
        &mut self,
        connection: &Connection,
        key: &KeyClaim,
        message: MessageId,
    ) -> Result<Claimed, StoreFault> {
        let today = self.today(connection, message.accepted_at().day())?;
        let inserted = connection.prepare_cached(&self.days[today].insert_sql)?.execute(params![
            key.digest,
            message.as_i64(),
            key.fingerprint.cast_signed()
        ])?;
        if inserted == 0 {
            let used = self.days[today].find(connection, key)?;
            return Ok(Claimed::Used(
                used.ok_or_else(|| StoreFault::damaged("a key that is there and is not"))?,
            ));
        }
        Ok(Claimed::New)
    }

    /// Looks for the key on every day but the one a message accepted now would use.
    pub(crate) fn find_before(
        &self,
        connection: &Connection,
        key: &KeyClaim,
        today: Day,
    ) -> Result<Option<Replay>, StoreFault> {
        for day in self.days.iter().filter(|day| day.day != today.get()) {
            let may_hold = day.filter.as_ref().is_none_or(|filter| filter.may_hold(&key.digest));
            if may_hold && let Some(found) = day.find(connection, key)? {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }

    /// A day that nobody needs any more.
    pub(crate) fn drop_day(&mut self, connection: &Connection, day: i64) -> Result<(), StoreFault> {
        connection.execute("DELETE FROM key_filter WHERE day = ?1", [day])?;
        connection.execute_batch(&format!("DROP TABLE {TABLE}_{day}"))?;
        self.days.retain(|known| known.day != day);
        Ok(())
    }

    fn today(&mut self, connection: &Connection, day: Day) -> Result<usize, StoreFault> {
        if let Some(index) = self.days.iter().position(|known| known.day == day.get()) {
            return Ok(index);
        }
        connection.execute_batch(&format!(
            "CREATE TABLE {TABLE}_{} (digest BLOB PRIMARY KEY, message INTEGER NOT NULL, fingerprint INTEGER NOT NULL)
             WITHOUT ROWID, STRICT",
            day.get()
        ))?;
        let place = self.days.iter().position(|known| known.day < day.get()).unwrap_or(self.days.len());
        self.days.insert(place, KeyDay::new(day.get()));
        Ok(place)
    }
}

impl KeyDay {
    fn new(day: i64) -> KeyDay {
        KeyDay {
            day,
            find_sql: format!("SELECT message, fingerprint FROM {TABLE}_{day} WHERE digest = ?1"),
            insert_sql: format!(
                "INSERT INTO {TABLE}_{day} (digest, message, fingerprint) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING"
            ),
            filter: None,
        }
    }

    fn find(&self, connection: &Connection, key: &KeyClaim) -> Result<Option<Replay>, StoreFault> {
        let found: Option<(i64, i64)> = connection
            .prepare_cached(&self.find_sql)?
            .query_row([key.digest], |row| Ok((row.get(0)?, row.get(1)?)))
            .optional()?;
        let Some((message, fingerprint)) = found else { return Ok(None) };
        let message =
            MessageId::from_i64(message).ok_or_else(|| StoreFault::damaged("a key's message id"))?;
        Ok(Some(Replay { message, same_request: fingerprint.cast_unsigned() == key.fingerprint }))
    }
}

fn filter_key(digest: &[u8; 16]) -> u64 {
    let [a, b, c, d, e, f, g, h, ..] = *digest;
    u64::from_be_bytes([a, b, c, d, e, f, g, h])
}

fn stored_filter(connection: &Connection, day: i64) -> Result<Option<DayFilter>, StoreFault> {
    let bytes: Option<Vec<u8>> = connection
        .query_row("SELECT filter FROM key_filter WHERE day = ?1", [day], |row| row.get(0))
        .optional()?;
    Ok(bytes.filter(|bytes| bytes.len() > BinaryFuse8::DESCRIPTOR_LEN).map(DayFilter))
}

/// Past days that have keys and no filter yet.
pub(crate) fn days_to_seal(connection: &Connection, today: Day) -> Result<Vec<i64>, StoreFault> {
    let mut days = schema::bucket_days(connection, TABLE)?;
    // A key goes to the day of its message's id, and ids only ever grow: a day before the newest one with keys gets no
    // more of them, wherever the clock is set. Until then it must not be sealed.
    let newest = days.last().copied();
    days.retain(|day| *day < today.get() && Some(*day) != newest);
    let mut missing = Vec::new();
    for day in days {
        if stored_filter(connection, day)?.is_none() {
            missing.push(day);
        }
    }
    Ok(missing)
}

/// Reads the filter keys of a day behind a digest, and the digest to read on from; nothing at the end.
pub(crate) fn filter_keys(
    connection: &Connection,
    day: i64,
    after: Option<&[u8; 16]>,
) -> Result<(Vec<u64>, Option<[u8; 16]>), StoreFault> {
    let mut statement = connection.prepare(&format!(
        "SELECT digest FROM {TABLE}_{day} WHERE digest > ?1 ORDER BY digest LIMIT {FILTER_KEYS_PER_READ}"
    ))?;
    let after = after.map_or(&[][..], |digest| digest.as_slice());
    let digests = statement.query_map([after], |row| row.get::<_, [u8; 16]>(0))?;
    let digests = digests.collect::<Result<Vec<_>, _>>()?;
    let last = digests.last().copied().filter(|_| digests.len() == FILTER_KEYS_PER_READ);
    Ok((digests.iter().map(filter_key).collect(), last))
}

/// Builds the filter of a past day from its keys: the bytes to store.
pub(crate) fn build_filter(mut keys: Vec<u64>) -> Result<Vec<u8>, StoreFault> {
    keys.sort_unstable();
    keys.dedup();
    let filter = BinaryFuse8::try_from(&keys).map_err(StoreFault::damaged)?;
    let mut bytes = vec![0; BinaryFuse8::DESCRIPTOR_LEN];
    filter.dma_copy_descriptor_to(&mut bytes);
    bytes.extend_from_slice(filter.dma_fingerprints());
    Ok(bytes)
}

#[cfg(test)]
#[path = "keys_tests.rs"]
mod tests;
