//! The SQL of described tables: how each database creates them, the statements of their changes, and how whole rows are read.

use crate::sql::{Connection, Params, Row, RowKey, SqlTables, ToSql};
use hermod_engine::described_tables;
use hermod_engine::maps::HashMap;
use hermod_engine::tables::{
    Column, ColumnKind, ColumnRange, ColumnReader, ColumnValue, RowChange, RowChanges, Stored as _,
    StoredRow, TableDescription, TableError,
};
use rusqlite::types::{ToSqlOutput, Value, ValueRef};
use std::borrow::Cow;
use std::hash::BuildHasher as _;
use std::sync::{Arc, LazyLock};
use tokio_postgres::types::Type;

/// The statements of a table's changes.
struct RowStatements {
    add: Arc<str>,
    put: Arc<str>,
    delete: Arc<str>,
}

/// The SQL of a table.
pub(crate) struct TableSql {
    /// With one parameter per column.
    sqlite: RowStatements,
    /// With one array per column.
    postgres: RowStatements,
    /// Of the columns, as PostgreSQL has them.
    types: Vec<Type>,
}

/// A row whose table has its SQL ready.
pub(crate) trait RowSql: StoredRow {
    fn sql() -> &'static TableSql;
}

macro_rules! described {
    ($($variant:ident: $row:ty => $name:ident,)*) => {
        $(
            impl RowSql for $row {
                fn sql() -> &'static TableSql {
                    static SQL: LazyLock<TableSql> = LazyLock::new(|| TableSql::of(<$row>::table()));
                    &SQL
                }
            }

            impl RowChanges<$row> for SqlTables<'_> {
                fn change_row(&self, change: &RowChange<$row>) -> Result<(), TableError> {
                    change_row(self.connection, change)
                }
            }
        )*

        /// Returns every described table.
        fn tables() -> Vec<&'static TableDescription> {
            vec![$(<$row>::table()),*]
        }
    };
}

described_tables!(described);

/// Returns the statements that create all described tables in SQLite.
pub(crate) fn create_in_sqlite() -> String {
    let create = |table: &TableDescription| {
        let has_rowid = matches!(table.key_columns(), [Column { kind: ColumnKind::Number, .. }]);
        let options = if has_rowid { " STRICT" } else { " WITHOUT ROWID, STRICT" };
        create(table, options, |kind| match kind {
            ColumnKind::Number => "INTEGER",
            ColumnKind::Text | ColumnKind::MessageText => "TEXT",
            ColumnKind::Octets => "BLOB",
        })
    };
    tables().into_iter().map(create).collect()
}

/// Returns the statements that create all described tables in PostgreSQL.
pub(crate) fn create_in_postgres() -> String {
    let create = |table: &TableDescription| {
        create(table, "", |kind| match kind {
            ColumnKind::Number => "bigint",
            ColumnKind::Text => "text COLLATE \"C\"",
            // PostgreSQL's texts cannot contain U+0000.
            ColumnKind::MessageText | ColumnKind::Octets => "bytea",
        })
    };
    tables().into_iter().map(create).collect()
}

fn create(table: &TableDescription, options: &str, type_of: impl Fn(ColumnKind) -> &'static str) -> String {
    let TableDescription { name, columns, indexes, .. } = table;
    let column = |Column { name, kind, is_optional }: &Column| {
        let null = if *is_optional { "" } else { " NOT NULL" };
        format!("    \"{name}\" {}{null},\n", type_of(*kind))
    };
    let columns: String = columns.iter().map(column).collect();
    let indexes: String = indexes.iter().map(|index| format!("CREATE {index};\n")).collect();
    let key = names(table.key_columns());
    format!("CREATE TABLE {name} (\n{columns}    PRIMARY KEY ({key})\n){options};\n{indexes}")
}

fn join(columns: &[Column], text: impl Fn(usize, &str) -> String, separator: &str) -> String {
    let texts = columns.iter().enumerate().map(|(index, column)| text(index + 1, column.name));
    texts.collect::<Vec<_>>().join(separator)
}

fn names(columns: &[Column]) -> String {
    join(columns, |_, name| format!("\"{name}\""), ", ")
}

impl TableSql {
    fn of(table: &TableDescription) -> TableSql {
        let types: Vec<Type> = table.columns.iter().map(|column| type_in_postgres(column.kind)).collect();
        let arrays = |columns: &[Column]| {
            join(columns, |number, _| format!("${number}::{}[]", types[number - 1]), ", ")
        };
        let key = table.key_columns();
        let parameters = join(&table.columns, |number, _| format!("?{number}"), ", ");
        let by_key = join(key, |number, name| format!("\"{name}\" = ?{number}"), " AND ");
        let by_keys = join(key, |_, name| format!("t.\"{name}\" = u.\"{name}\""), " AND ");
        let sqlite = RowStatements::new(
            table,
            &format!("VALUES ({parameters})"),
            &format!("DELETE FROM {} WHERE {by_key}", table.name),
        );
        let postgres = RowStatements::new(
            table,
            &format!("SELECT * FROM unnest({})", arrays(&table.columns)),
            &format!(
                "DELETE FROM {} t USING unnest({}) AS u ({}) WHERE {by_keys}",
                table.name,
                arrays(key),
                names(key)
            ),
        );
        TableSql { sqlite, postgres, types }
    }
}

impl RowStatements {
    fn new(table: &TableDescription, rows: &str, delete: &str) -> RowStatements {
        let add = format!("INSERT INTO {} ({}) {rows}", table.name, names(&table.columns));
        let put = put(table, &add, table.columns[table.key..].iter());
        RowStatements { add: add.into(), put: put.into(), delete: delete.into() }
    }
}

/// Returns the statement that adds a row, or puts these columns of it into the one that has its key.
fn put<'c>(table: &TableDescription, add: &str, columns: impl Iterator<Item = &'c Column>) -> String {
    let puts = columns.map(|Column { name, .. }| format!("\"{name}\" = excluded.\"{name}\""));
    let then = match puts.collect::<Vec<_>>().join(", ") {
        puts if puts.is_empty() => "NOTHING".to_owned(),
        puts => format!("UPDATE SET {puts}"),
    };
    format!("{add} ON CONFLICT ({}) DO {then}", names(table.key_columns()))
}

fn type_in_postgres(kind: ColumnKind) -> Type {
    match kind {
        ColumnKind::Number => Type::INT8,
        ColumnKind::Text => Type::TEXT,
        ColumnKind::MessageText | ColumnKind::Octets => Type::BYTEA,
    }
}

fn change_row<R: RowSql>(connection: &Connection, change: &RowChange<R>) -> Result<(), TableError> {
    let (table, TableSql { sqlite, postgres, types }) = (R::table(), R::sql());
    let statements = match connection {
        Connection::Sqlite(_) => sqlite,
        Connection::Postgres(_) => postgres,
    };
    let (statement, values) = match change {
        RowChange::Add(row) => (statements.add.clone(), row.values()),
        RowChange::Put(row) => (statements.put.clone(), row.values()),
        RowChange::Merge(row, columns) => {
            let columns = columns.iter().filter_map(|column| table.columns.get(usize::from(*column)));
            (put(table, &statements.add, columns).into(), row.values())
        }
        RowChange::Delete(key) => (statements.delete.clone(), key.values()),
        RowChange::DeleteIn(ranges) => return delete_in(connection, table, ranges),
    };
    match connection {
        Connection::Sqlite(connection) => {
            let mut statement = connection.prepare_cached(&statement)?;
            for (number, value) in (1..).zip(&values) {
                statement.raw_bind_parameter(number, to_sqlite(value))?;
            }
            statement.raw_execute()?;
            Ok(())
        }
        Connection::Postgres(session) => {
            let key = row_key(table, &values);
            let types = &types[..values.len()];
            let values = values.into_iter().map(to_postgres).collect();
            Ok(session
                .change_later(key, &statement, types, matches!(change, RowChange::Add(_)), values)
                .map_err(crate::sql::Error::from)?)
        }
    }
}

/// Deletes every row whose columns are in these ranges.
fn delete_in(
    connection: &Connection,
    table: &TableDescription,
    ranges: &[ColumnRange],
) -> Result<(), TableError> {
    let (mut conditions, mut bounds) = (Vec::new(), Vec::<&dyn ToSql>::new());
    for ColumnRange { column, first, last } in ranges {
        let (name, number) = (table.columns[usize::from(*column)].name, bounds.len() + 1);
        bounds.push(first);
        // An index is used up to the first column that is not compared with one value.
        conditions.push(if first == last {
            format!("{name} = ?{number}")
        } else {
            bounds.push(last);
            format!("{name} BETWEEN ?{number} AND ?{}", number + 1)
        });
    }
    let delete = format!("DELETE FROM {} WHERE {}", table.name, conditions.join(" AND "));
    connection.execute(&delete, &bounds[..])?;
    Ok(())
}

/// Returns the key by which changes keep their order: all those of a table whose rows can conflict with others.
fn row_key(table: &TableDescription, values: &[ColumnValue<'_>]) -> RowKey {
    let hash = || HashMap::<(), ()>::default().hasher().hash_one(&values[..table.key]).cast_signed();
    RowKey { table: table.name, row: if table.has_unique_index() { 0 } else { hash() } }
}

fn to_sqlite<'v>(value: &'v ColumnValue<'_>) -> ToSqlOutput<'v> {
    ToSqlOutput::Borrowed(match value {
        ColumnValue::Null => ValueRef::Null,
        ColumnValue::Number(number) => ValueRef::Integer(*number),
        ColumnValue::Text(text) => ValueRef::Text(text.as_bytes()),
        ColumnValue::Octets(octets) => ValueRef::Blob(octets),
    })
}

fn to_postgres(value: ColumnValue<'_>) -> Value {
    match value {
        ColumnValue::Null => Value::Null,
        ColumnValue::Number(number) => Value::Integer(number),
        ColumnValue::Text(text) => Value::Text(text.into_owned()),
        ColumnValue::Octets(octets) => Value::Blob(octets.into_owned()),
    }
}

/// Returns the rows that a query finds. `rest` is the query behind the table's name: conditions, order and limit. It may begin with a
/// FROM of its own.
pub(crate) fn rows<R: StoredRow>(
    connection: &Connection,
    rest: &str,
    params: impl Params,
) -> Result<Vec<R>, TableError> {
    let mut found = Vec::new();
    visit_rows(connection, rest, params, |row| {
        found.push(row);
        Ok(())
    })?;
    Ok(found)
}

/// Returns the first row that a query finds. See [`rows`].
pub(crate) fn row<R: StoredRow>(
    connection: &Connection,
    rest: &str,
    params: impl Params,
) -> Result<Option<R>, TableError> {
    let mut statement = connection.prepare_cached(&select::<R>(rest))?;
    let mut rows = statement.query(params)?;
    rows.next()?.map(|row| read_row(&row)).transpose()
}

/// Calls `visit` with each row that a query finds. See [`rows`].
pub(crate) fn visit_rows<R: StoredRow>(
    connection: &Connection,
    rest: &str,
    params: impl Params,
    mut visit: impl FnMut(R) -> Result<(), TableError>,
) -> Result<(), TableError> {
    let mut statement = connection.prepare_cached(&select::<R>(rest))?;
    let mut rows = statement.query(params)?;
    while let Some(row) = rows.next()? {
        visit(read_row(&row)?)?;
    }
    Ok(())
}

fn select<R: StoredRow>(rest: &str) -> String {
    let TableDescription { name, columns, .. } = R::table();
    let from = if rest.starts_with("FROM ") { String::new() } else { format!("FROM {name} ") };
    format!("SELECT {} {from}{rest}", join(columns, |_, name| name.to_owned(), ", "))
}

/// Reads a row that has exactly the columns of its table, in their order.
fn read_row<R: StoredRow>(row: &Row<'_>) -> Result<R, TableError> {
    let columns = &R::table().columns;
    R::read(&mut ColumnReader::new(&|column| column_value(row, column, columns[column].kind)))
}

fn column_value<'r>(
    row: &'r Row<'_>,
    column: usize,
    kind: ColumnKind,
) -> Result<ColumnValue<'r>, TableError> {
    let text =
        |octets: &'r [u8]| std::str::from_utf8(octets).map(Cow::Borrowed).map_err(TableError::unreadable);
    Ok(match row.get_ref(column)? {
        ValueRef::Null => ColumnValue::Null,
        ValueRef::Integer(number) => ColumnValue::Number(number),
        ValueRef::Text(octets) => ColumnValue::Text(text(octets)?),
        ValueRef::Blob(octets) if kind == ColumnKind::MessageText => ColumnValue::Text(text(octets)?),
        ValueRef::Blob(octets) => ColumnValue::Octets(octets.into()),
        ValueRef::Real(_) => return Err(TableError::unreadable("a fraction")),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use hermod_engine::tables::OptOut;

    #[test]
    fn table_and_statements_follow_from_the_description() {
        let all = create_in_sqlite();
        let opt_out =
            "CREATE TABLE opt_out (\n    \"account\" INTEGER NOT NULL,\n    \"number\" INTEGER NOT NULL,\n";
        assert!(all.contains(opt_out), "{all}");
        assert!(
            all.contains("    PRIMARY KEY (\"account\", \"number\")\n) WITHOUT ROWID, STRICT;\n"),
            "{all}"
        );
        assert!(all.contains("    PRIMARY KEY (\"id\")\n) STRICT;\n"), "{all}");
        assert!(all.contains("    \"decided_at\" INTEGER,\n"), "{all}");
        let all = create_in_postgres();
        assert!(all.contains("    \"how\" text COLLATE \"C\" NOT NULL,\n"), "{all}");
        assert!(all.contains("    \"text\" bytea NOT NULL,\n"), "{all}");
        let TableSql { sqlite, postgres, .. } = OptOut::sql();
        assert_eq!(
            &*sqlite.put,
            "INSERT INTO opt_out (\"account\", \"number\", \"source\", \"how\", \"at\") VALUES (?1, ?2, ?3, ?4, ?5) \
             ON CONFLICT (\"account\", \"number\") DO UPDATE SET \
             \"source\" = excluded.\"source\", \"how\" = excluded.\"how\", \"at\" = excluded.\"at\""
        );
        assert_eq!(&*sqlite.delete, "DELETE FROM opt_out WHERE \"account\" = ?1 AND \"number\" = ?2");
        assert_eq!(
            &*postgres.add,
            "INSERT INTO opt_out (\"account\", \"number\", \"source\", \"how\", \"at\") \
             SELECT * FROM unnest($1::int8[], $2::int8[], $3::text[], $4::text[], $5::int8[])"
        );
        assert_eq!(
            &*postgres.delete,
            "DELETE FROM opt_out t USING unnest($1::int8[], $2::int8[]) AS u (\"account\", \"number\") \
             WHERE t.\"account\" = u.\"account\" AND t.\"number\" = u.\"number\""
        );
    }
}
