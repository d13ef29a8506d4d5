//! The tables of both sides: which ones are copied, their columns, and whether a server is empty.

use crate::error::CopyError;
use crate::error::StoreError;
use crate::postgres;
use crate::postgres::binary_rows::ColumnType;
use crate::sql::copied_rows::{CopiedTable, quoted};
use crate::sql::read_results::StorePosition;
use crate::sql::{Connection, Row, SqlTables, copy_progress as progress};
use hermod_domain::ids::MessageId;
use hermod_domain::time::Day;
use hermod_engine::tables::{CarrierIdChange, CarrierIdRows as _, TableError};

/// Not copied row by row: the store's id and its batches are set at the end of a copy.
const WRITER: &str = "writer";
/// The tables that are not copied: those that only a server has, about its nodes and its schema, and the fingerprint of the pepper,
/// which is written when the copy begins.
const NOT_COPIED: [&str; 7] =
    ["applied", "bind_slot", "link_slot", "node", "outcome", "pepper_fingerprint", "store_schema"];
/// The tables that have rows from the beginning, which are replaced by those of the source.
const REPLACED: [&str; 3] = ["retention", "step_counter", "webhook_counter"];
/// The tables of one day, and those whose rows are being deleted.
const DAY: &str = "remote_";
const RETIRED_DAY: &str = "retired_remote_";

/// The texts of messages are a table of their own on a server, which has a view of both.
const MESSAGES: &str = "message";
const TEXTS: &str = "message_text";
const MESSAGES_WITH_TEXTS: &str = "message_with_text";
const TEXT_COLUMNS: [&str; 3] = ["text", "tlvs", "shape"];
/// SQLite numbers the rows of some tables without naming this column.
const ROWID: &str = "rowid";

/// Returns the names of the tables to copy, in their order.
pub(super) fn names(source: &Connection) -> Result<Vec<String>, TableError> {
    let mut statement = source.prepare(match source {
        Connection::Sqlite(_) => {
            "SELECT name FROM sqlite_schema WHERE type = 'table' AND substr(name, 1, 7) <> 'sqlite_' ORDER BY name"
        }
        Connection::Postgres(_) => {
            "SELECT relname::text FROM pg_class WHERE relkind IN ('r', 'p') AND NOT relispartition
                 AND relnamespace = to_regnamespace(quote_ident(current_schema())) ORDER BY 1"
        }
    })?;
    let names = statement.query_map([], |row| row.get(0))?;
    let mut names: Vec<String> = names.collect::<crate::sql::Result<_>>()?;
    names.retain(|name| name != WRITER && name != TEXTS && !NOT_COPIED.contains(&name.as_str()));
    if let Connection::Sqlite(_) = source {
        names.push(TEXTS.to_owned());
    }
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
        if name == WRITER || NOT_COPIED.contains(&name.as_str()) || REPLACED.contains(&name.as_str()) {
            continue;
        }
        if target.prepare(&format!("SELECT 1 FROM \"{name}\" LIMIT 1"))?.exists([])? {
            return Err(StoreError::from(not_empty(&name)).into());
        }
    }
    let commits: i64 = target.query_row("SELECT commits FROM writer", [], |row| row.get(0))?;
    if commits > 0 { Err(StoreError::from(not_empty(WRITER)).into()) } else { Ok(()) }
}

/// Marks an empty target as an unfinished copy, and prepares it for the rows: creates partitions and the tables of days, and
/// removes the rows of an empty store.
pub(super) fn begin(source: &Connection, target: &Connection, of: StorePosition) -> Result<(), TableError> {
    let names = names(source)?;
    progress::make(target, of, &names)?;
    if let Connection::Postgres(session) = target {
        postgres::make_partitions(session, ids_of(source, MESSAGES)?, ids_of(source, TEXTS)?)?;
    }
    let tables = SqlTables { connection: target };
    for name in &names {
        let day = |prefix: &str| name.strip_prefix(prefix)?.parse().ok().map(Day::new);
        if let Some(day) = day(RETIRED_DAY) {
            tables.change_carrier_id(&CarrierIdChange::CreateDay(day))?;
            tables.change_carrier_id(&CarrierIdChange::RetireDay(day))?;
        } else if let Some(day) = day(DAY) {
            tables.change_carrier_id(&CarrierIdChange::CreateDay(day))?;
        }
    }
    for table in REPLACED {
        target.execute_batch(&format!("DELETE FROM {table}"))?;
    }
    Ok(())
}

/// Returns the rows of a table in a data folder, as a part of a query.
fn rows_in_file(name: &str) -> String {
    match name {
        TEXTS => format!("\"{MESSAGES}\" NOT INDEXED WHERE text IS NOT NULL"),
        name => format!("\"{name}\" NOT INDEXED"),
    }
}

/// Returns the first and the last id of messages or texts in a data folder.
fn ids_of(source: &Connection, table: &str) -> Result<Option<(MessageId, MessageId)>, TableError> {
    let ids = format!("SELECT min(id), max(id) FROM {}", rows_in_file(table));
    let read = |row: &Row<'_>| Ok((row.get::<Option<i64>>(0)?, row.get::<Option<i64>>(1)?));
    let (first, last) = source.query_row(&ids, [], read)?;
    let id = |id: Option<i64>| id.and_then(MessageId::from_i64);
    Ok(id(first).zip(id(last)))
}

/// Returns a table with its columns. Fails if the target's table lacks one.
pub(super) fn describe(
    source: &Connection,
    target: &Connection,
    name: &str,
    copied: u64,
) -> Result<CopiedTable, TableError> {
    let unknown = |reason: String| CopyError::UnknownTable { table: name.to_owned(), reason };
    let source_name = match (source, name) {
        (Connection::Sqlite(_), TEXTS) => MESSAGES,
        (Connection::Postgres(_), MESSAGES) => MESSAGES_WITH_TEXTS,
        (_, name) => name,
    };
    let (mut have, mut wanted) = (columns_of(source, source_name)?, columns_of(target, name)?);
    if let Some(rowid) = have.iter().chain(&wanted).find(|(column, _)| column == ROWID).cloned() {
        let unnamed = [&mut have, &mut wanted].into_iter().filter(|side| !side.contains(&rowid));
        unnamed.for_each(|side| side.push(rowid.clone()));
    }
    let is_in = |columns: &[(String, String)], name: &str| columns.iter().any(|(column, _)| column == name);
    wanted.retain(|(column, _)| is_in(&have, column));
    let is_elsewhere = |column: &str| name == TEXTS || (name == MESSAGES && TEXT_COLUMNS.contains(&column));
    let missing = have.iter().find(|(column, _)| !is_in(&wanted, column) && !is_elsewhere(column));
    if let Some((missing, _)) = missing {
        return Err(StoreError::from(unknown(format!("the target's table has no column {missing}"))).into());
    }
    let mut columns = Vec::new();
    for (column, of) in wanted {
        let of = ColumnType::named(&of)
            .ok_or_else(|| StoreError::from(unknown(format!("{column} has the type {of}"))))?;
        columns.push((column, of));
    }
    let rows_of_source = match source {
        // In the order of the table itself, which is the same at every run.
        Connection::Sqlite(_) => format!("{} LIMIT -1", rows_in_file(name)),
        Connection::Postgres(_) => format!("\"{source_name}\"{}", order(target, name, &columns)?),
    };
    let counted = match source {
        Connection::Sqlite(_) => rows_in_file(name),
        Connection::Postgres(_) => format!("\"{name}\""),
    };
    let rows = count_rows(source, &counted)?;
    Ok(CopiedTable { name: name.to_owned(), columns, source: rows_of_source, rows, copied })
}

/// Returns the names of the columns of a table or view, with their types.
fn columns_of(connection: &Connection, table: &str) -> Result<Vec<(String, String)>, TableError> {
    let mut statement = connection.prepare(match connection {
        Connection::Sqlite(_) => "SELECT name, type FROM pragma_table_info(?1)",
        Connection::Postgres(_) => {
            "SELECT column_name, data_type FROM information_schema.columns
             WHERE table_schema = current_schema() AND table_name = ?1 ORDER BY ordinal_position"
        }
    })?;
    let columns = statement.query_map([table], |row| row.try_into())?;
    Ok(columns.collect::<crate::sql::Result<_>>()?)
}

/// Returns the order in which a server returns the rows of a table: that of the key in the data folder. A table without a key has
/// one row.
fn order(file: &Connection, table: &str, columns: &[(String, ColumnType)]) -> Result<String, TableError> {
    let mut statement = file.prepare("SELECT name FROM pragma_table_info(?1) WHERE pk > 0 ORDER BY pk")?;
    let key = statement.query_map([table], |row| row.get(0))?;
    let mut key: Vec<String> = key.collect::<crate::sql::Result<_>>()?;
    if key.is_empty() && columns.iter().any(|(column, _)| column == ROWID) {
        key.push(ROWID.to_owned());
    }
    if key.is_empty() {
        return Ok(String::new());
    }
    Ok(format!(" ORDER BY {}", quoted(key.iter().map(String::as_str))))
}

/// Returns how many rows a table has.
pub(super) fn count(connection: &Connection, table: &str) -> Result<u64, TableError> {
    count_rows(connection, &format!("\"{table}\""))
}

fn count_rows(connection: &Connection, rows: &str) -> Result<u64, TableError> {
    let sql = format!("SELECT count(*) FROM {rows}");
    Ok(connection.query_row(&sql, [], |row| row.get::<i64>(0))?.cast_unsigned())
}
