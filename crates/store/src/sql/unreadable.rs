//! Tells unreadable rows from reads that failed. A row is unreadable if it is damaged, or was written by another release.

use crate::sql::{Error, Row};
use hermod_engine::tables::{Readings, StoredMessageKey, TableError, UnreadablePart};

/// The reason where a part's message is missing.
pub(crate) const NO_MESSAGE: &str = "its message has no row";

/// Whether the error means that a row is unreadable. Reading it again gives the same error.
pub(crate) fn is_unreadable(error: &TableError) -> bool {
    error.is_unreadable() || error.downcast_ref().is_some_and(Error::is_invalid_value)
}

/// Returns what was read, none if the row is unreadable.
pub(crate) fn none_if_unreadable<T>(read: Result<T, TableError>) -> Result<Option<T>, TableError> {
    match read {
        Err(error) if is_unreadable(&error) => Ok(None),
        read => read.map(Some),
    }
}

/// Returns why a row is unreadable, or the error itself if it means that the read failed.
pub(crate) fn why_unreadable(error: TableError) -> Result<String, TableError> {
    match error.downcast_ref::<Error>() {
        Some(failed) if failed.is_no_row() => Ok(NO_MESSAGE.to_owned()),
        Some(failed) if failed.is_invalid_value() => Ok(failed.to_string()),
        None if error.is_unreadable() => Ok(error.into_inner().to_string()),
        _ => Err(error),
    }
}

/// The columns of a row that hold a part's carrier, account, message and part number.
pub(crate) type KeyColumns = [usize; 4];

/// Adds a part's row to the readable rows, or to the unreadable ones with the reason. Fails if the read failed.
pub(crate) fn sort_in<T>(
    readings: &mut Readings<T>,
    row: &Row<'_>,
    key: KeyColumns,
    read: Result<T, TableError>,
) -> Result<(), TableError> {
    match read {
        Ok(read) => readings.rows.push(read),
        Err(error) => {
            let [carrier, account, message, no] = key.map(|column| row.get::<i64>(column));
            let stored = StoredMessageKey { carrier: carrier?, account: account?, message: message? };
            let reason = format!("part {}: {}", no?, why_unreadable(error)?);
            readings.unreadable.push(UnreadablePart { key: stored, reason });
        }
    }
    Ok(())
}
