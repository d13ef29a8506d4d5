//! Copies the rows of one table from a data folder to a server, or back.

use crate::error::CopyError;
use crate::error::StoreError;
use crate::postgres::binary_rows::ColumnType;
use crate::postgres::{PostgresError, Session, binary_rows, values};
use crate::sql::{Connection, copy_progress as progress};
use bytes::BytesMut;
use hermod_engine::tables::TableError;
use rusqlite::types::{ToSqlOutput, ValueRef};

/// Rows of one step, which is one transaction.
const STEP_ROWS_MAX: u64 = 100_000;
/// Octets that are sent at once, and about the memory that a copy to a server needs.
const SEND_BYTES: usize = 256 * 1024;
/// Rows that are read from a server at once.
const FETCHED_ROWS: u32 = 1_000;

/// A table that is copied.
pub(crate) struct CopiedTable {
    /// Of the target's table.
    pub(crate) name: String,
    /// In the order of the target's table.
    pub(crate) columns: Vec<(String, ColumnType)>,
    /// The rows of the source in their order, as a part of a query.
    pub(crate) source: String,
    /// Rows of the source.
    pub(crate) rows: u64,
    /// Rows that are copied.
    pub(crate) copied: u64,
}

impl CopiedTable {
    /// Returns the names of the columns, quoted.
    pub(crate) fn column_list(&self) -> String {
        quoted(self.columns.iter().map(|(name, _)| name.as_str()))
    }
}

/// Copies the rows of a table from the first that is not copied. `on_step` gets the number of rows of each step.
pub(crate) fn copy_table(
    source: &Connection,
    target: &Connection,
    table: &mut CopiedTable,
    on_step: &mut dyn FnMut(u64),
) -> Result<(), TableError> {
    // In an order that is the same at every run.
    let select = format!("SELECT {} FROM {} OFFSET {}", table.column_list(), table.source, table.copied);
    match (source, target) {
        (Connection::Sqlite(file), Connection::Postgres(server)) => {
            let mut statement = file.prepare(&select)?;
            let mut rows = statement.query([])?;
            in_steps(target, table, on_step, &mut |table| send(server, table, &mut rows))
        }
        (Connection::Postgres(server), Connection::Sqlite(file)) => {
            let mut rows = Cursor::open(server, &table.name, &select)?;
            in_steps(target, table, on_step, &mut |table| insert(file, table, &mut rows))?;
            rows.close()
        }
        _ => unreachable!("one side of a copy is a server, the other one a data folder"),
    }
}

/// Runs steps until all rows are copied. `step` copies the next rows of the table, and returns how many.
fn in_steps(
    target: &Connection,
    table: &mut CopiedTable,
    on_step: &mut dyn FnMut(u64),
    step: &mut dyn FnMut(&CopiedTable) -> Result<u64, TableError>,
) -> Result<(), TableError> {
    while table.copied < table.rows {
        let mut read = 0;
        in_transaction(target, || {
            read = step(table)?;
            Ok(progress::put_rows(target, &table.name, table.copied + read)?)
        })?;
        if read == 0 {
            return Ok(());
        }
        table.copied += read;
        on_step(read);
    }
    Ok(())
}

/// Runs `work` in a transaction, which is undone if it fails.
pub(crate) fn in_transaction(
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

/// Returns names as SQL writes them.
pub(crate) fn quoted<'n>(names: impl Iterator<Item = &'n str>) -> String {
    names.map(|name| format!("\"{name}\"")).collect::<Vec<_>>().join(", ")
}

/// Sends the rows of a step to a server.
fn send(server: &Session, table: &CopiedTable, rows: &mut rusqlite::Rows<'_>) -> Result<u64, TableError> {
    let mut sending = Sending { table, rows, read: 0, is_begun: false, is_ended: false };
    let copy = format!("COPY \"{}\" ({}) FROM STDIN (FORMAT binary)", table.name, table.column_list());
    server.copy_in(&copy, |out| sending.next(out)).map_err(|error| match error {
        PostgresError::Value(error) => {
            let (table, reason) = (table.name.clone(), error.to_string());
            TableError::from(StoreError::from(CopyError::UnknownTable { table, reason }))
        }
        error => crate::sql::Error::from(error).into(),
    })?;
    Ok(sending.read)
}

/// The rows of a step on their way to a server.
struct Sending<'t, 'r, 's> {
    table: &'t CopiedTable,
    rows: &'r mut rusqlite::Rows<'s>,
    /// Rows that were read.
    read: u64,
    is_begun: bool,
    is_ended: bool,
}

impl Sending<'_, '_, '_> {
    /// Adds the next rows in the binary format, at last its end, and then nothing.
    fn next(&mut self, out: &mut BytesMut) -> Result<(), PostgresError> {
        if self.is_ended {
            return Ok(());
        }
        if !std::mem::replace(&mut self.is_begun, true) {
            binary_rows::put_header(out);
        }
        while self.read < STEP_ROWS_MAX && out.len() < SEND_BYTES {
            let Some(row) = self.rows.next()? else { break };
            binary_rows::put_row(out, &self.table.columns, row)?;
            self.read += 1;
        }
        if out.len() < SEND_BYTES {
            binary_rows::put_end(out);
            self.is_ended = true;
        }
        Ok(())
    }
}

/// Inserts the rows of a step into the database of a data folder.
fn insert(
    file: &rusqlite::Connection,
    table: &CopiedTable,
    rows: &mut Cursor<'_>,
) -> Result<u64, TableError> {
    let values: Vec<String> = (1..=table.columns.len()).map(|number| format!("?{number}")).collect();
    let sql =
        format!("INSERT INTO \"{}\" ({}) VALUES ({})", table.name, table.column_list(), values.join(", "));
    let mut insert = file.prepare(&sql)?;
    let mut read = 0;
    while read < STEP_ROWS_MAX {
        let Some(row) = rows.next()? else { break };
        for (index, (_, of)) in table.columns.iter().enumerate() {
            let value = match (of, values::get_ref(&row, index)?) {
                // A text that may contain U+0000 is octets there.
                (ColumnType::Text, ValueRef::Blob(octets)) => ValueRef::Text(octets),
                (_, value) => value,
            };
            insert.raw_bind_parameter(index + 1, ToSqlOutput::Borrowed(value))?;
        }
        insert.raw_execute()?;
        read += 1;
    }
    Ok(read)
}

/// The rows of a query on a server, some at a time.
struct Cursor<'s> {
    server: &'s Session,
    /// Of a name that no other table has: the server remembers the columns.
    name: String,
    page: std::vec::IntoIter<tokio_postgres::Row>,
}

impl<'s> Cursor<'s> {
    /// Begins to read, in the transaction of the caller.
    fn open(server: &'s Session, table: &str, select: &str) -> Result<Cursor<'s>, TableError> {
        let name = format!("rows_of_{table}");
        let declare = format!("DECLARE {name} NO SCROLL CURSOR FOR {select}");
        server.run(&declare).map_err(crate::sql::Error::from)?;
        Ok(Cursor { server, name, page: Vec::new().into_iter() })
    }

    fn next(&mut self) -> Result<Option<tokio_postgres::Row>, TableError> {
        if let Some(row) = self.page.next() {
            return Ok(Some(row));
        }
        let fetch = format!("FETCH {FETCHED_ROWS} FROM {}", self.name);
        self.page = self.server.query(&fetch, &[]).map_err(crate::sql::Error::from)?.into_iter();
        Ok(self.page.next())
    }

    fn close(self) -> Result<(), TableError> {
        Ok(self.server.run(&format!("CLOSE {}", self.name)).map_err(crate::sql::Error::from)?)
    }
}
