//! The SQL of each table, which runs on either database: it is written once, in the part of SQL that both understand. Each table
//! has a file that implements the engine's trait of the same name.
//!
//! A connection is one of SQLite or of PostgreSQL. Its interface follows `rusqlite`, and so do the values: whole numbers of 64
//! bits, texts and octets.

pub(crate) mod account_statement;
pub(crate) mod audit_log;
pub(crate) mod balances;
pub(crate) mod blobs;
pub(crate) mod carrier_ids;
pub(crate) mod catalogue;
pub(crate) mod columns;
pub(crate) mod copied_rows;
pub(crate) mod copy_progress;
pub(crate) mod customer_requests;
pub(crate) mod day_tables;
pub(crate) mod day_totals;
pub(crate) mod delivery_figures;
pub(crate) mod described;
pub(crate) mod engine_reads;
pub(crate) mod erasure;
pub(crate) mod erasure_scans;
pub(crate) mod erasure_scopes;
mod error;
pub(crate) mod errors;
pub(crate) mod given_up_reports;
pub(crate) mod idempotency_keys;
pub(crate) mod inbound;
pub(crate) mod jobs;
pub(crate) mod late_parts;
pub(crate) mod ledger;
pub(crate) mod message_texts;
pub(crate) mod messages;
pub(crate) mod mo_blobs;
pub(crate) mod mo_parts;
pub(crate) mod nodes;
pub(crate) mod open_messages;
pub(crate) mod opt_outs;
pub(crate) mod parked_receipts;
pub(crate) mod part_rows;
pub(crate) mod parts;
pub(crate) mod pepper;
pub(crate) mod purging;
pub(crate) mod read_results;
pub(crate) mod readers;
pub(crate) mod reports;
pub(crate) mod reviews;
mod row;
pub(crate) mod set_aside;
mod statement;
pub(crate) mod timeline;
pub(crate) mod unnamed_parts;
pub(crate) mod unreadable;
pub(crate) mod user_tokens;
pub(crate) mod waiting_messages;
pub(crate) mod webhook_due;
pub(crate) mod webhook_events;
pub(crate) mod webhook_listing;
pub(crate) mod webhook_purging;

pub(crate) use crate::postgres::RowKey;
pub(crate) use error::{Error, OptionalExtension, Result};
pub(crate) use row::{Row, Rows};
pub(crate) use rusqlite::{ToSql, params};
pub(crate) use statement::{Params, SqlStatement};

use crate::postgres::{HasSession, Session};
use hermod_engine::tables::{ChangeLog, Tables};
use std::cell::RefCell;
use std::ops::Deref;

/// Implements the engine's table traits on a connection.
pub(crate) struct SqlTables<'c> {
    pub(crate) connection: &'c Connection,
}

impl<'c> SqlTables<'c> {
    /// Returns the tables in the form that the engine uses.
    pub(crate) fn of(connection: &'c Connection) -> Tables<'c> {
        Tables::new(SqlTables { connection })
    }

    /// Returns the tables. Every change that is applied to them is also added to `changes`.
    pub(crate) fn logged(connection: &'c Connection, changes: &'c RefCell<ChangeLog>) -> Tables<'c> {
        Tables::with_log(SqlTables { connection }, changes)
    }
}

/// Runs `work`, and applies the changes that it made to the tables.
#[cfg(test)]
pub(crate) fn changing<T>(connection: &Connection, work: impl FnOnce(&Tables<'_>) -> T) -> T {
    let tables = SqlTables::of(connection);
    let done = work(&tables);
    tables.finish().expect("the changes can be applied");
    done
}

/// A connection to a database.
pub(crate) enum Connection {
    Sqlite(rusqlite::Connection),
    Postgres(Box<Session>),
}

impl From<Session> for Connection {
    fn from(session: Session) -> Connection {
        Connection::Postgres(Box::new(session))
    }
}

impl HasSession for Connection {
    fn session(&self) -> &Session {
        match self {
            Connection::Postgres(session) => session,
            Connection::Sqlite(_) => {
                unreachable!("only the store on a server uses PostgreSQL's own functions")
            }
        }
    }
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
    pub(crate) fn prepare_cached(&self, sql: &str) -> Result<SqlStatement<'_>> {
        match self {
            Connection::Sqlite(connection) => Ok(SqlStatement::Sqlite(connection.prepare_cached(sql)?)),
            Connection::Postgres(session) => Ok(SqlStatement::Postgres { session, sql: sql.to_owned() }),
        }
    }

    /// Returns a statement for one use.
    pub(crate) fn prepare(&self, sql: &str) -> Result<SqlStatement<'_>> {
        match self {
            Connection::Sqlite(connection) => Ok(SqlStatement::SqliteOnce(connection.prepare(sql)?)),
            Connection::Postgres(session) => Ok(SqlStatement::Postgres { session, sql: sql.to_owned() }),
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
