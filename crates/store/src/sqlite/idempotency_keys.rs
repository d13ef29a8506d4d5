//! SQL for idempotency keys and their filters.

use crate::embedded::schema;
use crate::sqlite::SqliteTables;
use crate::sqlite::day_sql::DaySql;
use hermod_domain::ids::MessageId;
use hermod_domain::time::Day;
use hermod_engine::ops::KeyClaim;
use hermod_engine::tables::{IdempotencyKeyRows, KeyFilterPart, TableError, UsedKey};
use rusqlite::{OptionalExtension, params};

/// Each day's table has this name and the number of the day.
const TABLE: &str = "key";

impl IdempotencyKeyRows for SqliteTables<'_> {
    fn key_days(&self) -> Result<Vec<Day>, TableError> {
        Ok(schema::bucket_days(self.connection, TABLE)?.into_iter().map(Day::new).collect())
    }

    fn create_key_day(&self, day: Day) -> Result<(), TableError> {
        Ok(self.connection.execute_batch(&format!(
            "CREATE TABLE {TABLE}_{} (digest BLOB PRIMARY KEY, message INTEGER NOT NULL, fingerprint INTEGER NOT NULL)
             WITHOUT ROWID, STRICT",
            day.get()
        ))?)
    }

    fn drop_key_day(&self, day: Day) -> Result<(), TableError> {
        Ok(self.connection.execute_batch(&format!("DROP TABLE {TABLE}_{}", day.get()))?)
    }

    fn used_key(&self, day: Day, digest: &[u8; 16]) -> Result<Option<UsedKey>, TableError> {
        let day = day.get();
        let sql =
            DaySql::new(format_args!("SELECT message, fingerprint FROM {TABLE}_{day} WHERE digest = ?1"))?;
        let found: Option<(i64, i64)> = self
            .connection
            .prepare_cached(sql.as_str()?)?
            .query_row([digest], |row| Ok((row.get(0)?, row.get(1)?)))
            .optional()?;
        let Some((message, fingerprint)) = found else { return Ok(None) };
        let message =
            MessageId::from_i64(message).ok_or_else(|| TableError::unreadable("a key's message id"))?;
        Ok(Some(UsedKey { message, fingerprint: fingerprint.cast_unsigned() }))
    }

    fn add_key(&self, day: Day, key: &KeyClaim, message: MessageId) -> Result<bool, TableError> {
        let sql = DaySql::new(format_args!(
            "INSERT INTO {TABLE}_{} (digest, message, fingerprint) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING",
            day.get()
        ))?;
        let added = self.connection.prepare_cached(sql.as_str()?)?.execute(params![
            key.digest,
            message.as_i64(),
            key.fingerprint.cast_signed()
        ])?;
        Ok(added == 1)
    }

    fn key_digests_after(
        &self,
        day: Day,
        after: Option<&[u8; 16]>,
        limit: usize,
    ) -> Result<Vec<[u8; 16]>, TableError> {
        let mut statement = self.connection.prepare(&format!(
            "SELECT digest FROM {TABLE}_{} WHERE digest > ?1 ORDER BY digest LIMIT ?2",
            day.get()
        ))?;
        let after = after.map_or(&[][..], |digest| digest.as_slice());
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let digests = statement.query_map(params![after, limit], |row| row.get::<_, [u8; 16]>(0))?;
        Ok(digests.collect::<Result<_, _>>()?)
    }

    fn key_filter_size(&self, day: Day) -> Result<usize, TableError> {
        let size: i64 = self.connection.query_row(
            "SELECT ifnull(sum(length(filter)), 0) FROM key_filter WHERE day = ?1",
            [day.get()],
            |row| row.get(0),
        )?;
        Ok(usize::try_from(size)?)
    }

    fn last_key_filter_part(&self, day: Day) -> Result<Option<(u32, u64)>, TableError> {
        Ok(self
            .connection
            .query_row(
                "SELECT part, upto FROM key_filter WHERE day = ?1 ORDER BY part DESC LIMIT 1",
                [day.get()],
                |row| Ok((row.get(0)?, row.get::<_, i64>(1)?.cast_unsigned())),
            )
            .optional()?)
    }

    fn key_filter_parts(&self, day: Day) -> Result<Vec<KeyFilterPart>, TableError> {
        let mut statement = self
            .connection
            .prepare("SELECT part, upto, filter FROM key_filter WHERE day = ?1 ORDER BY part")?;
        let parts = statement.query_map([day.get()], |row| {
            let upto = row.get::<_, i64>(1)?.cast_unsigned();
            Ok(KeyFilterPart { no: row.get(0)?, upto, bytes: row.get(2)? })
        })?;
        Ok(parts.collect::<Result<_, _>>()?)
    }

    fn put_key_filter_part(&self, day: Day, part: &KeyFilterPart) -> Result<(), TableError> {
        let KeyFilterPart { no, upto, bytes } = part;
        self.connection
            .prepare_cached(
                "INSERT OR REPLACE INTO key_filter (day, part, upto, filter) VALUES (?1, ?2, ?3, ?4)",
            )?
            .execute(params![day.get(), no, upto.cast_signed(), bytes])?;
        Ok(())
    }

    fn delete_key_filter(&self, day: Day) -> Result<(), TableError> {
        self.connection.execute("DELETE FROM key_filter WHERE day = ?1", [day.get()])?;
        Ok(())
    }
}
