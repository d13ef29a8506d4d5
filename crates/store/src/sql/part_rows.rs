//! Reads rows of parts, of the tables `part` and `late_part`.

use crate::sql::columns::{message_and_part, stored_state, stored_time};
use crate::sql::read_results::{PartPage, StoredKey};
use crate::sql::unreadable::{KeyColumns, sort_in};
use crate::sql::{Connection, Row, Rows, params};
use hermod_domain::ids::{AccountId, CarrierId, PartNo};
use hermod_domain::lifecycle::{DoubtPolicy, Part};
use hermod_domain::time::Timestamp;
use hermod_engine::tables::{MessageKey, PartRow, Readings, TableError};

/// The tables of parts. All parts of a message are in the same one.
pub(super) const TABLES: [&str; 2] = ["part", "late_part"];

/// The columns of a [`PartRow`], in the order in which [`read`] expects them.
pub(super) const COLUMNS: &str =
    "carrier, account, message, no, state, doubts, resend, attempts, due_at, expires_at";

/// The positions of the key in these columns.
pub(super) const KEY: KeyColumns = [0, 1, 2, 3];

pub(super) fn read_all(mut rows: Rows<'_>) -> Result<Vec<PartRow>, TableError> {
    let mut parts = Vec::new();
    while let Some(row) = rows.next()? {
        parts.push(read(&row)?);
    }
    Ok(parts)
}

pub(super) fn read(row: &Row<'_>) -> Result<PartRow, TableError> {
    let (key, part) = read_key(row)?;
    Ok(PartRow {
        key,
        part,
        now: Part { state: stored_state(row.get(4)?)?, doubts: row.get(5)? },
        doubt: DoubtPolicy::from_resends_max(row.get(6)?),
        attempts: row.get(7)?,
        due_at: stored_time(row.get(8)?),
        expires_at: Timestamp::from_millis(row.get(9)?),
    })
}

pub(super) fn read_key(row: &Row<'_>) -> Result<(MessageKey, PartNo), TableError> {
    let (message, part) = message_and_part(row, 2, 3)?;
    let key =
        MessageKey { carrier: CarrierId::new(row.get(0)?), account: AccountId::new(row.get(1)?), message };
    Ok((key, part))
}

/// Returns the next parts of all carriers after a key, in the order of their keys.
pub(crate) fn parts_after(
    connection: &Connection,
    after: Option<StoredKey>,
    limit: u32,
) -> Result<PartPage, TableError> {
    let [carrier, account, message, no] = after.unwrap_or_default();
    let mut statement = connection.prepare_cached(&format!(
        "SELECT {COLUMNS} FROM part
         WHERE (carrier, account, message, no) > (?1, ?2, ?3, ?4) ORDER BY carrier, account, message, no LIMIT ?5"
    ))?;
    let mut rows = statement.query(params![carrier, account, message, no, limit])?;
    let (mut parts, mut read_rows, mut last) = (Readings::default(), 0, None);
    while let Some(row) = rows.next()? {
        read_rows += 1;
        last = Some([row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?]);
        sort_in(&mut parts, &row, KEY, read(&row))?;
    }
    Ok(PartPage { parts, last: last.filter(|_| read_rows == limit) })
}
