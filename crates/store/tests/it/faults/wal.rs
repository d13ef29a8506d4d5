//! The write-ahead log grows during a long read and is truncated afterwards. Copies are made without holding
//! a snapshot, so that they do not let it grow.

use super::disk_full::{LOW_WATER_BYTES, SmallDisk, opened_on, wait_until_accepting};
use crate::world::*;
use hermod_store::{Acceptance, Store, StoreError};
use rusqlite::config::DbConfig;
use std::path::Path;
use tempfile::TempDir;

/// The size to which the log is truncated on a nearly full disk.
const SMALL_LOG_BYTES: u64 = 4 * 1024 * 1024;

fn log_bytes(folder: &Path) -> u64 {
    std::fs::metadata(folder.join("hermod.db-wal")).map_or(0, |file| file.len())
}

/// Opens a read transaction, which holds a snapshot.
fn hold_snapshot(folder: &Path) -> rusqlite::Connection {
    let reader = sqlite(folder);
    // Closes without a checkpoint, like a killed process.
    reader.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true).expect("a setting");
    reader.execute_batch("BEGIN; SELECT count(*) FROM message").expect("a snapshot");
    reader
}

/// Sends while a snapshot is held, until the log has filled the disk up to the low-water mark.
async fn fill_disk_with_log(world: &World, folder: &Path) {
    for _ in 0..20_000 {
        world.store.measure_disk();
        match world.store.accept(world.sms()).await {
            // A read makes the writer flush, which makes the log longer.
            Ok(_) => drop(world.store.money().balance(ALICE).await),
            Err(StoreError::DiskLow) => {
                assert!(log_bytes(folder) > 2 * SMALL_LOG_BYTES, "the log fills the disk");
                return;
            }
            Err(other) => panic!("not DiskLow: {other:?}"),
        }
    }
    panic!("the log never filled the disk");
}

#[tokio::test]
async fn log_grown_by_a_long_read_is_truncated_once_the_reader_has_gone() {
    if on_postgres("the log and copies of the embedded store") {
        return;
    }
    let disk = SmallDisk::of(32 * 1024 * 1024);
    let world = opened_on(&disk, LOW_WATER_BYTES).await;
    let folder = disk.folder();
    let reader = hold_snapshot(&folder);
    fill_disk_with_log(&world, &folder).await;
    wait_until("the log is overgrown", || world.store.log_size().overgrown).await;
    drop(reader);
    wait_until_accepting(&world).await;
    assert!(log_bytes(&folder) < SMALL_LOG_BYTES, "{} bytes", log_bytes(&folder));
    wait_until("the log is small again", || !world.store.log_size().overgrown).await;
    world.store.close().await.unwrap();
    assert_audit_clean(&folder);
}

#[tokio::test]
async fn log_of_a_killed_process_is_truncated_at_the_next_start() {
    if on_postgres("the log and copies of the embedded store") {
        return;
    }
    let disk = SmallDisk::of(32 * 1024 * 1024);
    let world = opened_on(&disk, LOW_WATER_BYTES).await;
    let folder = disk.folder();
    let reader = hold_snapshot(&folder);
    fill_disk_with_log(&world, &folder).await;
    // While a reader is open, closing cannot empty the log: the files are as after a kill.
    world.store.close().await.unwrap();
    drop(reader);
    assert!(log_bytes(&folder) > 2 * SMALL_LOG_BYTES);

    let options = hermod_store::OpenOptions { low_water_bytes: LOW_WATER_BYTES, ..options(&folder, noon()) };
    let store = Store::open(&options).expect("it opens again");
    assert!(log_bytes(&folder) < SMALL_LOG_BYTES, "{} bytes", log_bytes(&folder));
    assert!(store.is_accepting(), "there is room again");
    store.close().await.unwrap();
    assert_audit_clean(&folder);
}

/// Enlarges the database so that copying it takes a while.
fn add_ballast(world: &World) {
    world
        .sqlite()
        .execute_batch(
            "CREATE TABLE ballast (it BLOB);
             WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 96)
             INSERT INTO ballast SELECT zeroblob(1048576) FROM n;
             PRAGMA wal_checkpoint(TRUNCATE)",
        )
        .expect("ballast");
}

/// Copies the store and sends meanwhile, counting in `accepted`. Returns the copy, and whether the log was restarted meanwhile.
async fn copy_while_sending(world: &World, accepted: &mut u64) -> (TempDir, bool) {
    let elsewhere = TempDir::new().expect("a folder");
    let copy = elsewhere.path().join("hermod.db");
    let (store, file) = (world.store.clone(), copy.clone());
    let mut copying = tokio::task::JoinSet::from_iter([async move { store.copy_to(&file, noon).await }]);
    while !std::fs::metadata(&copy).is_ok_and(|file| file.len() > 0) {
        tokio::task::yield_now().await;
    }
    // Accepted once its first pages are copied: the last pages of the database and some in its middle change.
    let mut restarted = false;
    while copying.try_join_next().map(|copied| copied.expect("no panic").expect("a copy")).is_none() {
        world.send(Acceptance { key: Some(key(*accepted)), ..world.sms() }).await;
        *accepted += 1;
        let busy: i64 = world
            .sqlite()
            .query_row("PRAGMA wal_checkpoint(RESTART)", [], |row| row.get(0))
            .expect("a checkpoint");
        restarted |= busy == 0;
    }
    (elsewhere, restarted)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn copy_of_an_open_store_holds_no_snapshot_and_contains_messages_accepted_meanwhile() {
    if on_postgres("the log and copies of the embedded store") {
        return;
    }
    let world = World::new().await;
    world.send(world.sms()).await;
    add_ballast(&world);
    let mut accepted = 1;
    let copied = within(PATIENCE, async {
        // A copy may end before anything else happens; the next one then has a chance.
        loop {
            let before = accepted;
            let (copy, restarted) = copy_while_sending(&world, &mut accepted).await;
            if accepted > before + 1 && restarted {
                return (copy, before);
            }
        }
    });
    let (elsewhere, before) =
        copied.await.expect("messages are accepted, and the log restarts, during a copy");
    let report = Store::audit(elsewhere.path()).expect("an audit of the copy");
    assert!(report.is_clean(), "{:#?}", report.violations);
    // Messages accepted while the finished copy is synced are not in it.
    assert!((before + 1..=accepted).contains(&report.messages), "{} of {accepted}", report.messages);
    let second = world.store.copy_to(&elsewhere.path().join("second.db"), noon).await;
    assert!(second.is_ok(), "a second copy starts after the first ended: {second:?}");
    world.store.close().await.unwrap();
    world.assert_audit_clean();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn copy_whose_caller_is_gone_is_cancelled_and_removed() {
    if on_postgres("the log and copies of the embedded store") {
        return;
    }
    let world = World::new().await;
    add_ballast(&world);
    let elsewhere = TempDir::new().expect("a folder");
    let copy = elsewhere.path().join("hermod.db");
    let cancelled = within(PATIENCE, async {
        // A copy may end before it is cancelled; the next one then has a chance.
        loop {
            let (store, file) = (world.store.clone(), copy.clone());
            let mut copying =
                tokio::task::JoinSet::from_iter([async move { store.copy_to(&file, noon).await }]);
            while !copy.exists() {
                tokio::task::yield_now().await;
            }
            let second = world.store.copy_to(&elsewhere.path().join("second.db"), noon).await;
            let was_in_progress = matches!(second, Err(StoreError::CopyInProgress));
            copying.abort_all();
            if copying.join_next().await.expect("a copy").is_err_and(|end| end.is_cancelled())
                && was_in_progress
            {
                return;
            }
            drop(std::fs::remove_file(&copy));
            drop(std::fs::remove_file(elsewhere.path().join("second.db")));
        }
    });
    cancelled.await.expect("a copy is cancelled before it ends");
    wait_until("the copy is removed", || !copy.exists()).await;
    world.send(world.sms()).await;
    world.store.close().await.unwrap();
    world.assert_audit_clean();
}

#[tokio::test]
async fn copy_larger_than_the_free_space_is_rejected_and_a_closed_store_is_copied_directly() {
    if on_postgres("the log and copies of the embedded store") {
        return;
    }
    let disk = SmallDisk::of(32 * 1024 * 1024);
    let world = World::new().await;
    add_ballast(&world);
    let refused = world.store.copy_to(&disk.folder().with_file_name("copy.db"), noon).await;
    assert!(matches!(refused, Err(StoreError::NoRoomForCopy { .. })), "{refused:?}");
    world.send(world.sms()).await;
    world.store.close().await.unwrap();
    let elsewhere = TempDir::new().expect("a folder");
    Store::backup(world.path(), &elsewhere.path().join("hermod.db"), noon()).expect("a backup");
    let report = Store::audit(elsewhere.path()).expect("an audit of the copy");
    assert_eq!((report.is_clean(), report.messages), (true, 1));
}
