//! SQL for parts of concatenated MO messages, and for digests of MO messages that were received before.

use crate::sql::SqlTables;
use crate::sql::mo_blobs;
use crate::sql::{Connection, OptionalExtension, Row, params};
use hermod_domain::ids::CarrierId;
use hermod_domain::inbound::{Alphabet, MoSegment};
use hermod_domain::origin::SmppAddress;
use hermod_domain::time::Timestamp;
use hermod_engine::tables::{
    MoPartChange, MoPartRows, SeenKey, TableError, Unfinished, UnfinishedFound, UnfinishedId, UnfinishedKey,
    UnfinishedSize,
};

fn put_seen(connection: &Connection, key: &SeenKey, until: Timestamp) -> Result<(), TableError> {
    connection
        .prepare_cached(
            "INSERT INTO inbound_seen (carrier, digest, until) VALUES (?1, ?2, ?3)
             ON CONFLICT (carrier, digest) DO UPDATE SET until = excluded.until",
        )?
        .execute(params![key.carrier.get(), key.digest, until.as_millis()])?;
    Ok(())
}

fn delete_seen(connection: &Connection, key: &SeenKey) -> Result<(), TableError> {
    connection
        .prepare_cached("DELETE FROM inbound_seen WHERE carrier = ?1 AND digest = ?2")?
        .execute(params![key.carrier.get(), key.digest])?;
    Ok(())
}

fn add_unfinished(
    connection: &Connection,
    id: UnfinishedId,
    unfinished: &Unfinished,
    key: &UnfinishedKey,
) -> Result<(), TableError> {
    let Unfinished { source, destination, since, .. } = unfinished;
    connection
        .prepare_cached(
            "INSERT INTO inbound_group (id, carrier, source, dest, reference, total, ends, parts, octets, since)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, 0, 0, ?8)",
        )?
        .execute(params![
            stored_id(id),
            key.carrier.get(),
            key.source,
            key.destination,
            key.reference,
            key.total,
            &mo_blobs::ends_to_blob(source, destination)[..],
            since.as_millis()
        ])?;
    Ok(())
}

fn put_unfinished_since(
    connection: &Connection,
    id: UnfinishedId,
    since: Timestamp,
) -> Result<(), TableError> {
    connection
        .prepare_cached("UPDATE inbound_group SET since = ?2 WHERE id = ?1")?
        .execute(params![stored_id(id), since.as_millis()])?;
    Ok(())
}

fn put_unfinished_size(
    connection: &Connection,
    id: UnfinishedId,
    size: UnfinishedSize,
) -> Result<(), TableError> {
    let octets = i64::try_from(size.octets).unwrap_or(i64::MAX);
    connection
        .prepare_cached("UPDATE inbound_group SET parts = ?2, octets = ?3 WHERE id = ?1")?
        .execute(params![stored_id(id), size.parts, octets])?;
    Ok(())
}

fn delete_unfinished(connection: &Connection, id: UnfinishedId) -> Result<(), TableError> {
    connection.prepare_cached("DELETE FROM inbound_group WHERE id = ?1")?.execute([stored_id(id)])?;
    Ok(())
}

fn add_mo_part(
    connection: &Connection,
    id: UnfinishedId,
    no: u8,
    segment: &MoSegment,
) -> Result<(), TableError> {
    let MoSegment { data_coding, alphabet, header, octets } = segment;
    connection
        .prepare_cached(
            "INSERT INTO inbound_part (grp, no, coding, alphabet, header, octets) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        )?
        .execute(params![stored_id(id), no, data_coding, alphabet.as_u8(), &header[..], &octets[..]])?;
    Ok(())
}

fn delete_mo_parts(connection: &Connection, id: UnfinishedId) -> Result<(), TableError> {
    connection.prepare_cached("DELETE FROM inbound_part WHERE grp = ?1")?.execute([stored_id(id)])?;
    Ok(())
}

impl MoPartRows for SqlTables<'_> {
    fn change_mo_parts(&self, change: &MoPartChange) -> Result<(), TableError> {
        match change {
            MoPartChange::Seen { key, until } => put_seen(self.connection, key, *until),
            MoPartChange::DeleteSeen(key) => delete_seen(self.connection, key),
            MoPartChange::AddUnfinished { id, unfinished, key } => {
                add_unfinished(self.connection, *id, unfinished, key)
            }
            MoPartChange::UnfinishedSince { id, since } => put_unfinished_since(self.connection, *id, *since),
            MoPartChange::UnfinishedSize { id, size } => put_unfinished_size(self.connection, *id, *size),
            MoPartChange::DeleteUnfinished(id) => delete_unfinished(self.connection, *id),
            MoPartChange::AddPart { id, no, segment } => add_mo_part(self.connection, *id, *no, segment),
            MoPartChange::DeleteParts(id) => delete_mo_parts(self.connection, *id),
        }
    }

    fn seen_until(&self, key: &SeenKey) -> Result<Option<Timestamp>, TableError> {
        let until = self
            .connection
            .prepare_cached("SELECT until FROM inbound_seen WHERE carrier = ?1 AND digest = ?2")?
            .query_row(params![key.carrier.get(), key.digest], |row| row.get(0))
            .optional()?;
        Ok(until.map(Timestamp::from_millis))
    }

    fn seen_no_longer_than(&self, until: Timestamp, limit: usize) -> Result<Vec<SeenKey>, TableError> {
        let mut statement = self.connection.prepare_cached(
            "SELECT carrier, digest FROM inbound_seen WHERE until <= ?1 ORDER BY until LIMIT ?2",
        )?;
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let rows = statement.query_map(params![until.as_millis(), limit], read_seen)?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    fn seen_longer_than(&self, until: Timestamp) -> Result<Vec<SeenKey>, TableError> {
        let mut statement =
            self.connection.prepare("SELECT carrier, digest FROM inbound_seen WHERE until > ?1")?;
        let rows = statement.query_map([until.as_millis()], read_seen)?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    fn unfinished_parts(&self) -> Result<Vec<(CarrierId, u64)>, TableError> {
        let mut statement = self
            .connection
            .prepare_cached("SELECT carrier, sum(parts) FROM inbound_group GROUP BY carrier")?;
        let rows = statement
            .query_map([], |row| Ok((CarrierId::new(row.get(0)?), row.get::<i64>(1)?.cast_unsigned())))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    fn oldest_unfinished_since(&self) -> Result<Option<Timestamp>, TableError> {
        let since: Option<i64> = self
            .connection
            .prepare_cached("SELECT min(since) FROM inbound_group")?
            .query_row([], |row| row.get(0))?;
        Ok(since.map(Timestamp::from_millis))
    }

    fn find_unfinished(&self, key: &UnfinishedKey, no: u8) -> Result<Option<UnfinishedFound>, TableError> {
        let UnfinishedKey { carrier, source, destination, reference, total } = key;
        let found = self
            .connection
            .prepare_cached(
                "SELECT id, parts, octets, EXISTS (SELECT 1 FROM inbound_part WHERE grp = g.id AND no = ?6)
                 FROM inbound_group g
                 WHERE carrier = ?1 AND source = ?2 AND dest = ?3 AND reference = ?4 AND total = ?5",
            )?
            .query_row(params![carrier.get(), source, destination, reference, total, no], read_found)
            .optional()?;
        Ok(found)
    }

    fn last_unfinished(&self) -> Result<Option<UnfinishedId>, TableError> {
        let last: Option<i64> = self
            .connection
            .prepare_cached("SELECT max(id) FROM inbound_group")?
            .query_row([], |row| row.get(0))?;
        Ok(last.map(read_id))
    }

    fn oldest_unfinished(&self, carrier: CarrierId) -> Result<Option<UnfinishedId>, TableError> {
        let found = self
            .connection
            .prepare_cached("SELECT id FROM inbound_group WHERE carrier = ?1 ORDER BY since, id LIMIT 1")?
            .query_row([carrier.get()], |row| row.get(0))
            .optional()?;
        Ok(found.map(read_id))
    }

    fn unfinished_since(&self, since: Timestamp, limit: u32) -> Result<Vec<UnfinishedId>, TableError> {
        let mut statement = self
            .connection
            .prepare_cached("SELECT id FROM inbound_group WHERE since <= ?1 ORDER BY since, id LIMIT ?2")?;
        let ids = statement.query_map(params![since.as_millis(), limit], |row| Ok(read_id(row.get(0)?)))?;
        Ok(ids.collect::<Result<_, _>>()?)
    }

    fn unfinished_after(&self, since: Timestamp) -> Result<Vec<UnfinishedId>, TableError> {
        let mut statement = self.connection.prepare("SELECT id FROM inbound_group WHERE since > ?1")?;
        let ids = statement.query_map([since.as_millis()], |row| Ok(read_id(row.get(0)?)))?;
        Ok(ids.collect::<Result<_, _>>()?)
    }

    fn unfinished(&self, id: UnfinishedId) -> Result<Unfinished, TableError> {
        let message = self
            .connection
            .prepare_cached(
                "SELECT carrier, total, since, ends, source, dest FROM inbound_group WHERE id = ?1",
            )?
            .query_row([stored_id(id)], |row| {
                let (source, destination) = read_ends(row)?;
                Ok(Unfinished {
                    carrier: CarrierId::new(row.get(0)?),
                    source,
                    destination,
                    total: row.get(1)?,
                    since: Timestamp::from_millis(row.get(2)?),
                })
            })?;
        Ok(message)
    }

    fn mo_parts(&self, id: UnfinishedId) -> Result<Vec<(u8, MoSegment)>, TableError> {
        let mut statement = self.connection.prepare_cached(
            "SELECT no, coding, alphabet, header, octets FROM inbound_part WHERE grp = ?1 ORDER BY no",
        )?;
        let mut rows = statement.query([stored_id(id)])?;
        let mut pieces = Vec::new();
        while let Some(row) = rows.next()? {
            let segment = MoSegment {
                data_coding: row.get(1)?,
                // A text in an unknown alphabet is delivered as hexadecimal digits.
                alphabet: Alphabet::from_u8(row.get(2)?).unwrap_or(Alphabet::Octets),
                header: row.get::<Vec<u8>>(3)?.into(),
                octets: row.get::<Vec<u8>>(4)?.into(),
            };
            pieces.push((row.get(0)?, segment));
        }
        Ok(pieces)
    }
}

fn read_seen(row: &Row<'_>) -> Result<SeenKey, crate::sql::Error> {
    Ok(SeenKey { carrier: CarrierId::new(row.get(0)?), digest: row.get(1)? })
}

fn read_found(row: &Row<'_>) -> Result<UnfinishedFound, crate::sql::Error> {
    let octets = row.get::<i64>(2)?.cast_unsigned();
    let size = UnfinishedSize { parts: row.get(1)?, octets: usize::try_from(octets).unwrap_or(usize::MAX) };
    Ok(UnfinishedFound { id: read_id(row.get(0)?), size, has_part: row.get(3)? })
}

/// Returns the addresses of a message. If they are damaged, returns the digits without TON and NPI, because an undeliverable
/// message would block all others.
fn read_ends(row: &Row<'_>) -> Result<(SmppAddress, SmppAddress), crate::sql::Error> {
    if let Some(ends) = mo_blobs::ends_of(row.get_ref(3)?.as_blob()?) {
        return Ok(ends);
    }
    let written = |digits: String| SmppAddress::new(0, 0, digits.as_bytes());
    Ok((written(row.get(4)?), written(row.get(5)?)))
}

fn read_id(stored: i64) -> UnfinishedId {
    UnfinishedId(stored.cast_unsigned())
}

fn stored_id(id: UnfinishedId) -> i64 {
    id.0.cast_signed()
}
