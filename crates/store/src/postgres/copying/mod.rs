//! Copies an embedded store into an empty schema of a server. The rows are copied in steps, each one transaction that also
//! stores how far the copy is, so that a copy that was stopped continues. The store keeps its id and the number of its batches,
//! by which its record stays valid.

mod rows;
mod tables;

use super::copy_progress::{self as progress, Copied, is_unfinished};
use super::membership::check_unused;
use super::pepper;
use super::schema::Schema;
use super::writing::failed;
use crate::error::StoreError;
use crate::journal::{HistoryId, Position};
use crate::server::Server;
use crate::sql::postgres::{Session, values};
use crate::sql::{Connection, Error, params};
use crate::sqlite::schema as embedded;
use crate::store_copy::{CopyError, CopyStep, PepperFingerprint};
use hermod_engine::tables::TableError;
use tables::Table;

/// A step that the server loses in a crash is copied again; the end of the copy is synced.
const ONE_COPY: &str = "SELECT pg_try_advisory_lock(hashtext('hermod copy ' || current_schema()))";
const SETUP: &str = "SET synchronous_commit = off; SET jit = off; SET client_min_messages = warning;";

/// A copy that is being made. No gateway uses its source or its target.
pub(crate) struct Copying<'s> {
    source: &'s Connection,
    target: Connection,
    /// The server and its database, for messages.
    pub(crate) place: String,
    of: Copied,
    tables: Vec<Table>,
    /// Rows that an earlier run had copied.
    pub(crate) copied_before: u64,
}

impl<'s> Copying<'s> {
    /// Begins a copy, or continues one of the same state of the same store. Creates the schema and its tables. Fails if a
    /// gateway uses the server's schema, and if it is neither empty nor has such a copy.
    pub(crate) fn begin(
        source: &'s Connection,
        server: &Server,
        fingerprint: PepperFingerprint,
    ) -> Result<Copying<'s>, StoreError> {
        let session = Session::connect(server, SETUP).map_err(failed)?;
        let place = server.name();
        Schema::new(&session, server).open()?;
        check_unused(&session, server)?;
        take_turn(&session, server)?;
        let Position { history, last: sequence, .. } = embedded::journal_position(source)?;
        let HistoryId(store) = history;
        let of = Copied { store, sequence };
        let names = tables::names(source)?;
        let claimed = pepper::read(&session).map_err(TableError::from)?;
        if claimed.is_some_and(|claimed| claimed != fingerprint) {
            return Err(CopyError::OtherPepper(place).into());
        }
        let target = Connection::Postgres(Box::new(session));
        if !is_unfinished(&target).map_err(TableError::from)? {
            let there = target.query_row("SELECT store FROM writer", [], |row| row.get::<[u8; 16]>(0));
            if there.map_err(TableError::from)? == store {
                return Err(CopyError::Complete(place).into());
            }
            tables::check_empty(&target, &place)?;
            in_transaction(&target, || {
                let Connection::Postgres(session) = &target else { unreachable!("made above") };
                pepper::claim(session, fingerprint)?;
                progress::make(&target, of, &names)?;
                tables::prepare(source, &target, &names)
            })?;
        } else if progress::read(&target).map_err(TableError::from)? != of {
            return Err(CopyError::OtherCopy(place).into());
        }
        let mut tables = Vec::new();
        for name in &names {
            let copied = progress::rows_of(&target, name).map_err(TableError::from)?;
            tables.push(tables::describe(source, &target, name, copied)?);
        }
        let copied_before = tables.iter().map(|table| table.copied).sum();
        Ok(Copying { source, target, place, of, tables, copied_before })
    }

    pub(crate) fn tables(&self) -> usize {
        self.tables.len()
    }

    /// Returns how many rows the source has.
    pub(crate) fn rows(&self) -> u64 {
        self.tables.iter().map(|table| table.rows).sum()
    }

    /// Copies the rows that are not copied yet. `on_step` is called after each step, which is durable with the next one.
    pub(crate) fn copy_rows(&mut self, on_step: &mut dyn FnMut(CopyStep<'_>)) -> Result<(), StoreError> {
        let total = self.rows();
        let mut copied = self.copied_before;
        for table in &mut self.tables {
            let name = table.name.clone();
            rows::copy_table(self.source, &self.target, table, &mut |rows| {
                copied += rows;
                on_step(CopyStep::Rows { table: &name, copied, total });
            })?;
        }
        Ok(())
    }

    /// Sets what is not copied row by row, and compares the numbers of rows and the balances of both sides.
    pub(crate) fn complete(&self) -> Result<(), StoreError> {
        in_transaction(&self.target, || self.set_counters())?;
        // The audit's queries need plans for tables of this size.
        let names: Vec<String> = self.tables.iter().map(|table| format!("\"{}\"", table.name)).collect();
        let analyze = format!("ANALYZE {}", names.join(", "));
        self.target.execute_batch(&analyze).map_err(TableError::from)?;
        for Table { name, rows, .. } in &self.tables {
            let found = tables::count(&self.target, name)?;
            if found != *rows {
                let differs = format!("the table {name} has {found} rows instead of {rows}");
                return Err(CopyError::Differs(differs).into());
            }
        }
        if balances(self.source)? != balances(&self.target)? {
            return Err(CopyError::Differs("balances are not equal".to_owned()).into());
        }
        Ok(())
    }

    /// Lets gateways open the schema. Everything is durable when this returns.
    pub(crate) fn finish(self) -> Result<(), StoreError> {
        in_transaction(&self.target, || {
            self.target.execute_batch("SET LOCAL synchronous_commit = on")?;
            Ok(progress::drop_tables(&self.target)?)
        })?;
        Ok(())
    }

    fn set_counters(&self) -> Result<(), TableError> {
        let Copied { store, sequence } = self.of;
        let update = "UPDATE writer SET store = ?1, commits = ?2";
        self.target.execute(update, params![store, sequence.cast_signed()])?;
        // SQLite counts the ids of deleted rows by itself.
        let last = "SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'review'";
        let last: i64 = self.source.query_row(last, [], |row| row.get(0))?;
        self.target.execute("UPDATE review_counter SET last = ?1", [last])?;
        let next = "SELECT setval(pg_get_serial_sequence('set_aside', 'id'), coalesce(max(id), 0) + 1, false)
             FROM set_aside";
        Ok(self.target.query_row(next, [], |_| Ok(()))?)
    }
}

/// Runs `work` in a transaction of the server, which is undone if it fails.
/// Fails with [`StoreError::InUse`] if another copy is being made.
fn take_turn(session: &Session, server: &Server) -> Result<(), StoreError> {
    let taken = session.query(ONE_COPY, &[]).map_err(failed)?;
    let is_taken = taken.first().is_some_and(|row| values::get(row, 0).unwrap_or(false));
    if is_taken { Ok(()) } else { Err(StoreError::InUse(server.name().into())) }
}

fn in_transaction(
    connection: &Connection,
    work: impl FnOnce() -> Result<(), TableError>,
) -> Result<(), TableError> {
    let transaction = connection.transaction()?;
    match work() {
        Ok(()) => Ok(transaction.commit()?),
        Err(error) => {
            // The error that caused it is returned, also if the connection is gone.
            let _ = connection.roll_back();
            Err(error)
        }
    }
}

/// Returns the balances of all accounts, which the writer holds in memory too.
fn balances(connection: &Connection) -> Result<Vec<(i64, i64, i64)>, TableError> {
    let mut statement =
        connection.prepare("SELECT account, balance, credit_used FROM balance ORDER BY account")?;
    let rows = statement.query_map([], |row| row.try_into())?;
    Ok(rows.collect::<Result<_, Error>>()?)
}
