//! Tables that are described once. The description of a table names the columns of its rows and their key. From it follow the
//! tables of both databases and their statements, the changes with their encoding, and the table in memory of the tests.

use crate::tables::TableError;
use crate::tables::columns::{Column, Stored};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::fmt::Debug;
use std::ops::RangeInclusive;

/// A table: its columns, the key first.
#[derive(Debug)]
pub struct TableDescription {
    pub name: &'static str,
    pub columns: Vec<Column>,
    /// How many columns the key has.
    pub key: usize,
    /// The indexes beside the key, as SQL behind CREATE.
    pub indexes: &'static [&'static str],
}

impl TableDescription {
    pub fn of<R: StoredRow>(name: &'static str, indexes: &'static [&'static str]) -> TableDescription {
        let mut columns = Vec::new();
        R::add_columns("", &mut columns);
        TableDescription { name, columns, key: R::Key::width(), indexes }
    }

    pub fn key_columns(&self) -> &[Column] {
        &self.columns[..self.key]
    }

    /// Returns the number of the column with this name.
    fn column(&self, name: &str) -> u8 {
        let found = self.columns.iter().position(|column| column.name == name);
        found.and_then(|number| number.try_into().ok()).expect("a column of the table")
    }

    /// Whether rows with different keys can conflict.
    pub fn has_unique_index(&self) -> bool {
        self.indexes.iter().any(|index| index.starts_with("UNIQUE"))
    }
}

/// A row of a table that is described.
pub trait StoredRow: Stored + Clone + Serialize + DeserializeOwned {
    /// The first columns.
    type Key: Stored + Ord + Clone + Debug + Serialize + DeserializeOwned;

    fn table() -> &'static TableDescription;

    fn key(&self) -> Self::Key;
}

/// A change of one row.
#[derive(Clone, Serialize, Deserialize)]
#[serde(bound = "")]
pub enum RowChange<R: StoredRow> {
    /// A row whose key no row has.
    Add(R),
    /// A row, in place of the one with its key if there is one.
    Put(R),
    /// A row. If its key has one already, that one gets these columns only.
    Merge(R, Vec<u8>),
    /// The row with this key, which there is, is deleted.
    Delete(R::Key),
    /// Every row whose columns are in these ranges is deleted.
    DeleteIn(Vec<ColumnRange>),
}

/// The numbers that a column may have, both ends included.
#[derive(Clone, Copy, Serialize, Deserialize)]
pub struct ColumnRange {
    pub column: u8,
    pub first: i64,
    pub last: i64,
}

impl<R: StoredRow> RowChange<R> {
    /// A row. If its key has one already, that one gets the columns with these names only.
    pub fn merge<const N: usize>(row: R, columns: [&str; N]) -> RowChange<R> {
        RowChange::Merge(row, columns.map(|name| R::table().column(name)).into())
    }

    /// Deletes every row whose columns, by their names, are in these ranges.
    pub fn delete_in<const N: usize>(ranges: [(&str, RangeInclusive<i64>); N]) -> RowChange<R> {
        let range = |(name, range): (&str, RangeInclusive<i64>)| {
            let (first, last) = range.into_inner();
            ColumnRange { column: R::table().column(name), first, last }
        };
        RowChange::DeleteIn(ranges.map(range).into())
    }
}

/// Writes the rows of one table.
pub trait RowChanges<R: StoredRow> {
    /// Applies a change.
    fn change_row(&self, change: &RowChange<R>) -> Result<(), TableError>;
}

/// Adds the columns of a field. The function only tells its type.
pub(super) fn add_field_columns<S, T: Stored>(
    _: fn(&S) -> &T,
    name: &'static str,
    columns: &mut Vec<Column>,
) {
    T::add_columns(name, columns);
}

/// Describes a struct whose fields are stored. A field has the column of its name, or of the one behind `=>`; a field that is a
/// described struct itself has the columns of that. `MessageText` marks a text that may contain U+0000.
macro_rules! stored_fields {
    (@name $field:ident) => { stringify!($field) };
    (@name $field:ident $column:ident) => { stringify!($column) };
    ($([$first:ident])? $row:ident { $($field:ident $(=> $column:ident)? $(as $kind:ident)?),* $(,)? }) => {
        impl $crate::tables::columns::Stored for $row {
            fn add_columns(_: &'static str, columns: &mut Vec<$crate::tables::columns::Column>) {
                $($first::add_columns("id", columns);)?
                $(
                    let name = stored_fields!(@name $field $($column)?);
                    $crate::tables::described::add_field_columns(|row: &$row| &row.$field, name, columns);
                    $(
                        if let Some(column) = columns.last_mut() {
                            column.kind = $crate::tables::columns::ColumnKind::$kind;
                        }
                    )?
                )*
            }

            fn add_values<'v>(&'v self, values: &mut Vec<$crate::tables::columns::ColumnValue<'v>>) {
                $($first.add_values(values);)?
                let $row { $($field),* } = self;
                $($field.add_values(values);)*
            }

            fn read(
                row: &mut $crate::tables::columns::ColumnReader<'_>,
            ) -> Result<$row, $crate::tables::TableError> {
                $($first::read(row)?;)?
                Ok($row { $($field: $crate::tables::columns::Stored::read(row)?),* })
            }
        }
    };
}

/// Describes a table: its name, the fields of its rows as [`stored_fields`] has them, those of the key first, the key, and the indexes.
/// A table with `one row` has no key.
macro_rules! stored_table {
    (@row $table:ident, $row:ident, $key:ty, |$self:ident| $of:expr, $indexes:expr) => {
        impl $crate::tables::described::StoredRow for $row {
            type Key = $key;

            fn table() -> &'static $crate::tables::described::TableDescription {
                use $crate::tables::described::TableDescription;
                static TABLE: std::sync::LazyLock<TableDescription> =
                    std::sync::LazyLock::new(|| TableDescription::of::<$row>(stringify!($table), $indexes));
                &TABLE
            }

            fn key(&self) -> Self::Key {
                let $self = self;
                $of
            }
        }
    };
    ($table:ident: $row:ident { $($fields:tt)* }, one row) => {
        stored_fields! { [OnlyRow] $row { $($fields)* } }
        stored_table! { @row $table, $row, OnlyRow, |_row| OnlyRow, &[] }
    };
    (
        $table:ident: $row:ident { $($fields:tt)* }, key ($($($key:ident).+: $type:ty),+)
        $(, indexes [$($index:literal),* $(,)?])?
    ) => {
        stored_fields! { $row { $($fields)* } }
        stored_table! { @row $table, $row, ($($type,)+), |row| ($(Clone::clone(&row.$($key).+),)+), &[$($($index),*)?] }
    };
}

pub(super) use {stored_fields, stored_table};
