//! Rows that make no sense, told apart from reads that failed.

use crate::sqlite::columns::is_damage;
use hermod_engine::tables::{Readings, StoredMessageKey, TableError, UnreadablePart};
use rusqlite::{Error, Row};

/// Returns why a row makes no sense, if that is what this error says. Returns the error otherwise.
pub(crate) fn why_unreadable(error: TableError) -> Result<String, TableError> {
    match error.downcast_ref() {
        Some(Error::QueryReturnedNoRows) => Ok(NO_MESSAGE.to_owned()),
        Some(sqlite) if is_damage(sqlite) => Ok(sqlite.to_string()),
        None if error.is_unreadable() => Ok(error.into_inner().to_string()),
        _ => Err(error),
    }
}

/// Which columns of a row are the carrier, account, message and number of a part.
pub(crate) type KeyColumns = [usize; 4];

/// Adds what was read from a row of a part; if it makes no sense, to what is unreadable.
pub(crate) fn sort_in<T>(
    readings: &mut Readings<T>,
    row: &Row<'_>,
    key: KeyColumns,
    read: Result<T, TableError>,
) -> Result<(), TableError> {
    match read {
        Ok(read) => readings.rows.push(read),
        Err(error) => {
            let [carrier, account, message, no] = key.map(|column| row.get::<_, i64>(column));
            let stored = StoredMessageKey { carrier: carrier?, account: account?, message: message? };
            let reason = format!("part {}: {}", no?, why_unreadable(error)?);
            readings.unreadable.push(UnreadablePart { key: stored, reason });
        }
    }
    Ok(())
}

/// The reason where a part's message is missing.
pub(crate) const NO_MESSAGE: &str = "its message has no row";
