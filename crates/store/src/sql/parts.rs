//! SQL for the parts of messages that are not final.

use crate::sql::SqlTables;
use crate::sql::columns::{message_and_part, stored_number, stored_state, time_to_stored};
use crate::sql::jobs::{self, WAITING_FOR_A_SLOT};
use crate::sql::late_parts::{late_parts_expiring_after, set_parts_late};
use crate::sql::open_messages;
use crate::sql::part_rows::{COLUMNS, KEY, TABLES, read, read_all, read_key};
use crate::sql::unreadable::{NO_MESSAGE, sort_in};
use crate::sql::{Connection, Row, RowKey, Rows, ToSql, params};
use hermod_domain::ids::{AccountId, CarrierId, MessageId, PartNo};
use hermod_domain::lifecycle::{Part, PartState, Parts};
use hermod_domain::time::Timestamp;
use hermod_engine::ops::{DeferredParts, Job};
use hermod_engine::tables::{
    DueKey, DueRead, LaneCounts, LaneRead, MessageKey, OpenMessage, PartChange, PartRow, PartRows, Readings,
    SendingPart, TableError, UnreadablePart, WaitingJob,
};

// Deferred parts. The index `part_due` has the same condition, or SQLite would not use it.
const DUE_PLACES: &str = "SELECT due_at, message, no FROM part
     WHERE carrier = ?1 AND account = ?2 AND (due_at, message, no) > (?3, ?4, ?5)
         AND due_at > 0 AND state IN (0, 2) AND message > 0 AND no BETWEEN 1 AND 255
     ORDER BY due_at, message, no LIMIT ?6";
const DEFERRED: &str = "SELECT count(*), min(message) FROM part INDEXED BY part_due
     WHERE carrier = ?1 AND due_at > 0 AND state IN (0, 2) AND message > 0";
/// The condition for rows that [`read`] can read.
const READABLE: &str = "carrier BETWEEN 0 AND 4294967295 AND account BETWEEN 0 AND 4294967295 AND message > 0
    AND no BETWEEN 1 AND 255 AND state BETWEEN 0 AND 10 AND doubts BETWEEN 0 AND 255 AND resend BETWEEN 0 AND 255
    AND attempts BETWEEN 0 AND 4294967295";

/// The rows of a message's parts.
fn parts_row(table: &'static str, key: MessageKey) -> RowKey {
    RowKey { table, row: key.message.as_i64() }
}

fn add_part(connection: &Connection, row: &PartRow) -> Result<(), TableError> {
    let PartRow { key: MessageKey { carrier, account, message }, part, now, .. } = row;
    connection
        .prepare_cached(
            "INSERT INTO part (carrier, account, message, no, state, doubts, resend, attempts, due_at, expires_at)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
        )?
        .change(parts_row("part", row.key), params![
            carrier.get(),
            account.get(),
            message.as_i64(),
            part.get(),
            now.state.to_stored(),
            now.doubts,
            row.doubt.resends_max(),
            row.attempts,
            time_to_stored(row.due_at),
            row.expires_at.as_millis()
        ])?;
    Ok(())
}

fn put_part_state(
    connection: &Connection,
    key: MessageKey,
    part: PartNo,
    now: Part,
    due_at: Option<Timestamp>,
    attempts: Option<u32>,
) -> Result<(), TableError> {
    let MessageKey { carrier, account, message } = key;
    let values = params![
        carrier.get(),
        account.get(),
        message.as_i64(),
        part.get(),
        now.state.to_stored(),
        now.doubts,
        attempts,
        time_to_stored(due_at)
    ];
    let queries = [
        "UPDATE part SET state = ?5, doubts = ?6, attempts = coalesce(?7, attempts), due_at = ?8
         WHERE carrier = ?1 AND account = ?2 AND message = ?3 AND no = ?4",
        "UPDATE late_part SET state = ?5, doubts = ?6, attempts = coalesce(?7, attempts), due_at = ?8
         WHERE carrier = ?1 AND account = ?2 AND message = ?3 AND no = ?4",
    ];
    // The parts of a late message are with a carrier.
    let tables = if now.state.follows_handover() { 2 } else { 1 };
    change_in_one_table(connection, &queries[..tables], key, values)
}

fn put_part_due(
    connection: &Connection,
    key: MessageKey,
    part: PartNo,
    due_at: Option<Timestamp>,
) -> Result<(), TableError> {
    let MessageKey { carrier, account, message } = key;
    let due_at = time_to_stored(due_at);
    connection
        .prepare_cached(
            "UPDATE part SET due_at = ?5 WHERE carrier = ?1 AND account = ?2 AND message = ?3 AND no = ?4",
        )?
        .change(
            parts_row("part", key),
            params![carrier.get(), account.get(), message.as_i64(), part.get(), due_at],
        )?;
    Ok(())
}

fn put_part_expiry(
    connection: &Connection,
    key: MessageKey,
    part: PartNo,
    expires_at: Timestamp,
) -> Result<(), TableError> {
    let MessageKey { carrier, account, message } = key;
    for table in TABLES {
        connection
            .prepare_cached(&format!(
                "UPDATE {table} SET expires_at = ?5
                 WHERE carrier = ?1 AND account = ?2 AND message = ?3 AND no = ?4"
            ))?
            .execute(params![
                carrier.get(),
                account.get(),
                message.as_i64(),
                part.get(),
                expires_at.as_millis()
            ])?;
    }
    Ok(())
}

fn move_parts(
    connection: &Connection,
    key: MessageKey,
    to: CarrierId,
    due_at: Option<Timestamp>,
) -> Result<(), TableError> {
    let MessageKey { carrier, account, message } = key;
    let due_at = time_to_stored(due_at);
    connection
        .prepare_cached(
            "UPDATE part SET carrier = ?4, due_at = ?5 WHERE carrier = ?1 AND account = ?2 AND message = ?3",
        )?
        .execute(params![carrier.get(), account.get(), message.as_i64(), to.get(), due_at])?;
    Ok(())
}

fn delete_parts(connection: &Connection, key: MessageKey) -> Result<(), TableError> {
    let MessageKey { carrier, account, message } = key;
    let queries = [
        "DELETE FROM part WHERE carrier = ?1 AND account = ?2 AND message = ?3",
        "DELETE FROM late_part WHERE carrier = ?1 AND account = ?2 AND message = ?3",
    ];
    change_in_one_table(connection, &queries, key, params![carrier.get(), account.get(), message.as_i64()])
}

/// Runs the query of the table that has the parts of this message. Both run on PostgreSQL, which does not answer before
/// the end of the batch.
fn change_in_one_table(
    connection: &Connection,
    queries: &[&str],
    key: MessageKey,
    values: &[&dyn ToSql],
) -> Result<(), TableError> {
    for (query, table) in queries.iter().zip(TABLES) {
        let mut statement = connection.prepare_cached(query)?;
        match connection {
            Connection::Sqlite(_) if statement.execute(values)? > 0 => break,
            Connection::Sqlite(_) => {}
            Connection::Postgres(_) => statement.change(parts_row(table, key), values)?,
        }
    }
    Ok(())
}

impl PartRows for SqlTables<'_> {
    fn change_part(&self, change: &PartChange) -> Result<(), TableError> {
        match *change {
            PartChange::Add(row) => add_part(self.connection, &row),
            PartChange::State { key, part, now, due_at, attempts } => {
                put_part_state(self.connection, key, part, now, due_at, attempts)
            }
            PartChange::DueTime { key, part, due_at } => put_part_due(self.connection, key, part, due_at),
            PartChange::Expiry { key, part, expires_at } => {
                put_part_expiry(self.connection, key, part, expires_at)
            }
            PartChange::Move { key, to, due_at } => move_parts(self.connection, key, to, due_at),
            PartChange::Delete(key) => delete_parts(self.connection, key),
            PartChange::SetLate(key) => set_parts_late(self.connection, key),
        }
    }

    fn part(&self, key: MessageKey, part: PartNo) -> Result<Option<PartRow>, TableError> {
        let MessageKey { carrier, account, message } = key;
        for table in TABLES {
            let mut statement = self.connection.prepare_cached(&format!(
                "SELECT {COLUMNS} FROM {table} WHERE carrier = ?1 AND account = ?2 AND message = ?3 AND no = ?4"
            ))?;
            let columns = params![carrier.get(), account.get(), message.as_i64(), part.get()];
            if let Some(row) = statement.query(columns)?.next()? {
                return read(&row).map(Some);
            }
        }
        Ok(None)
    }

    fn parts(&self, key: MessageKey) -> Result<Vec<PartRow>, TableError> {
        let MessageKey { carrier, account, message } = key;
        for table in TABLES {
            let mut statement = self.connection.prepare_cached(&format!(
                "SELECT {COLUMNS} FROM {table} WHERE carrier = ?1 AND account = ?2 AND message = ?3 ORDER BY no"
            ))?;
            let rows = read_all(statement.query(params![carrier.get(), account.get(), message.as_i64()])?)?;
            if !rows.is_empty() {
                return Ok(rows);
            }
        }
        Ok(Vec::new())
    }

    fn part_states(&self, key: MessageKey) -> Result<Parts, TableError> {
        let MessageKey { carrier, account, message } = key;
        let mut parts = Parts::new();
        for query in [
            "SELECT state, doubts FROM part WHERE carrier = ?1 AND account = ?2 AND message = ?3 ORDER BY no",
            "SELECT state, doubts FROM late_part WHERE carrier = ?1 AND account = ?2 AND message = ?3 ORDER BY no",
        ] {
            let mut statement = self.connection.prepare_cached(query)?;
            let mut rows = statement.query(params![carrier.get(), account.get(), message.as_i64()])?;
            while let Some(row) = rows.next()? {
                parts.push(Part { state: stored_state(row.get(0)?)?, doubts: row.get(1)? });
            }
            if !parts.is_empty() {
                break;
            }
        }
        Ok(parts)
    }

    fn open_messages(&self, keys: &[MessageKey]) -> Result<Readings<OpenMessage>, TableError> {
        open_messages::read(self.connection, keys)
    }

    fn waiting_jobs_at(&self, parts: &[(MessageKey, PartNo)]) -> Result<Readings<Job>, TableError> {
        jobs::read_waiting_at(self.connection, parts)
    }

    fn waiting_job(&self, key: MessageKey, part: PartNo) -> Result<Option<Job>, TableError> {
        jobs::load(self.connection, key, part)
    }

    fn waiting_jobs(&self, refill: LaneRead) -> Result<Readings<WaitingJob>, TableError> {
        jobs::read_waiting(self.connection, refill)
    }

    fn lane_counts(&self) -> Result<Vec<LaneCounts>, TableError> {
        // One pass in the order of the primary key: there may be millions of rows.
        let mut lanes = self.connection.prepare_cached(&format!(
            "SELECT carrier, account, count(*) FILTER (WHERE state IN (?1, ?2)),
                 count(*) FILTER (WHERE state = ?3), count(*) FILTER (WHERE {WAITING_FOR_A_SLOT})
             FROM part p GROUP BY carrier, account"
        ))?;
        let [queued, in_doubt, sending] =
            [PartState::Queued, PartState::InDoubt, PartState::Sending].map(PartState::to_stored);
        let rows = lanes.query_map(params![queued, in_doubt, sending], |row| {
            Ok(LaneCounts {
                carrier: CarrierId::new(row.get(0)?),
                account: AccountId::new(row.get(1)?),
                waiting: row.get::<i64>(2)?.cast_unsigned(),
                in_flight: row.get::<i64>(3)?.cast_unsigned(),
                for_a_slot: row.get::<i64>(4)?.cast_unsigned(),
            })
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    fn due_keys(&self, read: DueRead) -> Result<Vec<DueKey>, TableError> {
        let DueRead { carrier, account, after, limit } = read;
        let (at, message, part) =
            after.map_or((0, 0, 0), |after| (after.at.as_millis(), after.message.as_i64(), after.part.get()));
        let mut statement = self.connection.prepare_cached(DUE_PLACES)?;
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let mut rows = statement.query(params![carrier.get(), account.get(), at, message, part, limit])?;
        let mut keys = Vec::new();
        while let Some(row) = rows.next()? {
            let (message, part) = message_and_part(&row, 1, 2)?;
            keys.push(DueKey { at: Timestamp::from_millis(row.get(0)?), message, part });
        }
        Ok(keys)
    }

    fn deferred_parts(&self, after: Option<&PartRow>, limit: usize) -> Result<Vec<PartRow>, TableError> {
        let (carrier, account, due_at, message, part) = after.map_or((0, 0, 0, 0, 0), |row| {
            let MessageKey { carrier, account, message } = row.key;
            (carrier.get(), account.get(), time_to_stored(row.due_at), message.as_i64(), row.part.get())
        });
        let mut statement = self.connection.prepare(&deferred_parts_query())?;
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        read_all(statement.query(params![carrier, account, due_at, message, part, limit])?)
    }

    fn unreadable_deferred_parts(&self) -> Result<Vec<UnreadablePart>, TableError> {
        let mut statement = self.connection.prepare_cached(&format!(
            "SELECT {COLUMNS} FROM part WHERE due_at > 0 AND state IN (0, 2) AND NOT ({READABLE})"
        ))?;
        Ok(read_readable(statement.query([])?)?.unreadable)
    }

    fn sending_parts(&self) -> Result<Readings<SendingPart>, TableError> {
        let mut statement = self.connection.prepare(
            "SELECT p.carrier, p.account, p.message, p.no, m.dest
             FROM part p LEFT JOIN message m ON m.id = p.message WHERE p.state = ?1",
        )?;
        let mut rows = statement.query([PartState::Sending.to_stored()])?;
        let mut sending = Readings::default();
        while let Some(row) = rows.next()? {
            sort_in(&mut sending, &row, KEY, read_sending(&row))?;
        }
        Ok(sending)
    }

    fn parts_expiring_after(&self, at: Timestamp) -> Result<Vec<PartRow>, TableError> {
        let mut statement =
            self.connection.prepare(&format!("SELECT {COLUMNS} FROM part WHERE expires_at > ?1"))?;
        let mut parts = read_all(statement.query([at.as_millis()])?)?;
        parts.extend(late_parts_expiring_after(self.connection, at)?);
        Ok(parts)
    }
}

/// Returns how many parts of a carrier are deferred, and their oldest message.
pub(crate) fn read_deferred(
    connection: &Connection,
    carrier: CarrierId,
) -> Result<DeferredParts, TableError> {
    let mut statement = connection.prepare_cached(DEFERRED)?;
    let read = statement.query_row([carrier.get()], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let (count, oldest): (i64, Option<i64>) = read;
    let oldest = oldest.and_then(MessageId::from_i64);
    Ok(DeferredParts { count: usize::try_from(count).unwrap_or(0), oldest })
}

/// Returns at most `limit` unreadable parts, with or without late parts.
pub(crate) fn unreadable(
    connection: &Connection,
    with_late: bool,
    limit: u32,
) -> Result<Vec<UnreadablePart>, TableError> {
    let table = if with_late { "open_part" } else { "part" };
    let mut statement =
        connection.prepare(&format!("SELECT {COLUMNS} FROM {table} WHERE NOT ({READABLE}) LIMIT ?1"))?;
    Ok(read_readable(statement.query([limit])?)?.unreadable)
}

/// Returns the query for a page of deferred parts. Unreadable parts are left out, so that a short page is the last.
fn deferred_parts_query() -> String {
    format!(
        "SELECT {COLUMNS} FROM part
         WHERE (carrier, account, due_at, message, no) > (?1, ?2, ?3, ?4, ?5) AND due_at > 0 AND state IN (0, 2)
             AND {READABLE} ORDER BY carrier, account, due_at, message, no LIMIT ?6"
    )
}

/// Reads rows of parts, and separates the unreadable ones.
fn read_readable(mut rows: Rows<'_>) -> Result<Readings<PartRow>, TableError> {
    let mut parts = Readings::default();
    while let Some(row) = rows.next()? {
        sort_in(&mut parts, &row, KEY, read(&row))?;
    }
    Ok(parts)
}

fn read_sending(row: &Row<'_>) -> Result<SendingPart, TableError> {
    let (key, part) = read_key(row)?;
    let to: Option<i64> = row.get(4)?;
    let to = to.ok_or_else(|| TableError::unreadable(NO_MESSAGE))?;
    Ok(SendingPart { key, part, to: stored_number(to)? })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sqlite::schema::open_for_writing;

    #[test]
    fn queries_for_deferred_parts_use_the_due_index() {
        let folder = tempfile::TempDir::new().unwrap();
        let connection = open_for_writing(folder.path()).unwrap();
        let waiting = [PartState::Queued, PartState::InDoubt].map(PartState::to_stored);
        let deferred = format!("due_at > 0 AND state IN ({}, {})", waiting[0], waiting[1]);
        for query in [DUE_PLACES, &deferred_parts_query(), DEFERRED] {
            assert!(query.contains(&deferred), "{query}");
            let mut plan = connection.sqlite().prepare(&format!("EXPLAIN QUERY PLAN {query}")).unwrap();
            let values: Vec<i64> = vec![0; plan.parameter_count()];
            let steps = plan.query_map(rusqlite::params_from_iter(values), |row| row.get::<_, String>(3));
            let steps: Vec<String> = steps.unwrap().map(Result::unwrap).collect();
            assert!(steps.iter().all(|step| step.contains("part_due")), "{query}: {steps:?}");
        }
    }
}
