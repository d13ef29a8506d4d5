//! Migration 14. Idempotency keys are in a log and a few buckets, instead of one table per day: see the engine's
//! `idempotency_keys`. The keys of each day become a bucket.

use crate::sql::Connection;
use crate::sql::SqlTables;
use crate::sql::day_tables::bucket_days;
use hermod_domain::ids::MessageId;
use hermod_engine::state::idempotency_keys::{blocks_for, build_segments};
use hermod_engine::tables::{KeyBucketId, KeyBucketRow, KeyBucketState, KeyEntry, TableError};

const TABLES: &str = "
DROP TABLE key_filter;

-- The latest keys: one row per batch that accepted messages with keys, by the batch's last message.
CREATE TABLE key_log (
    last        INTEGER PRIMARY KEY,
    entries     BLOB    NOT NULL
) STRICT;

-- Immutable sets of keys. State: 1 is being built by a merge, 2 is in use, 3 is being deleted.
CREATE TABLE key_bucket (
    id          INTEGER PRIMARY KEY,
    state       INTEGER NOT NULL,
    blocks      INTEGER NOT NULL,
    keys        INTEGER NOT NULL,
    first       INTEGER NOT NULL,
    last        INTEGER NOT NULL
) STRICT;

-- `id`: the bucket's number times 2^32, plus the block's number. The first octets of a digest select the block.
CREATE TABLE key_block (
    id          INTEGER PRIMARY KEY,
    entries     BLOB    NOT NULL
) STRICT;

-- `id`: the bucket's number times 2^32, plus the segment's number. The filter has 64 octets per block.
CREATE TABLE key_filter (
    id          INTEGER PRIMARY KEY,
    filter      BLOB    NOT NULL
) STRICT;

-- 3: keys of messages below this id are expired.
INSERT INTO retention (what, upto) VALUES (3, 0);
";

pub(super) fn migrate(connection: &Connection) -> Result<(), TableError> {
    connection.execute_batch(TABLES)?;
    for (id, day) in (1..).zip(bucket_days(connection, "key")?) {
        convert(connection, KeyBucketId(id), day)?;
        connection.execute_batch(&format!("DROP TABLE key_{day}"))?;
    }
    Ok(())
}

fn convert(connection: &Connection, id: KeyBucketId, day: i64) -> Result<(), TableError> {
    let mut statement =
        connection.prepare(&format!("SELECT digest, message, fingerprint FROM key_{day} ORDER BY digest"))?;
    let mut rows = statement.query([])?;
    let mut entries = Vec::new();
    while let Some(row) = rows.next()? {
        let message = MessageId::from_i64(row.get(1)?);
        let message =
            message.ok_or_else(|| TableError::unreadable("the message id of an idempotency key"))?;
        let fingerprint = row.get::<i64>(2)?.cast_unsigned();
        entries.push(KeyEntry { digest: row.get(0)?, message, fingerprint });
    }
    let messages = || entries.iter().map(|entry: &KeyEntry| entry.message);
    let (Some(first), Some(last)) = (messages().min(), messages().max()) else { return Ok(()) };
    let keys = u64::try_from(entries.len())?;
    let blocks = blocks_for(keys);
    let tables = SqlTables { connection };
    for segment in build_segments(&entries, blocks) {
        tables.add_key_segment(id, &segment)?;
    }
    tables.put_key_bucket(&KeyBucketRow { id, state: KeyBucketState::Live, blocks, keys, first, last })?;
    Ok(())
}
