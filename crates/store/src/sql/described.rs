//! Changes of described tables, and reads of their whole rows.

use crate::sql::{Connection, Params, Row, RowKey, SqlTables, ToSql};
use crate::table_sql::{TableSql, join, put};
use hermod_engine::described_tables;
use hermod_engine::maps::HashMap;
use hermod_engine::tables::{
    ColumnKind, ColumnRange, ColumnReader, ColumnValue, RowChange, RowChanges, Stored as _, StoredRow,
    TableDescription, TableError,
};
use rusqlite::types::{ToSqlOutput, Value, ValueRef};
use std::borrow::Cow;
use std::hash::BuildHasher as _;
use std::sync::LazyLock;

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
    };
}

described_tables!(described);

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
