//! SQL for unreadable rows that were set aside.

use crate::sql::unreadable::why_unreadable;
use crate::sql::{Connection, Error, Row, params};
use crate::sql::{SqlTables, parts};
use hermod_domain::ids::MessageId;
use hermod_domain::lifecycle::PartState;
use hermod_domain::time::Timestamp;
use hermod_engine::ops::{SetAside, SetAsideCount, StoredPart};
use hermod_engine::tables::{
    MessageRange, SetAsideChange, SetAsideRows, StoredMessageKey, TableError, UnreadablePart,
};

fn set_parts_aside(
    connection: &Connection,
    key: StoredMessageKey,
    reason: &str,
    at: Timestamp,
) -> Result<(), TableError> {
    let StoredMessageKey { carrier, account, message } = key;
    let columns = params![carrier, account, message];
    connection
        .prepare_cached(
            "INSERT INTO set_aside (at, reason, carrier, account, message, no, state, doubts, resend, attempts,
                 due_at, expires_at)
             SELECT ?4, ?5, carrier, account, message, no, state, doubts, resend, attempts, due_at, expires_at
             FROM open_part WHERE carrier = ?1 AND account = ?2 AND message = ?3 ORDER BY no",
        )?
        .execute(params![carrier, account, message, at.as_millis(), reason])?;
    for query in [
        "DELETE FROM part WHERE carrier = ?1 AND account = ?2 AND message = ?3",
        "DELETE FROM late_part WHERE carrier = ?1 AND account = ?2 AND message = ?3",
    ] {
        connection.prepare_cached(query)?.execute(columns)?;
    }
    Ok(())
}

fn put_message_aside(
    connection: &Connection,
    key: StoredMessageKey,
    reason: &str,
    at: Timestamp,
) -> Result<(), TableError> {
    let StoredMessageKey { carrier, account, message } = key;
    connection
        .prepare_cached(
            "INSERT INTO set_aside (at, reason, carrier, account, message) SELECT ?4, ?5, ?1, ?2, ?3
             WHERE NOT EXISTS (SELECT 1 FROM set_aside WHERE message = ?3 AND no IS NULL)",
        )?
        .execute(params![carrier, account, message, at.as_millis(), reason])?;
    Ok(())
}

fn delete_set_aside(connection: &Connection, range: MessageRange) -> Result<(), TableError> {
    connection
        .prepare_cached("DELETE FROM set_aside WHERE message BETWEEN ?1 AND ?2")?
        .execute(params![range.first.as_i64(), range.last.as_i64()])?;
    Ok(())
}

impl SetAsideRows for SqlTables<'_> {
    fn stored_states(&self, key: StoredMessageKey) -> Result<Vec<Option<PartState>>, TableError> {
        let StoredMessageKey { carrier, account, message } = key;
        let mut statement = self.connection.prepare_cached(
            "SELECT state FROM open_part WHERE carrier = ?1 AND account = ?2 AND message = ?3 ORDER BY no",
        )?;
        let states = statement.query_map(params![carrier, account, message], |row| {
            Ok(PartState::from_stored(row.get(0)?).ok())
        })?;
        Ok(states.collect::<Result<_, _>>()?)
    }

    fn has_parts_set_aside(&self, message: MessageId) -> Result<bool, TableError> {
        let mut parts = self
            .connection
            .prepare_cached("SELECT 1 FROM set_aside WHERE message = ?1 AND no IS NOT NULL LIMIT 1")?;
        Ok(parts.exists([message.as_i64()])?)
    }

    fn change_set_aside(&self, change: &SetAsideChange) -> Result<(), TableError> {
        match change {
            SetAsideChange::Parts { key, reason, at } => set_parts_aside(self.connection, *key, reason, *at),
            SetAsideChange::Message { key, reason, at } => {
                put_message_aside(self.connection, *key, reason, *at)
            }
            SetAsideChange::Delete(range) => delete_set_aside(self.connection, *range),
        }
    }

    fn why_unreadable(&self, error: TableError) -> Result<String, TableError> {
        why_unreadable(error)
    }

    fn unreadable_parts(&self, limit: u32) -> Result<Vec<UnreadablePart>, TableError> {
        parts::unreadable(self.connection, false, limit)
    }
}

/// Returns the rows that are set aside, after an id, in order.
pub(crate) fn set_aside_after(
    connection: &Connection,
    after: i64,
    limit: u32,
) -> Result<Vec<SetAside>, TableError> {
    let mut statement = connection.prepare_cached(
        "SELECT id, at, reason, carrier, account, message, no, state, doubts, resend, attempts, due_at, expires_at
         FROM set_aside WHERE id > ?1 ORDER BY id LIMIT ?2",
    )?;
    let rows = statement.query_map(params![after, limit], read)?;
    Ok(rows.collect::<Result<_, _>>()?)
}

fn read(row: &Row<'_>) -> Result<SetAside, Error> {
    let part = row.get::<Option<i64>>(6)?.map(|no| {
        Ok::<_, Error>(StoredPart {
            no,
            state: row.get(7)?,
            doubts: row.get(8)?,
            resend: row.get(9)?,
            attempts: row.get(10)?,
            due_at: row.get(11)?,
            expires_at: row.get(12)?,
        })
    });
    Ok(SetAside {
        id: row.get(0)?,
        at: Timestamp::from_millis(row.get(1)?),
        reason: row.get(2)?,
        carrier: row.get(3)?,
        account: row.get(4)?,
        message: row.get(5)?,
        part: part.transpose()?,
    })
}

/// Returns how many rows are set aside, and when the last one was.
pub(crate) fn count_set_aside(connection: &Connection) -> Result<SetAsideCount, TableError> {
    let mut statement = connection.prepare_cached("SELECT count(*), max(at) FROM set_aside")?;
    Ok(statement.query_row([], |row| {
        Ok(SetAsideCount {
            rows: row.get::<i64>(0)?.cast_unsigned(),
            last_at: row.get::<Option<i64>>(1)?.map(Timestamp::from_millis),
        })
    })?)
}
