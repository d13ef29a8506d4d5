//! The tables that exist while a copy of a store is unfinished: which store it is of, and how many rows of each table are copied.
//! They are in the target, and are written in the transactions that copy the rows.

use crate::sql::read_results::StorePosition;
use crate::sql::{Connection, Result, Row, params};

/// Exists from the beginning of a copy to its end.
const MAKE: &str = "CREATE TABLE store_copy (store BLOB NOT NULL, sequence INTEGER NOT NULL);
     CREATE TABLE store_copy_table (name TEXT PRIMARY KEY, rows INTEGER NOT NULL);";
const DROP: &str = "DROP TABLE store_copy_table; DROP TABLE store_copy";

/// Whether the database has an unfinished copy.
pub(crate) fn is_unfinished(connection: &Connection) -> Result<bool> {
    match connection {
        Connection::Sqlite(connection) => {
            let sql = "SELECT count(*) > 0 FROM sqlite_schema WHERE name = 'store_copy'";
            Ok(connection.query_row(sql, [], |row| row.get(0))?)
        }
        Connection::Postgres(session) => Ok(session.has_unfinished_copy()?),
    }
}

/// Returns what the unfinished copy is of: the state of a store, which changes with every batch.
pub(crate) fn read(connection: &Connection) -> Result<StorePosition> {
    let read =
        |row: &Row<'_>| Ok(StorePosition { id: row.get(0)?, sequence: row.get::<i64>(1)?.cast_unsigned() });
    connection.query_row("SELECT store, sequence FROM store_copy", [], read)
}

/// Begins a copy.
pub(crate) fn make(connection: &Connection, of: StorePosition, tables: &[String]) -> Result<()> {
    connection.execute_batch(MAKE)?;
    let insert = "INSERT INTO store_copy (store, sequence) VALUES (?1, ?2)";
    connection.execute(insert, params![of.id, of.sequence.cast_signed()])?;
    for table in tables {
        connection.execute("INSERT INTO store_copy_table (name, rows) VALUES (?1, 0)", [table])?;
    }
    Ok(())
}

/// Returns how many rows of a table are copied.
pub(crate) fn rows_of(connection: &Connection, table: &str) -> Result<u64> {
    let sql = "SELECT rows FROM store_copy_table WHERE name = ?1";
    connection.query_row(sql, [table], |row| row.get::<i64>(0)).map(i64::cast_unsigned)
}

/// Stores how many rows of a table are copied.
pub(crate) fn put_rows(connection: &Connection, table: &str, rows: u64) -> Result<()> {
    let sql = "UPDATE store_copy_table SET rows = ?1 WHERE name = ?2";
    connection.execute(sql, params![rows.cast_signed(), table]).map(drop)
}

/// Ends the copy: gateways may open the store from now on.
pub(crate) fn drop_tables(connection: &Connection) -> Result<()> {
    connection.execute_batch(DROP)
}
