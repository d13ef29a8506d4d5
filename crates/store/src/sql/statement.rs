//! A prepared statement, and the values of its parameters.

use super::error::{Error, Result};
use super::row::{Row, Rows};
use crate::postgres::{RowKey, Session};
use rusqlite::ToSql;
use rusqlite::types::Value;

pub(crate) enum SqlStatement<'c> {
    Sqlite(rusqlite::CachedStatement<'c>),
    /// Not kept by its connection.
    SqliteOnce(rusqlite::Statement<'c>),
    Postgres {
        session: &'c Session,
        sql: String,
    },
}

/// Rows as a function reads them.
pub(crate) struct MappedRows<'s, F> {
    rows: Rows<'s>,
    read: F,
}

impl SqlStatement<'_> {
    /// Runs the statement. Returns how many rows it changed.
    #[inline]
    pub(crate) fn execute(&mut self, params: impl Params) -> Result<usize> {
        match self {
            SqlStatement::Sqlite(statement) => Ok(params.with(|values| statement.execute(values))?),
            SqlStatement::SqliteOnce(statement) => Ok(params.with(|values| statement.execute(values))?),
            SqlStatement::Postgres { session, sql } => {
                Ok(params.with(|values| session.execute(sql, values))?)
            }
        }
    }

    /// Runs the statement, on PostgreSQL together with the next ones of its transaction. The changes of one row keep their
    /// order.
    #[inline]
    pub(crate) fn change(&mut self, key: RowKey, params: impl Params) -> Result<()> {
        match self {
            SqlStatement::Postgres { session, sql } => {
                Ok(params.with(|values| session.execute_later(key, sql, values))?)
            }
            SqlStatement::Sqlite(_) | SqlStatement::SqliteOnce(_) => self.execute(params).map(drop),
        }
    }

    /// Runs the query.
    #[inline]
    pub(crate) fn query(&mut self, params: impl Params) -> Result<Rows<'_>> {
        let statement = match self {
            SqlStatement::Sqlite(statement) => &mut **statement,
            SqlStatement::SqliteOnce(statement) => statement,
            SqlStatement::Postgres { session, sql } => {
                let rows = params.with(|values| session.query(sql, values))?;
                return Ok(Rows::Postgres(rows.into_iter(), None));
            }
        };
        Ok(Rows::Sqlite(params.with(|values| statement.query(values))?))
    }

    /// Runs the query for each of these rows of values, on PostgreSQL for all of them at once. Calls `read` with each row that it
    /// finds, in any order.
    pub(crate) fn query_many<const N: usize, E: From<Error>>(
        &mut self,
        values: impl IntoIterator<Item = [Value; N]>,
        mut read: impl FnMut(&Row<'_>) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E>
    where
        [Value; N]: Params,
    {
        if let SqlStatement::Postgres { session, sql } = self {
            let rows = session.query_many(sql, values).map_err(Error::from)?;
            return rows.iter().try_for_each(|row| read(&Row::Postgres(row)));
        }
        for values in values {
            let mut rows = self.query(values)?;
            while let Some(row) = rows.next()? {
                read(&row)?;
            }
        }
        Ok(())
    }

    /// Runs the query and reads its first row. Fails if there is none.
    #[inline]
    pub(crate) fn query_row<T>(
        &mut self,
        params: impl Params,
        read: impl FnOnce(&Row<'_>) -> Result<T>,
    ) -> Result<T> {
        let mut rows = self.query(params)?;
        let row = rows.next()?.ok_or(rusqlite::Error::QueryReturnedNoRows)?;
        read(&row)
    }

    /// Runs the query and reads each row by a function.
    #[inline]
    pub(crate) fn query_map<T, F>(&mut self, params: impl Params, read: F) -> Result<MappedRows<'_, F>>
    where
        F: FnMut(&Row<'_>) -> Result<T>,
    {
        Ok(MappedRows { rows: self.query(params)?, read })
    }

    /// Whether the query finds a row.
    #[inline]
    pub(crate) fn exists(&mut self, params: impl Params) -> Result<bool> {
        Ok(self.query(params)?.next()?.is_some())
    }
}

impl<T, F: FnMut(&Row<'_>) -> Result<T>> Iterator for MappedRows<'_, F> {
    type Item = Result<T>;

    #[inline]
    fn next(&mut self) -> Option<Result<T>> {
        let row = self.rows.next().transpose()?;
        Some(row.and_then(|row| (self.read)(&row)))
    }
}

/// Values in the order of their parameters.
pub(crate) trait Params {
    fn with<T>(&self, use_values: impl FnOnce(&[&dyn ToSql]) -> T) -> T;
}

/// From `params!`.
impl Params for &[&dyn ToSql] {
    #[inline]
    fn with<T>(&self, use_values: impl FnOnce(&[&dyn ToSql]) -> T) -> T {
        use_values(self)
    }
}

/// No values: `[]`.
impl Params for [&(dyn ToSql + Send + Sync); 0] {
    #[inline]
    fn with<T>(&self, use_values: impl FnOnce(&[&dyn ToSql]) -> T) -> T {
        use_values(&[])
    }
}

macro_rules! arrays {
    ($($length:literal)*) => {$(
        impl<V: ToSql> Params for [V; $length] {
            #[inline]
            fn with<T>(&self, use_values: impl FnOnce(&[&dyn ToSql]) -> T) -> T {
                use_values(&self.each_ref().map(|value| value as &dyn ToSql))
            }
        }
    )*};
}

// An array of no values has an implementation of its own, because it has no type of values.
arrays![1 2 3 4 5 6 7];
