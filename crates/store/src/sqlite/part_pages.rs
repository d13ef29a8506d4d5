//! SQL that reads parts in pages, for sweeps.

use crate::sqlite::parts::{COLUMNS, KEY, read};
use crate::sqlite::set_aside::sort_in;
use hermod_engine::tables::{PartRow, Readings, TableError};
use rusqlite::{Connection, params};

/// The key of a part's row as it is stored: carrier, account, message and number.
pub(crate) type StoredKey = [i64; 4];

/// Some parts, in the order of their keys.
pub(crate) struct PartPage {
    pub parts: Readings<PartRow>,
    /// Where to read on; None at the end.
    pub last: Option<StoredKey>,
}

/// Returns the next parts of all carriers behind this one, in the order of their keys.
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
        sort_in(&mut parts, row, KEY, read(row))?;
    }
    Ok(PartPage { parts, last: last.filter(|_| read_rows == limit) })
}
