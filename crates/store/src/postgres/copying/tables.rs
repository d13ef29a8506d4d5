//! The tables of both sides: which ones are copied, their columns, and whether the target is empty.

use crate::error::StoreError;
use crate::postgres::partitions;
use crate::sql::postgres::Session;
use crate::sql::postgres::binary_rows::ColumnType;
use crate::sql::{Connection, SqlTables};
use crate::store_copy::CopyError;
use hermod_domain::ids::MessageId;
use hermod_domain::time::Day;
use hermod_engine::tables::{CarrierIdChange, CarrierIdRows as _, TableError};

/// The tables of SQLite that are not copied row by row: the store's id and its batches are set at the end of a copy.
const NOT_COPIED: &str = "writer";
/// The tables of the server that have rows from the beginning, or that say nothing about messages.
const NOT_EMPTY: [&str; 12] = [
    "applied",
    "bind_slot",
    "link_slot",
    "node",
    "outcome",
    "pepper_fingerprint",
    "retention",
    "review_counter",
    "schema_version",
    "step_counter",
    "webhook_counter",
    "writer",
];
/// Of these, the ones whose rows are replaced by those of the source.
const REPLACED: &str = "DELETE FROM retention; DELETE FROM step_counter; DELETE FROM webhook_counter";
/// The tables of one day, and those whose rows are being deleted.
const DAY: &str = "remote_";
const RETIRED_DAY: &str = "retired_remote_";

/// The texts of messages are a table of their own on the server.
const MESSAGES: &str = "message";
const TEXTS: &str = "message_text";
const TEXT_COLUMNS: [&str; 3] = ["text", "tlvs", "shape"];

/// A table that is copied.
pub(super) struct Table {
    /// Of the server's table.
    pub(super) name: String,
    /// In the order of the server's table.
    pub(super) columns: Vec<(String, ColumnType)>,
    /// Rows of the source.
    pub(super) rows: u64,
    /// Rows that are copied.
    pub(super) copied: u64,
}

impl Table {
    /// Returns the rows of the source, as a part of a query.
    pub(super) fn source(&self) -> String {
        source_of(&self.name)
    }

    /// Returns the names of the columns, quoted.
    pub(super) fn column_list(&self) -> String {
        let names: Vec<String> = self.columns.iter().map(|(name, _)| format!("\"{name}\"")).collect();
        names.join(", ")
    }
}

/// Returns the names of the tables to copy, in their order.
pub(super) fn names(source: &Connection) -> Result<Vec<String>, TableError> {
    let mut statement = source.prepare(
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND substr(name, 1, 7) <> 'sqlite_' AND name <> ?1
         ORDER BY name",
    )?;
    let names = statement.query_map([NOT_COPIED], |row| row.get(0))?;
    let mut names: Vec<String> = names.collect::<crate::sql::Result<_>>()?;
    names.push(TEXTS.to_owned());
    Ok(names)
}

/// Fails if the schema of the server has rows, other than those of an empty store.
pub(super) fn check_empty(target: &Connection, place: &str) -> Result<(), TableError> {
    let not_empty = |table: &str| CopyError::NotEmpty { place: place.to_owned(), table: table.to_owned() };
    let mut statement =
        target.prepare("SELECT tablename FROM pg_tables WHERE schemaname = current_schema() ORDER BY 1")?;
    let names = statement.query_map([], |row| row.get::<String>(0))?;
    for name in names {
        let name = name?;
        if NOT_EMPTY.contains(&name.as_str()) {
            continue;
        }
        if target.prepare(&format!("SELECT 1 FROM \"{name}\" LIMIT 1"))?.exists([])? {
            return Err(StoreError::from(not_empty(&name)).into());
        }
    }
    let commits: i64 = target.query_row("SELECT commits FROM writer", [], |row| row.get(0))?;
    if commits > 0 { Err(StoreError::from(not_empty(NOT_COPIED)).into()) } else { Ok(()) }
}

/// Returns the rows of a table in the source, as a part of a query.
fn source_of(name: &str) -> String {
    match name {
        TEXTS => format!("\"{MESSAGES}\" NOT INDEXED WHERE text IS NOT NULL"),
        name => format!("\"{name}\" NOT INDEXED"),
    }
}

/// Makes the partitions for the messages of the source.
fn make_partitions(source: &Connection, session: &Session) -> Result<(), TableError> {
    for (table, of) in [(&partitions::MESSAGES, MESSAGES), (&partitions::TEXTS, TEXTS)] {
        let ids = format!("SELECT min(id), max(id) FROM {}", source_of(of));
        let read = |row: &crate::sql::Row<'_>| Ok((row.get::<Option<i64>>(0)?, row.get::<Option<i64>>(1)?));
        let (first, last) = source.query_row(&ids, [], read)?;
        let id = |id: Option<i64>| id.and_then(MessageId::from_i64);
        if let (Some(first), Some(last)) = (id(first), id(last)) {
            table.make_between(session, first, last).map_err(crate::sql::Error::from)?;
        }
    }
    Ok(())
}

/// Prepares an empty schema for the rows of these tables: creates partitions and the tables of days, and removes the rows of an
/// empty store.
pub(super) fn prepare(source: &Connection, target: &Connection, names: &[String]) -> Result<(), TableError> {
    let Connection::Postgres(session) = target else { unreachable!("the target is a server") };
    make_partitions(source, session)?;
    let tables = SqlTables { connection: target };
    for name in names {
        let day = |prefix: &str| name.strip_prefix(prefix)?.parse().ok().map(Day::new);
        if let Some(day) = day(RETIRED_DAY) {
            tables.change_carrier_id(&CarrierIdChange::CreateDay(day))?;
            tables.change_carrier_id(&CarrierIdChange::RetireDay(day))?;
        } else if let Some(day) = day(DAY) {
            tables.change_carrier_id(&CarrierIdChange::CreateDay(day))?;
        }
    }
    Ok(target.execute_batch(REPLACED)?)
}

/// Returns a table with its columns. Fails if the server's table lacks one.
pub(super) fn describe(
    source: &Connection,
    target: &Connection,
    name: &str,
    copied: u64,
) -> Result<Table, TableError> {
    let unknown = |reason: String| CopyError::UnknownTable { table: name.to_owned(), reason };
    let mut statement = source.prepare("SELECT name FROM pragma_table_info(?1)")?;
    let source_name = if name == TEXTS { MESSAGES } else { name };
    let have =
        statement.query_map([source_name], |row| row.get(0))?.collect::<crate::sql::Result<Vec<String>>>()?;
    let mut statement = target.prepare(
        "SELECT column_name, data_type FROM information_schema.columns
         WHERE table_schema = current_schema() AND table_name = ?1 ORDER BY ordinal_position",
    )?;
    let mut rows = statement.query([name])?;
    let mut columns = Vec::new();
    while let Some(row) = rows.next()? {
        let (column, of): (String, String) = (&row).try_into()?;
        // SQLite numbers the rows of such a table without naming the column.
        if have.contains(&column) || column == "rowid" {
            let of = ColumnType::named(&of)
                .ok_or_else(|| StoreError::from(unknown(format!("{column} has the type {of}"))))?;
            columns.push((column, of));
        }
    }
    let is_copied = |column: &String| columns.iter().any(|(name, _)| name == column);
    let is_elsewhere =
        |column: &String| name == TEXTS || (name == MESSAGES && TEXT_COLUMNS.contains(&column.as_str()));
    if let Some(missing) = have.iter().find(|column| !is_copied(column) && !is_elsewhere(column)) {
        return Err(StoreError::from(unknown(format!("the server's table has no column {missing}"))).into());
    }
    let rows = source
        .query_row(&format!("SELECT count(*) FROM {}", source_of(name)), [], |row| row.get::<i64>(0))?;
    let rows = rows.cast_unsigned();
    Ok(Table { name: name.to_owned(), columns, rows, copied })
}

/// Returns how many rows a table has.
pub(super) fn count(connection: &Connection, table: &str) -> Result<u64, TableError> {
    let sql = format!("SELECT count(*) FROM \"{table}\"");
    Ok(connection.query_row(&sql, [], |row| row.get::<i64>(0))?.cast_unsigned())
}
