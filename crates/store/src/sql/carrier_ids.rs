//! SQL for carrier ids, in one table per UTC day.

use crate::sql::SqlTables;
use crate::sql::columns::message_and_part;
use crate::sql::day_tables::{DaySql, bucket_days};
use crate::sql::unreadable::is_unreadable;
use crate::sql::{Connection, Row, RowKey, params};
use hermod_domain::carrier::RemoteKey;
use hermod_domain::ids::{AccountId, CarrierId, RemoteId};
use hermod_domain::phone::Msisdn;
use hermod_domain::time::{Day, Timestamp};
use hermod_engine::ops::AssignedId;
use hermod_engine::tables::{
    CarrierIdChange, CarrierIdKey, CarrierIdRow, CarrierIdRows, CarrierIds, IdAssignment, PartKey, TableError,
};
use rusqlite::types::Value;
use std::hash::{DefaultHasher, Hash, Hasher};

/// The name of a day's table, followed by `_` and the number of the day.
const TABLE: &str = "remote";
/// The name of a day's table while its rows are being deleted, followed by `_` and the number of the day.
const RETIRED: &str = "retired_remote";
const VALUES: &str = "(carrier, key, raw, message, part, account, dest, at)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";
/// Behind the values of a row that may be there.
const IN_PLACE: &str = "ON CONFLICT (carrier, key, raw, message, part) DO UPDATE SET
                 account = excluded.account, dest = excluded.dest, at = excluded.at";
/// Rows of many keys that are read together. Most keys have one row; where a carrier reuses ids, each key is read alone.
const TOGETHER_MAX: usize = 4_096;
/// Rows read for a sample of ids.
const SAMPLE_ROWS: u32 = 1_000;

fn create_carrier_id_day(connection: &Connection, day: Day) -> Result<(), TableError> {
    Ok(connection.execute_batch(&create_table(&format!("{TABLE}_{}", day.get())))?)
}

fn retire_carrier_id_day(connection: &Connection, day: Day) -> Result<(), TableError> {
    let day = day.get();
    Ok(connection.execute_batch(&format!("ALTER TABLE {TABLE}_{day} RENAME TO {RETIRED}_{day}"))?)
}

fn delete_retired_carrier_ids(connection: &Connection, day: Day, limit: u32) -> Result<(), TableError> {
    let table = format!("{RETIRED}_{}", day.get());
    connection
        .prepare_cached(&format!(
            "DELETE FROM {table}
             WHERE (carrier, key, raw, message, part) IN
                 (SELECT carrier, key, raw, message, part FROM {table} LIMIT ?1)"
        ))?
        .execute([limit])?;
    Ok(())
}

fn drop_retired_carrier_id_day(connection: &Connection, day: Day) -> Result<(), TableError> {
    Ok(connection.execute_batch(&format!("DROP TABLE {RETIRED}_{}", day.get()))?)
}

fn add_carrier_id(
    connection: &Connection,
    carrier: CarrierId,
    remote: &RemoteId,
    tie: &IdAssignment,
) -> Result<(), TableError> {
    let (day, key) = (tie.day.get(), &RemoteKey::of(remote));
    let sql = format_args!("INSERT INTO {TABLE}_{day} {VALUES}");
    write_row(connection, &DaySql::new(sql)?, CarrierIdKey { carrier, key, remote }, tie)?;
    Ok(())
}

fn put_carrier_id(
    connection: &Connection,
    carrier: CarrierId,
    remote: &RemoteId,
    tie: &IdAssignment,
) -> Result<(), TableError> {
    let (day, key) = (tie.day.get(), &RemoteKey::of(remote));
    let sql = format_args!("INSERT INTO {TABLE}_{day} {VALUES} {IN_PLACE}");
    write_row(connection, &DaySql::new(sql)?, CarrierIdKey { carrier, key, remote }, tie)?;
    Ok(())
}

impl CarrierIdRows for SqlTables<'_> {
    fn count_retired_carrier_ids(&self, day: Day, limit: u32) -> Result<u32, TableError> {
        let table = format!("{RETIRED}_{}", day.get());
        let sql = format!("SELECT count(*) FROM (SELECT 1 FROM {table} LIMIT ?1) AS counted");
        Ok(self.connection.query_row(&sql, [limit], |row| row.get(0))?)
    }

    fn change_carrier_id(&self, change: &CarrierIdChange) -> Result<(), TableError> {
        match change {
            CarrierIdChange::CreateDay(day) => create_carrier_id_day(self.connection, *day),
            CarrierIdChange::RetireDay(day) => retire_carrier_id_day(self.connection, *day),
            CarrierIdChange::DeleteRetired { day, limit } => {
                delete_retired_carrier_ids(self.connection, *day, *limit)
            }
            CarrierIdChange::DropRetiredDay(day) => drop_retired_carrier_id_day(self.connection, *day),
            CarrierIdChange::Add { carrier, remote, assignment: tie } => {
                add_carrier_id(self.connection, *carrier, remote, tie)
            }
            CarrierIdChange::Put { carrier, remote, assignment: tie } => {
                put_carrier_id(self.connection, *carrier, remote, tie)
            }
        }
    }

    fn carrier_id_days(&self) -> Result<Vec<Day>, TableError> {
        carrier_id_days(self.connection)
    }

    fn retired_carrier_id_days(&self) -> Result<Vec<Day>, TableError> {
        Ok(bucket_days(self.connection, RETIRED)?.into_iter().map(Day::new).collect())
    }

    fn read_carrier_ids(
        &self,
        day: Day,
        carrier: CarrierId,
        key: &RemoteKey,
        limit: u32,
        found: &mut CarrierIds,
    ) -> Result<(), TableError> {
        let sql = DaySql::new(format_args!(
            "SELECT key, raw, account, message, part, dest, at FROM {TABLE}_{}
             WHERE carrier = ?1 AND key = ?2 LIMIT ?3",
            day.get()
        ))?;
        let mut statement = self.connection.prepare_cached(sql.as_str()?)?;
        let mut rows = statement.query(params![carrier.get(), key.octets(), limit])?;
        while let Some(row) = rows.next()? {
            found.push(read_row(&row, day)?);
        }
        Ok(())
    }

    fn carrier_ids_with_keys(
        &self,
        day: Day,
        keys: &[(CarrierId, RemoteKey)],
    ) -> Result<Option<Vec<(CarrierId, CarrierIdRow)>>, TableError> {
        let sql = DaySql::new(format_args!(
            "SELECT key, raw, account, message, part, dest, at, carrier FROM {TABLE}_{}
             WHERE carrier = ?1 AND key = ?2 LIMIT {TOGETHER_MAX}",
            day.get()
        ))?;
        let values = keys
            .iter()
            .map(|(carrier, key)| [Value::Integer(carrier.get().into()), Value::Blob(key.octets().to_vec())]);
        let mut found = Vec::new();
        let read = self.connection.prepare_cached(sql.as_str()?)?.query_many(values, |row| {
            found.push((CarrierId::new(row.get(7)?), read_row(row, day)?));
            Ok(())
        });
        match read {
            Ok(()) => Ok(Some(found).filter(|found| found.len() < TOGETHER_MAX)),
            Err(error) if is_unreadable(&error) => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn visit_carrier_ids(
        &self,
        day: Day,
        limit: u32,
        visit: &mut dyn FnMut(CarrierId, &RemoteId),
    ) -> Result<u32, TableError> {
        let sql = format!("SELECT carrier, key, raw FROM {TABLE}_{} LIMIT ?1", day.get());
        let mut statement = self.connection.prepare(&sql)?;
        let mut rows = statement.query([limit])?;
        let mut visited = 0;
        while let Some(row) = rows.next()? {
            // An unreadable id equals no id that a carrier sends.
            if let Ok(remote) = read_id(&row, 1, 2) {
                visit(CarrierId::new(row.get(0)?), &remote);
            }
            visited += 1;
        }
        Ok(visited)
    }
}

/// Returns the statement that creates the table of a day. An id that a carrier gave to several parts has a row for each.
fn create_table(name: &str) -> String {
    format!(
        "CREATE TABLE {name} (
             carrier INTEGER NOT NULL, key BLOB NOT NULL, raw BLOB NOT NULL, message INTEGER NOT NULL,
             part INTEGER NOT NULL, account INTEGER NOT NULL, dest INTEGER NOT NULL, at INTEGER NOT NULL,
             PRIMARY KEY (carrier, key, raw, message, part)
         ) WITHOUT ROWID, STRICT"
    )
}

/// Returns the days that have a table, oldest first.
pub(crate) fn carrier_id_days(connection: &Connection) -> Result<Vec<Day>, TableError> {
    Ok(bucket_days(connection, TABLE)?.into_iter().map(Day::new).collect())
}

/// Returns at most `limit` ids of the newest day on which this carrier sent any, the latest first.
pub(crate) fn sample(
    connection: &Connection,
    carrier: CarrierId,
    limit: usize,
) -> Result<Vec<AssignedId>, TableError> {
    for day in carrier_id_days(connection)?.into_iter().rev() {
        let mut statement = connection.prepare(&format!(
            "SELECT key, raw, at FROM {TABLE}_{} WHERE carrier = ?1 LIMIT {SAMPLE_ROWS}",
            day.get()
        ))?;
        let mut rows = statement.query([carrier.get()])?;
        let mut ids = Vec::new();
        while let Some(row) = rows.next()? {
            ids.push(AssignedId { remote: read_id(&row, 0, 1)?, at: Timestamp::from_millis(row.get(2)?) });
        }
        if !ids.is_empty() {
            ids.sort_by_key(|id| std::cmp::Reverse(id.at));
            ids.truncate(limit);
            return Ok(ids);
        }
    }
    Ok(Vec::new())
}

fn read_row(row: &Row<'_>, day: Day) -> Result<CarrierIdRow, TableError> {
    let (message, part) = message_and_part(row, 3, 4)?;
    let dest: i64 = row.get(5)?;
    let tie = IdAssignment {
        part: PartKey { account: AccountId::new(row.get(2)?), message, part },
        to: Msisdn::from_number(dest.cast_unsigned()),
        at: Timestamp::from_millis(row.get(6)?),
        day,
    };
    Ok(CarrierIdRow { remote: read_id(row, 0, 1)?, assignment: tie })
}

fn write_row(
    connection: &Connection,
    sql: &DaySql,
    id: CarrierIdKey<'_>,
    tie: &IdAssignment,
) -> Result<(), TableError> {
    let CarrierIdKey { carrier, key, remote } = id;
    let IdAssignment { part: PartKey { account, message, part }, to, at, day: _ } = tie;
    // Only PostgreSQL needs the number.
    let row = match connection {
        Connection::Sqlite(_) => 0,
        Connection::Postgres(_) => number_of(carrier, remote),
    };
    let row = RowKey { table: TABLE, row };
    connection.prepare_cached(sql.as_str()?)?.change(
        row,
        params![
            carrier.get(),
            key.octets(),
            stored_raw(key, remote),
            message.as_i64(),
            part.get(),
            account.get(),
            to.map_or(0, |to| to.number().cast_signed()),
            at.as_millis()
        ],
    )?;
    Ok(())
}

/// Returns the same number for the same id of a carrier. Different ids seldom have the same.
fn number_of(carrier: CarrierId, remote: &RemoteId) -> i64 {
    let mut hasher = DefaultHasher::new();
    (carrier.get(), remote.octets()).hash(&mut hasher);
    hasher.finish().cast_signed()
}

/// Returns the two columns of an id: the normalised key, and the id as the carrier wrote it.
pub(crate) fn split_id(remote: &RemoteId) -> (RemoteKey, &[u8]) {
    let key = RemoteKey::of(remote);
    let raw = stored_raw(&key, remote);
    (key, raw)
}

/// Returns the id as the carrier wrote it, or nothing if it equals the key: most ids are stored only once.
fn stored_raw<'a>(key: &RemoteKey, remote: &'a RemoteId) -> &'a [u8] {
    if key.octets() == remote.octets() { &[] } else { remote.octets() }
}

/// Returns the id in these two columns, as the carrier wrote it.
pub(super) fn read_id(row: &Row<'_>, key: usize, raw: usize) -> Result<RemoteId, TableError> {
    let written = row.get_ref(raw)?.as_blob()?;
    let octets = if written.is_empty() { row.get_ref(key)?.as_blob()? } else { written };
    RemoteId::from_octets(octets).map_err(TableError::unreadable)
}

#[cfg(test)]
#[path = "carrier_ids_tests.rs"]
mod tests;
