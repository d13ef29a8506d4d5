//! The rows of described tables, and their changes.

use super::table::Table;
use hermod_engine::tables::{ColumnRange, ColumnReader, ColumnValue, RowChange, StoredRow};
use std::fmt;
use std::ops::{Deref, DerefMut};

/// A row whose text form has every column.
#[derive(Clone)]
pub(crate) struct Described<R>(R);

impl<R> Deref for Described<R> {
    type Target = R;

    fn deref(&self) -> &R {
        &self.0
    }
}

impl<R> DerefMut for Described<R> {
    fn deref_mut(&mut self) -> &mut R {
        &mut self.0
    }
}

impl<R: StoredRow> fmt::Debug for Described<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.values().fmt(f)
    }
}

impl<R: StoredRow> Table<R::Key, Described<R>> {
    /// Applies a change. Panics where SQL would fail or change nothing.
    #[track_caller]
    pub(super) fn change_row(&mut self, change: &RowChange<R>) {
        match change {
            RowChange::Add(row) => self.add(row.key(), Described(row.clone())),
            RowChange::Put(row) => self.put(row.key(), Described(row.clone())),
            RowChange::Merge(row, columns) => match self.get(&row.key()) {
                Some(there) => self.put(row.key(), Described(merged(there, row, columns))),
                None => self.add(row.key(), Described(row.clone())),
            },
            RowChange::Delete(key) => drop(self.delete(key)),
            RowChange::DeleteIn(ranges) => drop(self.delete_where(|_, row| is_in(&**row, ranges))),
        }
    }
}

/// Returns a row with these columns of another.
fn merged<R: StoredRow>(there: &R, row: &R, columns: &[u8]) -> R {
    let (mut values, others) = (there.values(), row.values());
    columns
        .iter()
        .map(|column| usize::from(*column))
        .for_each(|column| values[column] = others[column].clone());
    R::read(&mut ColumnReader::new(&|column| Ok(values[column].clone()))).expect("columns of two rows")
}

fn is_in<R: StoredRow>(row: &R, ranges: &[ColumnRange]) -> bool {
    let values = row.values();
    ranges.iter().all(|ColumnRange { column, first, last }| match values[usize::from(*column)] {
        ColumnValue::Number(number) => (*first..=*last).contains(&number),
        _ => false,
    })
}
