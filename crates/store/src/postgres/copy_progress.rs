//! The tables that exist while a copy is unfinished: which store it is of, and how many rows of each table are copied. They are
//! written in the transactions that copy the rows.

use crate::sql::{Connection, Result, Row, params};

/// Exists from the beginning of a copy to its end.
const MAKE: &str = "CREATE TABLE store_copy (store bytea NOT NULL, sequence bigint NOT NULL);
     CREATE TABLE store_copy_table (name text COLLATE \"C\" PRIMARY KEY, rows bigint NOT NULL);";
const DROP: &str = "DROP TABLE store_copy_table; DROP TABLE store_copy";

/// The state of a store that is copied. It changes with every batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Copied {
    pub(super) store: [u8; 16],
    pub(super) sequence: u64,
}

/// Whether the schema has an unfinished copy.
pub(super) fn is_unfinished(connection: &Connection) -> Result<bool> {
    connection.query_row("SELECT to_regclass('store_copy') IS NOT NULL", [], |row| row.get(0))
}

/// Returns what the unfinished copy is of.
pub(super) fn read(connection: &Connection) -> Result<Copied> {
    let read =
        |row: &Row<'_>| Ok(Copied { store: row.get(0)?, sequence: row.get::<i64>(1)?.cast_unsigned() });
    connection.query_row("SELECT store, sequence FROM store_copy", [], read)
}

/// Begins a copy.
pub(super) fn make(connection: &Connection, of: Copied, tables: &[String]) -> Result<()> {
    connection.execute_batch(MAKE)?;
    let insert = "INSERT INTO store_copy (store, sequence) VALUES (?1, ?2)";
    connection.execute(insert, params![of.store, of.sequence.cast_signed()])?;
    for table in tables {
        connection.execute("INSERT INTO store_copy_table (name, rows) VALUES (?1, 0)", [table])?;
    }
    Ok(())
}

/// Returns how many rows of a table are copied.
pub(super) fn rows_of(connection: &Connection, table: &str) -> Result<u64> {
    let sql = "SELECT rows FROM store_copy_table WHERE name = ?1";
    connection.query_row(sql, [table], |row| row.get::<i64>(0)).map(i64::cast_unsigned)
}

/// Stores how many rows of a table are copied.
pub(super) fn put_rows(connection: &Connection, table: &str, rows: u64) -> Result<()> {
    let sql = "UPDATE store_copy_table SET rows = ?1 WHERE name = ?2";
    connection.execute(sql, params![rows.cast_signed(), table]).map(drop)
}

/// Ends the copy: gateways may open the schema from now on.
pub(super) fn drop_tables(connection: &Connection) -> Result<()> {
    connection.execute_batch(DROP)
}
