//! Files of two histories in one folder: a backup copied over another data folder, a copy that went on by itself. What does not
//! fit is refused and changes nothing.

use crate::world::*;
use hermod_domain::money::Money;
use hermod_store::record::{MessageFilter, Scope, SearchLimits};
use hermod_store::{OpenOptions, Store};
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// Copies the files of a folder whose names satisfy `wanted`.
fn copy_files(from: &Path, to: &Path, wanted: impl Fn(&str) -> bool) {
    for file in std::fs::read_dir(from).expect("the folder").flatten() {
        let name = file.file_name();
        if wanted(&name.to_string_lossy()) {
            std::fs::copy(file.path(), to.join(name)).expect("a copy");
        }
    }
}

fn is_journal(name: &str) -> bool {
    name.starts_with("journal-")
}

async fn backup(store: &Store, folder: &TempDir, name: &str) -> PathBuf {
    let file = folder.path().join(name);
    store.copy_to(&file, noon).await.expect("a backup");
    file
}

fn restore(backup: &Path, folder: &Path) {
    std::fs::copy(backup, folder.join("hermod.db")).expect("the database is replaced");
}

fn refusal(folder: &Path) -> String {
    // Its header says how it is opened, and is changed by that.
    let pages = || std::fs::read(folder.join("hermod.db")).expect("the database").split_off(100);
    let before = pages();
    let refused = Store::open(&options(folder, noon())).err().expect("refused").to_string();
    assert!(refused.contains("nothing was changed") && refused.contains("an empty one"), "{refused}");
    // An audit does not need the mark.
    if !refused.contains("hermod.mark belongs") {
        let audited = Store::audit(folder).expect_err("not audited either").to_string();
        assert_eq!(audited, refused);
    }
    assert!(pages() == before, "it was changed");
    refused
}

async fn balance(store: &Store) -> i64 {
    store.money().balance(ALICE).await.expect("a balance").balance.as_micros()
}

fn history_of(folder: &Path) -> Vec<u8> {
    sqlite(folder).query_row("SELECT store FROM writer", [], |row| row.get(0)).expect("a history")
}

/// The original went on, and so did a restored copy of it, with fewer batches: the journal of the original seems to continue the
/// copy.
#[tokio::test]
async fn backup_of_a_restored_copy_over_the_original_with_its_journal_is_refused() {
    if on_postgres("files of the embedded store") {
        return;
    }
    let (world, backups) = (World::new().await, TempDir::new().unwrap());
    let first = backup(&world.store, &backups, "first.db").await;
    let other = TempDir::new().unwrap();
    restore(&first, other.path());
    let copy = Store::open(&options(other.path(), noon())).expect("a backup opens");
    top_up(&copy, 5).await;
    let second = backup(&copy, &backups, "second.db").await;
    let expected = balance(&copy).await;
    copy.close().await.unwrap();
    assert_ne!(history_of(other.path()), history_of(world.path()), "a restored copy begins a new history");
    for _ in 0..5 {
        world.send(world.sms()).await;
    }

    let folder = copy_of(world.path());
    restore(&second, folder.path());
    let refused = refusal(folder.path());
    assert!(refused.contains("hermod.db-wal belongs to another database"), "{refused}");
    std::fs::remove_file(folder.path().join("hermod.db-wal")).unwrap();
    let refused = refusal(folder.path());
    assert!(refused.contains("journal-") && refused.contains("belongs to another history"), "{refused}");
    for file in std::fs::read_dir(folder.path()).unwrap().flatten() {
        if is_journal(&file.file_name().to_string_lossy()) {
            std::fs::remove_file(file.path()).unwrap();
        }
    }
    let refused = refusal(folder.path());
    assert!(refused.contains("hermod.mark belongs to another history"), "{refused}");
    std::fs::remove_file(folder.path().join("hermod.mark")).unwrap();
    let store = Store::open(&options(folder.path(), noon())).expect("nothing of the other history is left");
    assert_eq!(balance(&store).await, expected);
    store.close().await.unwrap();
    assert_audit_clean(folder.path());
}

/// Both have the same history, because the folder was copied by hand. Only the checksum of the last batch tells them apart.
#[tokio::test]
async fn database_of_a_folder_copied_by_hand_over_the_original_is_refused() {
    if on_postgres("files of the embedded store") {
        return;
    }
    let mut world = World::new().await;
    world.store.close().await.unwrap();
    let other = TempDir::new().unwrap();
    copy_files(world.path(), other.path(), |_| true);
    let copy = Store::open(&options(other.path(), noon())).expect("a copied folder opens");
    top_up(&copy, 5).await;
    copy.close().await.unwrap();
    world.reopen();
    for _ in 0..5 {
        world.send(world.sms()).await;
    }
    world.store.close().await.unwrap();
    restore(&other.path().join("hermod.db"), world.path());
    let refused = refusal(world.path());
    assert!(refused.contains("is not the one that the database has"), "{refused}");
}

/// As with a copy that `cp` made of a stopped gateway's database: the log of the crashed folder belongs to its own database, and
/// SQLite would apply it.
#[tokio::test]
async fn database_that_was_closed_is_refused_beside_the_log_of_a_crashed_folder() {
    if on_postgres("files of the embedded store") {
        return;
    }
    let mut world = World::new().await;
    world.send(world.sms()).await;
    world.store.close().await.unwrap();
    let backups = TempDir::new().unwrap();
    copy_files(world.path(), backups.path(), |name| name == "hermod.db");
    let closed = backups.path().join("hermod.db");

    world.reopen();
    for _ in 0..5 {
        world.send(world.sms()).await;
    }
    // A read makes the writer flush into the log.
    balance(&world.store).await;
    let crashed = copy_of(world.path());
    assert!(std::fs::metadata(crashed.path().join("hermod.db-wal")).unwrap().len() > 0);
    let folder = TempDir::new().unwrap();
    copy_files(crashed.path(), folder.path(), |_| true);
    restore(&closed, folder.path());
    let refused = refusal(folder.path());
    assert!(refused.contains("hermod.db-wal belongs to another database"), "{refused}");

    // Its own database opens with that log.
    let store = Store::open(&options(crashed.path(), noon())).expect("it opens after a crash");
    assert_eq!(balance(&store).await, balance(&world.store).await);
    store.close().await.unwrap();
    assert_audit_clean(crashed.path());
}

/// The journal begins where the backup ends, or before: it completes the backup. This is the only journal that a restored backup
/// accepts.
#[tokio::test]
async fn older_backup_of_the_same_store_is_completed_by_its_journal_or_refused() {
    if on_postgres("files of the embedded store") {
        return;
    }
    let (mut world, backups) = (World::new().await, TempDir::new().unwrap());
    let history = history_of(world.path());
    let older = backup(&world.store, &backups, "older.db").await;
    let message = world.send(world.sms()).await;
    let newest = balance(&world.store).await;
    let folder = copy_of(world.path());
    std::fs::remove_file(folder.path().join("hermod.db-wal")).unwrap();
    restore(&older, folder.path());
    let store = Store::open(&options(folder.path(), noon())).expect("its journal continues it");
    assert_eq!(balance(&store).await, newest);
    assert!(store.messages().find(ALICE, message).await.unwrap().is_some());
    store.close().await.unwrap();
    assert_ne!(history_of(folder.path()), history);
    assert_audit_clean(folder.path());

    // After a restart the journal begins later than the backup ends.
    world.restart().await;
    world.send(world.sms()).await;
    world.store.close().await.unwrap();
    let folder = copy_of(world.path());
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(folder.path()).unwrap().flatten().map(|file| file.path()).collect();
    files.retain(|file| is_journal(&file.file_name().unwrap().to_string_lossy()));
    files.sort();
    let begun = files.iter().rposition(|file| std::fs::read(file).unwrap().starts_with(b"hermod.j")).unwrap();
    for file in &files[..begun] {
        std::fs::remove_file(file).unwrap();
    }
    restore(&older, folder.path());
    let refused = Store::open(&options(folder.path(), noon())).err().expect("refused").to_string();
    assert!(refused.contains("are missing"), "{refused}");
}

#[tokio::test]
async fn record_of_another_history_is_set_aside_and_never_read() {
    if on_postgres("files of the embedded store") {
        return;
    }
    let (world, backups) = (World::with_record().await, TempDir::new().unwrap());
    let first = backup(&world.store, &backups, "first.db").await;
    let only_there = world.send(world.sms()).await;
    world.store.close().await.unwrap();

    let folder = TempDir::new().unwrap();
    restore(&first, folder.path());
    let copy = Store::open(&options(folder.path(), noon())).expect("a backup opens");
    for _ in 0..5 {
        top_up(&copy, 5).await;
    }
    copy.close().await.unwrap();
    copy_files(world.path(), folder.path(), |name| name == "record.db");
    let with_record = OpenOptions { record: true, ..options(folder.path(), noon()) };
    let store = Store::open(&with_record).expect("it opens without that record");
    store.record().flush().await.unwrap();
    let limits = SearchLimits { before: None, rows: 10 };
    let page = store.record().search_messages(Scope::All, MessageFilter::default(), limits).await.unwrap();
    assert!(page.rows.is_empty(), "{only_there} is a message of the other history");
    assert!(folder.path().join("record.db.unusable").exists());
    assert_eq!(balance(&store).await, Money::from_micros(1_000_000_025).as_micros());
    store.close().await.unwrap();
}
