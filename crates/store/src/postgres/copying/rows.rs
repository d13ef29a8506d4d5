//! Copies the rows of one table.

use super::tables::Table;
use crate::error::StoreError;
use crate::postgres::copy_progress as progress;
use crate::sql::Connection;
use crate::sql::postgres::{Error, binary_rows};
use crate::store_copy::CopyError;
use bytes::BytesMut;
use hermod_engine::tables::TableError;

/// Rows of one step, which is one transaction: about a second.
const STEP_ROWS_MAX: u64 = 100_000;
/// Octets that are sent at once, and about the memory that a copy needs.
const SEND_BYTES: usize = 256 * 1024;

/// Copies the rows of a table from the first that is not copied. `on_step` gets the number of rows of each step.
pub(super) fn copy_table(
    source: &Connection,
    target: &Connection,
    table: &mut Table,
    on_step: &mut dyn FnMut(u64),
) -> Result<(), TableError> {
    // In the order of the table itself, which is the same at every run.
    let select =
        format!("SELECT {} FROM {} LIMIT -1 OFFSET {}", table.column_list(), table.source(), table.copied);
    let mut statement = source.sqlite().prepare(&select)?;
    let mut rows = statement.query([])?;
    while table.copied < table.rows {
        let mut step = Step { table, rows: &mut rows, read: 0, is_begun: false, is_ended: false };
        super::in_transaction(target, || step.run(target))?;
        let read = step.read;
        if read == 0 {
            return Ok(());
        }
        table.copied += read;
        on_step(read);
    }
    Ok(())
}

/// The rows of one transaction.
struct Step<'t, 'r, 's> {
    table: &'t Table,
    rows: &'r mut rusqlite::Rows<'s>,
    /// Rows that were read.
    read: u64,
    is_begun: bool,
    is_ended: bool,
}

impl Step<'_, '_, '_> {
    fn run(&mut self, target: &Connection) -> Result<(), TableError> {
        let Connection::Postgres(session) = target else { unreachable!("the target is a server") };
        let copy =
            format!("COPY \"{}\" ({}) FROM STDIN (FORMAT binary)", self.table.name, self.table.column_list());
        session.copy_in(&copy, |out| self.next(out)).map_err(|error| match error {
            Error::Value(error) => {
                let (table, reason) = (self.table.name.clone(), error.to_string());
                TableError::from(StoreError::from(CopyError::UnknownTable { table, reason }))
            }
            error => crate::sql::Error::from(error).into(),
        })?;
        Ok(progress::put_rows(target, &self.table.name, self.table.copied + self.read)?)
    }

    /// Adds the next rows in the binary format, at last its end, and then nothing.
    fn next(&mut self, out: &mut BytesMut) -> Result<(), Error> {
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
