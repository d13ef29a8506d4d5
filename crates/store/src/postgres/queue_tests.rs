//! Unit tests of `queue.rs`.

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
    let ordered =
        [("ledger", 0, add), ("ledger", 0, add), ("ledger", 0, put), ("ledger", 0, add), ("ledger", 0, add)];
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
