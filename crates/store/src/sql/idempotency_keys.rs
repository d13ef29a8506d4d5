//! SQL for idempotency keys: the log of recent keys, and the buckets with their blocks and filters.

use crate::sql::SqlTables;
use crate::sql::purging::purged_before;
use crate::sql::{Connection, OptionalExtension, Row, RowKey, params};
use hermod_domain::ids::MessageId;
use hermod_engine::block_filter::FilterBlock;
use hermod_engine::state::idempotency_keys::BLOCKS_PER_SEGMENT;
use hermod_engine::tables::{
    IdempotencyKeyRows, KeyBucketId, KeyBucketRow, KeyBucketState, KeyChange, KeyEntry, KeySegment,
    PurgeMark, TableError,
};

/// Octets of an entry: digest (16), message (8) and fingerprint (8).
const ENTRY_BYTES: usize = 32;

fn add_to_key_log(connection: &Connection, keys: &[KeyEntry]) -> Result<(), TableError> {
    let Some(last) = keys.last() else { return Ok(()) };
    connection.prepare_cached("INSERT INTO key_log (last, entries) VALUES (?1, ?2)")?.change(
        RowKey { table: "key_log", row: last.message.as_i64() },
        params![last.message.as_i64(), entries_to_blob(keys)],
    )?;
    Ok(())
}

fn clear_key_log(connection: &Connection) -> Result<(), TableError> {
    connection.execute("DELETE FROM key_log", [])?;
    Ok(())
}

fn delete_key_log_up_to(connection: &Connection, last: MessageId) -> Result<(), TableError> {
    connection.execute("DELETE FROM key_log WHERE last <= ?1", [last.as_i64()])?;
    Ok(())
}

fn put_key_bucket(connection: &Connection, bucket: &KeyBucketRow) -> Result<(), TableError> {
    let KeyBucketRow { id, state, blocks, keys, first, last } = bucket;
    let state = match state {
        KeyBucketState::Building => 1,
        KeyBucketState::Live => 2,
        KeyBucketState::Dropped => 3,
    };
    connection
        .prepare_cached(
            "INSERT INTO key_bucket (id, state, blocks, keys, first, last) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
             ON CONFLICT (id) DO UPDATE SET state = excluded.state, blocks = excluded.blocks,
                 keys = excluded.keys, first = excluded.first, last = excluded.last",
        )?
        .execute(params![id.0, state, blocks, keys.cast_signed(), first.as_i64(), last.as_i64()])?;
    Ok(())
}

fn delete_key_bucket(connection: &Connection, bucket: KeyBucketId) -> Result<(), TableError> {
    connection.execute("DELETE FROM key_bucket WHERE id = ?1", [bucket.0])?;
    Ok(())
}

fn add_key_segment(
    connection: &Connection,
    bucket: KeyBucketId,
    segment: &KeySegment,
) -> Result<(), TableError> {
    let mut insert = connection.prepare_cached("INSERT INTO key_block (id, entries) VALUES (?1, ?2)")?;
    for (no, entries) in (segment.no * BLOCKS_PER_SEGMENT..).zip(&segment.blocks) {
        insert.execute(params![row_id(bucket, no), entries_to_blob(entries)])?;
    }
    let words = segment.filter.iter().flat_map(|block| block.0);
    let filter: Vec<u8> = words.flat_map(u64::to_be_bytes).collect();
    connection
        .prepare_cached("INSERT INTO key_filter (id, filter) VALUES (?1, ?2)")?
        .execute(params![row_id(bucket, segment.no), filter])?;
    Ok(())
}

fn delete_key_segment(connection: &Connection, bucket: KeyBucketId, no: u32) -> Result<(), TableError> {
    let first = no.saturating_mul(BLOCKS_PER_SEGMENT);
    let last = first.saturating_add(BLOCKS_PER_SEGMENT - 1);
    connection
        .prepare_cached("DELETE FROM key_block WHERE id BETWEEN ?1 AND ?2")?
        .execute([row_id(bucket, first), row_id(bucket, last)])?;
    connection.prepare_cached("DELETE FROM key_filter WHERE id = ?1")?.execute([row_id(bucket, no)])?;
    Ok(())
}

impl IdempotencyKeyRows for SqlTables<'_> {
    fn change_keys(&self, change: &KeyChange) -> Result<(), TableError> {
        match change {
            KeyChange::AddToLog(keys) => add_to_key_log(self.connection, keys),
            KeyChange::ClearLog => clear_key_log(self.connection),
            KeyChange::DeleteLogUpTo(last) => delete_key_log_up_to(self.connection, *last),
            KeyChange::Bucket(bucket) => put_key_bucket(self.connection, bucket),
            KeyChange::DeleteBucket(bucket) => delete_key_bucket(self.connection, *bucket),
            KeyChange::AddSegment { bucket, segment } => add_key_segment(self.connection, *bucket, segment),
            KeyChange::DeleteSegment { bucket, no } => delete_key_segment(self.connection, *bucket, *no),
        }
    }

    fn key_log(&self) -> Result<Vec<KeyEntry>, TableError> {
        let mut entries = Vec::new();
        let mut statement = self.connection.prepare("SELECT entries FROM key_log ORDER BY last")?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            read_entries(row.get_ref(0)?.as_blob()?, &mut entries)?;
        }
        Ok(entries)
    }

    fn key_buckets(&self) -> Result<Vec<KeyBucketRow>, TableError> {
        let mut statement = self.connection.prepare_cached(
            "SELECT id, state, blocks, keys, first, last FROM key_bucket ORDER BY first, id",
        )?;
        let rows = statement.query_map([], |row| Ok(read_bucket(row)))?;
        rows.map(|row| row?).collect()
    }

    fn last_key_segment(&self, bucket: KeyBucketId) -> Result<Option<u32>, TableError> {
        let last: Option<i64> = self
            .connection
            .prepare_cached("SELECT id FROM key_filter WHERE id BETWEEN ?1 AND ?2 ORDER BY id DESC LIMIT 1")?
            .query_row([row_id(bucket, 0), row_id(bucket, u32::MAX)], |row| row.get(0))
            .optional()?;
        Ok(last.map(|id| u32::try_from(id - row_id(bucket, 0))).transpose()?)
    }

    fn key_filter(&self, bucket: KeyBucketId) -> Result<Vec<FilterBlock>, TableError> {
        let mut filter = Vec::new();
        let mut statement = self
            .connection
            .prepare_cached("SELECT filter FROM key_filter WHERE id BETWEEN ?1 AND ?2 ORDER BY id")?;
        let mut rows = statement.query([row_id(bucket, 0), row_id(bucket, u32::MAX)])?;
        while let Some(row) = rows.next()? {
            let (blocks, _) = row.get_ref(0)?.as_blob()?.as_chunks::<{ FilterBlock::BYTES }>();
            for block in blocks {
                let (words, _) = block.as_chunks::<8>();
                let mut words = words.iter().map(|word| u64::from_be_bytes(*word));
                filter.push(FilterBlock(std::array::from_fn(|_| words.next().unwrap_or(u64::MAX))));
            }
        }
        Ok(filter)
    }

    fn read_key_blocks(
        &self,
        bucket: KeyBucketId,
        first: u32,
        last: u32,
        found: &mut Vec<KeyEntry>,
    ) -> Result<u32, TableError> {
        let mut statement = self
            .connection
            .prepare_cached("SELECT entries FROM key_block WHERE id BETWEEN ?1 AND ?2 ORDER BY id")?;
        let mut rows = statement.query([row_id(bucket, first), row_id(bucket, last)])?;
        let mut count = 0;
        while let Some(row) = rows.next()? {
            read_entries(row.get_ref(0)?.as_blob()?, found)?;
            count += 1;
        }
        Ok(count)
    }
}

/// Calls `visit` with every key that is not expired, of the log and of live buckets.
pub(crate) fn visit_valid(
    connection: &Connection,
    mut visit: impl FnMut(&KeyEntry) -> Result<(), TableError>,
) -> Result<(), TableError> {
    let tables = SqlTables { connection };
    let valid_from = purged_before(connection, PurgeMark::Keys)?;
    let mut visit_all = |entries: &[KeyEntry]| {
        entries.iter().filter(|entry| entry.message.as_i64() >= valid_from).try_for_each(&mut visit)
    };
    visit_all(&tables.key_log()?)?;
    for bucket in tables.key_buckets()?.iter().filter(|row| row.state == KeyBucketState::Live) {
        for segment in 0..bucket.blocks.div_ceil(BLOCKS_PER_SEGMENT) {
            let first = segment * BLOCKS_PER_SEGMENT;
            let last = first.saturating_add(BLOCKS_PER_SEGMENT - 1);
            let mut entries = Vec::new();
            tables.read_key_blocks(bucket.id, first, last, &mut entries)?;
            visit_all(&entries)?;
        }
    }
    Ok(())
}

fn read_bucket(row: &Row<'_>) -> Result<KeyBucketRow, TableError> {
    let state = match row.get(1)? {
        1 => KeyBucketState::Building,
        2 => KeyBucketState::Live,
        3 => KeyBucketState::Dropped,
        other => return Err(TableError::unreadable(format!("{other} is not a state of a bucket of keys"))),
    };
    Ok(KeyBucketRow {
        id: KeyBucketId(row.get(0)?),
        state,
        blocks: row.get(2)?,
        keys: row.get::<i64>(3)?.cast_unsigned(),
        first: message_id(row.get(4)?)?,
        last: message_id(row.get(5)?)?,
    })
}

/// Returns the row id of a bucket's block or segment.
fn row_id(bucket: KeyBucketId, no: u32) -> i64 {
    (i64::from(bucket.0) << 32) | i64::from(no)
}

fn entries_to_blob(entries: &[KeyEntry]) -> Vec<u8> {
    let mut blob = Vec::with_capacity(entries.len() * ENTRY_BYTES);
    for KeyEntry { digest, message, fingerprint } in entries {
        blob.extend_from_slice(digest);
        blob.extend_from_slice(&message.as_i64().to_be_bytes());
        blob.extend_from_slice(&fingerprint.to_be_bytes());
    }
    blob
}

/// Adds the entries of a block, or of a row of the log, to `found`. Fails if the last entry is incomplete.
pub(crate) fn read_entries(blob: &[u8], found: &mut Vec<KeyEntry>) -> Result<(), TableError> {
    let (entries, rest) = blob.as_chunks::<ENTRY_BYTES>();
    if !rest.is_empty() {
        return Err(TableError::unreadable("a block of idempotency keys is cut short"));
    }
    for entry in entries {
        let (digest, rest) = entry.split_at(16);
        let (message, fingerprint) = rest.split_at(8);
        found.push(KeyEntry {
            digest: digest.try_into()?,
            message: message_id(i64::from_be_bytes(message.try_into()?))?,
            fingerprint: u64::from_be_bytes(fingerprint.try_into()?),
        });
    }
    Ok(())
}

fn message_id(stored: i64) -> Result<MessageId, TableError> {
    MessageId::from_i64(stored).ok_or_else(|| TableError::unreadable("the message id of an idempotency key"))
}

#[cfg(test)]
#[path = "idempotency_keys_tests.rs"]
mod tests;
