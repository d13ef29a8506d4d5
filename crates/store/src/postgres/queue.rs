//! Changes of a transaction that are sent together: one statement with arrays for many rows.
//!
//! Changes of different tables may be sent in any order. Within a table the changes of one row keep their order: a change joins
//! the first group of its statement behind the group that has the row's last change. A batch of a few hundred commands becomes
//! a handful of statements.

use super::values::ColumnValues;
use hermod_engine::maps::HashMap;
use rusqlite::types::Value;
use std::sync::Arc;
use tokio_postgres::types::Type;

/// Changes that are held at once: those of several batches under load.
const CHANGES_MAX: usize = 20_000;

/// The row that a change is about: its table, and a number that rows share only if they may stay in order for it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RowKey {
    pub(crate) table: &'static str,
    pub(crate) row: i64,
}

/// A statement of a change.
#[derive(Clone, Copy)]
pub(super) struct QueuedStatement<'s> {
    pub(super) sql: &'s Arc<str>,
    /// Of its parameters.
    pub(super) types: &'s [Type],
    /// Whether it is PostgreSQL's own and takes arrays; otherwise it has to be translated.
    pub(super) takes_arrays: bool,
    /// Whether it only adds rows whose keys no rows have: one statement may add several.
    pub(super) adds: bool,
}

/// Rows with the same statement.
pub(super) struct Group {
    pub(super) sql: Arc<str>,
    pub(super) takes_arrays: bool,
    pub(super) columns: Vec<ColumnValues>,
}

#[derive(Default)]
struct TableChanges {
    groups: Vec<Group>,
    /// The group with the last change of each row.
    last: HashMap<i64, usize>,
}

#[derive(Default)]
pub(super) struct ChangeQueue {
    tables: Vec<(&'static str, TableChanges)>,
    changes: usize,
}

impl ChangeQueue {
    pub(super) fn is_empty(&self) -> bool {
        self.tables.is_empty()
    }

    /// Whether it holds as many changes as it may; they are then sent before the end of the batch.
    pub(super) fn is_full(&self) -> bool {
        self.changes >= CHANGES_MAX
    }

    /// Adds a change. Returns false if the values do not fit the types of the parameters.
    pub(super) fn push(&mut self, key: RowKey, statement: QueuedStatement<'_>, values: Vec<Value>) -> bool {
        let QueuedStatement { sql, types, takes_arrays, adds } = statement;
        if types.len() != values.len() {
            return false;
        }
        let at = self.tables.iter().position(|(table, _)| *table == key.table).unwrap_or_else(|| {
            self.tables.push((key.table, TableChanges::default()));
            self.tables.len() - 1
        });
        let changes = &mut self.tables[at].1;
        let first = changes.last.get(&key.row).map_or(0, |last| last + usize::from(!adds));
        let found = (first..changes.groups.len()).find(|index| changes.groups[*index].sql == *sql);
        let index = match found {
            Some(index) => index,
            None => {
                let Some(columns) = types.iter().map(ColumnValues::new).collect() else { return false };
                changes.groups.push(Group { sql: sql.clone(), takes_arrays, columns });
                changes.groups.len() - 1
            }
        };
        self.changes += 1;
        changes.last.insert(key.row, index);
        let group = &mut changes.groups[index];
        // All values are added, so that the columns keep the same length.
        values
            .into_iter()
            .zip(&mut group.columns)
            .fold(true, |fits, (value, column)| column.push(value) && fits)
    }

    /// Returns the groups in an order in which they may be sent.
    pub(super) fn take(&mut self) -> Vec<Group> {
        self.changes = 0;
        self.tables.drain(..).flat_map(|(_, changes)| changes.groups).collect()
    }

    pub(super) fn clear(&mut self) {
        self.tables.clear();
        self.changes = 0;
    }
}

#[cfg(test)]
#[path = "queue_tests.rs"]
mod tests;
