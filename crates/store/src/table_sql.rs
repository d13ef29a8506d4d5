//! The SQL that follows from the description of a table: how each database creates it, and the statements of its changes.

use hermod_engine::described_tables;
use hermod_engine::tables::{Column, ColumnKind, StoredRow as _, TableDescription};
use std::sync::Arc;
use tokio_postgres::types::Type;

/// The statements of a table's changes.
pub(crate) struct RowStatements {
    pub add: Arc<str>,
    pub put: Arc<str>,
    pub delete: Arc<str>,
}

/// The SQL of a table's changes.
pub(crate) struct TableSql {
    /// With one parameter per column.
    pub sqlite: RowStatements,
    /// With one array per column.
    pub postgres: RowStatements,
    /// Of the columns, as PostgreSQL has them.
    pub types: Vec<Type>,
}

macro_rules! list {
    ($($variant:ident: $row:ty => $name:ident,)*) => {
        /// Returns every described table.
        fn tables() -> Vec<&'static TableDescription> {
            vec![$(<$row>::table()),*]
        }
    };
}

described_tables!(list);

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

pub(crate) fn join(columns: &[Column], text: impl Fn(usize, &str) -> String, separator: &str) -> String {
    let texts = columns.iter().enumerate().map(|(index, column)| text(index + 1, column.name));
    texts.collect::<Vec<_>>().join(separator)
}

fn names(columns: &[Column]) -> String {
    join(columns, |_, name| format!("\"{name}\""), ", ")
}

impl TableSql {
    pub(crate) fn of(table: &TableDescription) -> TableSql {
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
pub(crate) fn put<'c>(
    table: &TableDescription,
    add: &str,
    columns: impl Iterator<Item = &'c Column>,
) -> String {
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

#[cfg(test)]
#[path = "table_sql_tests.rs"]
mod tests;
