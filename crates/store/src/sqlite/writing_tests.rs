//! Tests of the writing connection: batches, flushes, and the recovery of batches that only the journal has.

use super::*;
use crate::sqlite::recovery::complete_database;
use hermod_domain::ids::AccountId;
use hermod_domain::money::Money;
use hermod_engine::ops::Balance;
use hermod_engine::tables::{BalanceRow, RowChange};
use tempfile::TempDir;

fn open(folder: &TempDir) -> WritingConnection {
    WritingConnection::open(folder.path(), Arc::default()).expect("the database opens")
}

/// Adds a balance row in the batch that was begun.
fn add_balance(database: &WritingConnection, account: u32) {
    let tables = database.tables();
    let balance = Balance { balance: Money::ZERO, credit_used: Money::ZERO };
    tables.write(RowChange::Put(BalanceRow { account: AccountId::new(account), balance }));
    tables.finish().expect("a new row");
}

fn commit_balance(database: &WritingConnection, account: u32) {
    let batch = database.begin().expect("a batch");
    add_balance(database, account);
    batch.commit().expect("a commit");
}

fn number(connection: &Connection, query: &str) -> i64 {
    connection.query_row(query, [], |row| row.get(0)).expect("a number")
}

fn balances(connection: &Connection) -> i64 {
    number(connection, "SELECT count(*) FROM balance")
}

#[test]
fn batch_without_changes_is_not_in_the_journal() {
    let folder = TempDir::new().unwrap();
    let database = open(&folder);
    database.begin().unwrap().commit().unwrap();
    assert_eq!(database.journal.borrow().last_sequence(), 0);
    commit_balance(&database, 1);
    assert_eq!(database.journal.borrow().last_sequence(), 1);
    database.flush();
    assert_eq!(number(&database.connection, "SELECT commits FROM writer"), 1);
}

#[test]
fn rollback_and_drop_undo_one_batch_and_keep_those_before() {
    let folder = TempDir::new().unwrap();
    let database = open(&folder);
    commit_balance(&database, 1);
    let batch = database.begin().unwrap();
    add_balance(&database, 2);
    database.roll_back().unwrap();
    assert_eq!(balances(&database.connection), 1);
    database.roll_back().unwrap();
    drop(batch);
    let batch = database.begin().unwrap();
    add_balance(&database, 3);
    drop(batch);
    assert_eq!(balances(&database.connection), 1);
    commit_balance(&database, 4);
    assert_eq!(balances(&database.connection), 2);
    assert_eq!(database.journal.borrow().last_sequence(), 2, "undone batches are not in the journal");
}

#[test]
fn readers_see_batches_after_the_flush() {
    let folder = TempDir::new().unwrap();
    let database = open(&folder);
    let reader = schema::open_for_reading(folder.path()).unwrap();
    commit_balance(&database, 1);
    assert_eq!(balances(&reader), 0);
    assert!(database.next_upkeep().is_some(), "a flush is due later");
    database.flush();
    assert_eq!((balances(&reader), database.progress.visible()), (1, 1));
    assert!(database.next_upkeep().is_none());
}

#[test]
fn batches_that_were_not_flushed_are_recovered_from_the_journal() {
    let folder = TempDir::new().unwrap();
    let database = open(&folder);
    commit_balance(&database, 1);
    database.flush();
    (2..=4).for_each(|account| commit_balance(&database, account));
    // Without a flush, as after a kill.
    drop(database);
    let reader = schema::open_for_reading(folder.path()).unwrap();
    assert_eq!(balances(&reader), 1);

    let database = open(&folder);
    assert_eq!((balances(&reader), database.progress.durable()), (4, 4));
    commit_balance(&database, 5);
    assert_eq!(database.journal.borrow().last_sequence(), 5, "the numbers continue");
}

#[test]
fn batches_are_applied_again_after_sqlite_ended_the_transaction() {
    let folder = TempDir::new().unwrap();
    let database = open(&folder);
    (1..=3).for_each(|account| commit_balance(&database, account));
    let batch = database.begin().unwrap();
    add_balance(&database, 4);
    // A full disk or an I/O error makes SQLite do the same.
    database.connection.execute_batch("ROLLBACK").unwrap();
    drop(batch);
    assert_eq!(balances(&database.connection), 3, "the committed batches, without the one that was undone");
    commit_balance(&database, 5);
    database.flush();
    let reader = schema::open_for_reading(folder.path()).unwrap();
    assert_eq!(balances(&reader), 4);
}

#[test]
fn lost_end_of_the_journal_is_noticed() {
    let folder = TempDir::new().unwrap();
    let database = open(&folder);
    commit_balance(&database, 1);
    drop(database);
    for file in std::fs::read_dir(folder.path()).unwrap().flatten() {
        if file.file_name().to_string_lossy().starts_with("journal-") {
            std::fs::remove_file(file.path()).unwrap();
        }
    }
    let refused = WritingConnection::open(folder.path(), Arc::default()).err();
    assert!(matches!(refused, Some(StoreError::Behind { acknowledged: 1, found: 0, .. })), "{refused:?}");
}

#[test]
fn audit_of_a_stopped_folder_applies_the_journal_and_leaves_its_files() {
    let folder = TempDir::new().unwrap();
    let database = open(&folder);
    (1..=3).for_each(|account| commit_balance(&database, account));
    drop(database);
    let files = || {
        let mut names: Vec<_> =
            std::fs::read_dir(folder.path()).unwrap().flatten().map(|file| file.file_name()).collect();
        names.retain(|name| name.to_string_lossy().starts_with("journal-"));
        names.sort();
        names
    };
    let before = files();
    complete_database(folder.path()).unwrap();
    assert_eq!(files(), before);
    let reader = schema::open_for_reading(folder.path()).unwrap();
    assert_eq!(balances(&reader), 3);
    drop(reader);
    let database = open(&folder);
    commit_balance(&database, 4);
    assert_eq!((balances(&database.connection), database.journal.borrow().last_sequence()), (4, 4));
}
