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
mod tests {
    use super::*;

    fn push(queue: &mut ChangeQueue, key: RowKey, sql: &str, types: &[Type], values: Vec<Value>) -> bool {
        queue.push(
            key,
            QueuedStatement { sql: &Arc::from(sql), types, takes_arrays: false, adds: sql == "add " },
            values,
        )
    }

    /// Adds changes of rows by statements named by a letter. Returns the statements with the number of their rows.
    fn groups(changes: &[(&'static str, i64, &str)]) -> Vec<String> {
        let mut queue = ChangeQueue::default();
        for (table, row, sql) in changes {
            let key = RowKey { table, row: *row };
            assert!(push(&mut queue, key, sql, &[Type::INT8], vec![Value::Integer(*row)]));
        }
        let rows = |group: &Group| match &group.columns[0] {
            ColumnValues::Numbers(numbers) => numbers.len(),
            other => panic!("{other:?}"),
        };
        queue.take().iter().map(|group| format!("{}{}", group.sql, rows(group))).collect()
    }

    #[test]
    fn lives_of_many_rows_become_one_statement_per_kind() {
        let (add, put, delete) = ("insert ", "update ", "delete ");
        let lives = [
            ("part", 1, add),
            ("part", 2, add),
            ("part", 1, put),
            ("part", 3, add),
            ("part", 2, put),
            ("part", 1, delete),
            ("part", 3, put),
        ];
        assert_eq!(groups(&lives), ["insert 3", "update 3", "delete 1"]);
    }

    #[test]
    fn changes_of_one_row_keep_their_order() {
        let again =
            [("part", 1, "delete "), ("part", 1, "insert "), ("part", 1, "delete "), ("part", 2, "insert ")];
        assert_eq!(groups(&again), ["delete 1", "insert 2", "delete 1"]);
        let twice = [("part", 1, "update "), ("part", 1, "update "), ("part", 2, "update ")];
        assert_eq!(groups(&twice), ["update 2", "update 1"], "a statement changes a row at most once");
        let (add, put) = ("add ", "update ");
        let ordered = [
            ("ledger", 0, add),
            ("ledger", 0, add),
            ("ledger", 0, put),
            ("ledger", 0, add),
            ("ledger", 0, add),
        ];
        assert_eq!(groups(&ordered), ["add 2", "update 1", "add 2"]);
    }

    #[test]
    fn tables_do_not_wait_for_each_other() {
        let both = [("part", 1, "insert "), ("message", 1, "add "), ("part", 2, "insert ")];
        assert_eq!(groups(&both), ["insert 2", "add 1"]);
    }

    #[test]
    fn full_queue_is_empty_again_after_its_changes_are_taken() {
        let mut queue = ChangeQueue::default();
        for row in 0..CHANGES_MAX {
            assert!(!queue.is_full(), "{row}");
            let key = RowKey { table: "part", row: i64::try_from(row).unwrap() };
            assert!(push(&mut queue, key, "insert", &[Type::INT8], vec![Value::Integer(key.row)]));
        }
        assert!(queue.is_full());
        assert_eq!(queue.take().len(), 1);
        assert!(queue.is_empty() && !queue.is_full());
    }

    #[test]
    fn value_of_another_type_is_noticed() {
        let mut queue = ChangeQueue::default();
        let key = RowKey { table: "part", row: 1 };
        assert!(!push(&mut queue, key, "insert", &[Type::INT8], vec![Value::Text("x".into())]));
        assert!(!push(&mut queue, key, "insert", &[Type::INT8], vec![]));
        assert!(!push(&mut queue, key, "insert", &[Type::BOOL], vec![Value::Null]));
    }
}
