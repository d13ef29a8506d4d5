//! SQL that runs on either database. The statements of each table are written once, in the part of SQL that both
//! understand; a connection is one of them. The interface follows `rusqlite`, and so do the values: whole numbers of 64
//! bits, texts and octets.

mod error;
mod params;
mod row;
mod statement;

pub(crate) use crate::postgres::RowKey;
pub(crate) use error::{Error, OptionalExtension, Result};
pub(crate) use params::Params;
pub(crate) use row::{Row, Rows};
pub(crate) use rusqlite::{ToSql, params};
pub(crate) use statement::Statement;

use crate::postgres::Session;
use std::ops::Deref;

/// A connection to a database.
pub(crate) enum Connection {
    Sqlite(rusqlite::Connection),
    Postgres(Box<Session>),
}

/// A transaction, through which its connection is used. Dropping it without [`Transaction::commit`] rolls it back.
#[must_use = "a transaction that is dropped is rolled back"]
pub(crate) struct Transaction<'c>(&'c Connection);

impl Connection {
    /// Returns SQLite's own connection, for what only that database has.
    pub(crate) fn sqlite(&self) -> &rusqlite::Connection {
        match self {
            Connection::Sqlite(connection) => connection,
            Connection::Postgres(_) => unreachable!("only the embedded store uses SQLite's own functions"),
        }
    }

    /// Like [`Connection::sqlite`].
    pub(crate) fn sqlite_mut(&mut self) -> &mut rusqlite::Connection {
        match self {
            Connection::Sqlite(connection) => connection,
            Connection::Postgres(_) => unreachable!("only the embedded store uses SQLite's own functions"),
        }
    }

    /// Returns an empty database for a test.
    #[cfg(test)]
    pub(crate) fn in_memory() -> Connection {
        Connection::Sqlite(rusqlite::Connection::open_in_memory().expect("memory"))
    }

    /// Returns a statement, which the connection keeps for the next call.
    #[inline]
    pub(crate) fn prepare_cached(&self, sql: &str) -> Result<Statement<'_>> {
        match self {
            Connection::Sqlite(connection) => Ok(Statement::Sqlite(connection.prepare_cached(sql)?)),
            Connection::Postgres(session) => Ok(Statement::Postgres { session, sql: sql.to_owned() }),
        }
    }

    /// Returns a statement for one use.
    pub(crate) fn prepare(&self, sql: &str) -> Result<Statement<'_>> {
        match self {
            Connection::Sqlite(connection) => Ok(Statement::SqliteOnce(connection.prepare(sql)?)),
            Connection::Postgres(session) => Ok(Statement::Postgres { session, sql: sql.to_owned() }),
        }
    }

    /// Runs a statement. Returns how many rows it changed.
    pub(crate) fn execute(&self, sql: &str, params: impl Params) -> Result<usize> {
        self.prepare_cached(sql)?.execute(params)
    }

    /// Runs a query and reads its first row. Fails if there is none.
    pub(crate) fn query_row<T>(
        &self,
        sql: &str,
        params: impl Params,
        read: impl FnOnce(&Row<'_>) -> Result<T>,
    ) -> Result<T> {
        self.prepare_cached(sql)?.query_row(params, read)
    }

    /// Runs several statements without parameters.
    pub(crate) fn execute_batch(&self, sql: &str) -> Result<()> {
        match self {
            Connection::Sqlite(connection) => Ok(connection.execute_batch(sql)?),
            Connection::Postgres(session) => Ok(session.batch_execute(sql)?),
        }
    }

    /// Whether no transaction is open.
    pub(crate) fn is_autocommit(&self) -> bool {
        match self {
            Connection::Sqlite(connection) => connection.is_autocommit(),
            Connection::Postgres(session) => !session.is_in_transaction(),
        }
    }

    /// Begins a transaction whose reads see one state of the database.
    pub(crate) fn snapshot(&self) -> Result<Transaction<'_>> {
        self.transaction()
    }

    /// Begins a transaction that may write from its start.
    pub(crate) fn immediate_transaction(&self) -> Result<Transaction<'_>> {
        self.begin("BEGIN IMMEDIATE")
    }

    pub(crate) fn transaction(&self) -> Result<Transaction<'_>> {
        self.begin("BEGIN")
    }

    /// Ends the transaction without its changes.
    pub(crate) fn roll_back(&self) -> Result<()> {
        match self {
            Connection::Sqlite(_) => self.execute("ROLLBACK", []).map(drop),
            Connection::Postgres(session) => Ok(session.roll_back()?),
        }
    }

    fn begin(&self, sqlite: &str) -> Result<Transaction<'_>> {
        match self {
            Connection::Sqlite(_) => drop(self.execute(sqlite, [])?),
            Connection::Postgres(session) => session.begin(),
        }
        Ok(Transaction(self))
    }
}

impl Transaction<'_> {
    pub(crate) fn commit(self) -> Result<()> {
        match self.0 {
            Connection::Sqlite(_) => drop(self.0.execute("COMMIT", [])?),
            Connection::Postgres(session) => session.commit(None)?,
        }
        Ok(())
    }
}

impl Deref for Transaction<'_> {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        self.0
    }
}

impl Drop for Transaction<'_> {
    fn drop(&mut self) {
        // It may have been committed, or SQLite may have ended it after an error.
        if !self.0.is_autocommit() {
            drop(self.0.roll_back());
        }
    }
}
