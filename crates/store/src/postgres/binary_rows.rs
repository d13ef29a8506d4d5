//! Rows in the binary format of PostgreSQL's COPY: a header, then for each row its number of columns and each value with its
//! length, then an end.

use super::error::{PostgresError, Result};
use super::values::without_nul;
use bytes::{BufMut as _, BytesMut};
use rusqlite::types::ValueRef;

/// The signature, no flags, and no extension of the header.
const HEADER: &[u8; 19] = b"PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0";
/// Stands for the number of columns behind the last row.
const END: i16 = -1;
/// Stands for the length of a null.
const NULL: i32 = -1;

/// The types of columns that the tables have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ColumnType {
    Bigint,
    Text,
    Bytea,
}

impl ColumnType {
    /// Returns the type with this name, in PostgreSQL or in SQLite.
    pub(crate) fn named(name: &str) -> Option<ColumnType> {
        match name {
            "bigint" | "INTEGER" => Some(ColumnType::Bigint),
            "text" | "TEXT" => Some(ColumnType::Text),
            "bytea" | "BLOB" => Some(ColumnType::Bytea),
            _ => None,
        }
    }
}

pub(crate) fn put_header(out: &mut BytesMut) {
    out.put_slice(HEADER);
}

pub(crate) fn put_end(out: &mut BytesMut) {
    out.put_i16(END);
}

/// Adds a row of SQLite as a row with these columns. Fails if a value does not fit its column.
pub(crate) fn put_row(
    out: &mut BytesMut,
    columns: &[(String, ColumnType)],
    row: &rusqlite::Row<'_>,
) -> Result<()> {
    out.put_i16(i16::try_from(columns.len()).expect("a handful of columns"));
    for (index, (name, of)) in columns.iter().enumerate() {
        let value = row.get_ref(index)?;
        if !put_value(out, *of, value)? {
            let error = rusqlite::Error::InvalidColumnType(index, name.clone(), value.data_type());
            return Err(error.into());
        }
    }
    Ok(())
}

/// Adds a value. Returns false if a column of this type cannot have it.
fn put_value(out: &mut BytesMut, of: ColumnType, value: ValueRef<'_>) -> Result<bool> {
    match (of, value) {
        (_, ValueRef::Null) => out.put_i32(NULL),
        (ColumnType::Bigint, ValueRef::Integer(number)) => {
            put_length(out, size_of::<i64>())?;
            out.put_i64(number);
        }
        (ColumnType::Text, ValueRef::Text(octets)) => {
            let text = std::str::from_utf8(octets).map_err(|error| rusqlite::Error::Utf8Error(0, error))?;
            let text = without_nul(text);
            put_length(out, text.len())?;
            out.put_slice(text.as_bytes());
        }
        (ColumnType::Bytea, ValueRef::Text(octets) | ValueRef::Blob(octets)) => {
            put_length(out, octets.len())?;
            out.put_slice(octets);
        }
        _ => return Ok(false),
    }
    Ok(true)
}

fn put_length(out: &mut BytesMut, length: usize) -> Result<()> {
    let length =
        i32::try_from(length).map_err(|_| PostgresError::Unfit(format!("a value of {length} octets")))?;
    out.put_i32(length);
    Ok(())
}

#[cfg(test)]
#[path = "binary_rows_tests.rs"]
mod tests;
