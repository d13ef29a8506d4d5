//! The rows of a query.

use super::error::{Error, Result};
use crate::postgres::values;
use rusqlite::types::{FromSql, ValueRef};

/// The rows of a query that are not read yet.
pub(crate) enum Rows<'s> {
    Sqlite(rusqlite::Rows<'s>),
    /// The rows, and that which was returned last.
    Postgres(std::vec::IntoIter<tokio_postgres::Row>, Option<tokio_postgres::Row>),
}

/// One row.
pub(crate) enum Row<'r> {
    Sqlite(&'r rusqlite::Row<'r>),
    Postgres(&'r tokio_postgres::Row),
}

impl Rows<'_> {
    /// Returns the next row.
    #[inline]
    pub(crate) fn next(&mut self) -> Result<Option<Row<'_>>> {
        match self {
            Rows::Sqlite(rows) => Ok(rows.next()?.map(Row::Sqlite)),
            Rows::Postgres(rows, last) => {
                *last = rows.next();
                Ok(last.as_ref().map(Row::Postgres))
            }
        }
    }
}

impl Row<'_> {
    /// Returns the value of a column.
    #[inline]
    pub(crate) fn get<T: FromSql>(&self, column: usize) -> Result<T> {
        match self {
            Row::Sqlite(row) => Ok(row.get(column)?),
            Row::Postgres(row) => Ok(values::get(row, column)?),
        }
    }

    /// Returns the text of a column without copying it, also of one that has texts as octets.
    pub(crate) fn get_text(&self, column: usize) -> Result<Option<&str>> {
        match self.get_ref(column)? {
            ValueRef::Blob(octets) => Ok(ValueRef::Text(octets).as_str_or_null()?),
            value => Ok(value.as_str_or_null()?),
        }
    }

    /// Returns the value of a column without copying it.
    #[inline]
    pub(crate) fn get_ref(&self, column: usize) -> Result<ValueRef<'_>> {
        match self {
            Row::Sqlite(row) => Ok(row.get_ref(column)?),
            Row::Postgres(row) => Ok(values::get_ref(row, column)?),
        }
    }
}

macro_rules! tuples {
    ($(($($name:ident $column:literal),+))*) => {$(
        /// The first columns of a row.
        impl<$($name: FromSql),+> TryFrom<&Row<'_>> for ($($name,)+) {
            type Error = Error;

            fn try_from(row: &Row<'_>) -> Result<Self> {
                Ok(($(row.get::<$name>($column)?,)+))
            }
        }
    )*};
}

tuples! {
    (A 0, B 1)
    (A 0, B 1, C 2)
    (A 0, B 1, C 2, D 3)
    (A 0, B 1, C 2, D 3, E 4)
    (A 0, B 1, C 2, D 3, E 4, F 5)
}
