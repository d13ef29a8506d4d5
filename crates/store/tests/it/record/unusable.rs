//! A record that cannot be used: it never prevents a start, and never answers with what is damaged.

use super::agrees;
use crate::world::*;
use hermod_store::record::{MessageFilter, Scope, SearchLimits};
use hermod_store::{OpenOptions, Store, StoreError};
use std::path::Path;

const MESSAGES: usize = 300;
/// Their index of open messages is one page.
const FEW_MESSAGES: usize = 20;

fn with_record(folder: &Path) -> OpenOptions {
    OpenOptions { record: true, ..options(folder, noon()) }
}

async fn search(store: &Store) -> Result<usize, StoreError> {
    let limits = SearchLimits { before: None, rows: 500 };
    Ok(store
        .record()
        .search_messages(Scope::Account(ALICE), MessageFilter::default(), limits)
        .await?
        .rows
        .len())
}

/// Closes the store, puts something in place of its record, and opens it again.
async fn reopened_with(world: &mut World, put: impl FnOnce(&Path)) {
    world.store.close().await.expect("the store closes");
    let record = world.path().join("record.db");
    std::fs::remove_file(&record).expect("the record is there");
    put(&record);
    world.store = Store::open(&with_record(world.path())).expect("the record does not prevent a start");
}

#[tokio::test]
async fn folder_in_place_of_the_record_is_moved_aside_with_its_content() {
    let mut world = World::with_record().await;
    world.send(world.sms()).await;
    for _ in 0..2 {
        reopened_with(&mut world, |record| {
            std::fs::create_dir(record).unwrap();
            std::fs::write(record.join("precious"), "content").unwrap();
        })
        .await;
        world.send(world.sms()).await;
        agrees(&world).await;
    }
    for aside in ["record.db.unusable", "record.db.unusable-2"] {
        let precious = world.path().join(aside).join("precious");
        assert_eq!(std::fs::read(precious).expect("it is kept"), b"content", "{aside}");
    }
    world.store.close().await.unwrap();
    world.assert_audit_clean();
}

#[tokio::test]
async fn record_that_cannot_be_opened_is_moved_aside_and_made_again() {
    let mut world = World::with_record().await;
    world.send(world.sms()).await;
    // As a file of another user, opening it fails.
    reopened_with(&mut world, |record| std::os::unix::fs::symlink(record, record).unwrap()).await;
    agrees(&world).await;
    assert_eq!(world.store.record().status().trouble, None, "it is complete again");
    reopened_with(&mut world, |record| std::fs::write(record, [9; 10_000]).unwrap()).await;
    agrees(&world).await;
    assert_eq!(search(&world.store).await.unwrap(), 1);
}

#[tokio::test]
async fn record_damaged_while_it_was_closed_is_made_again_before_it_answers() {
    let mut world = World::with_record().await;
    for _ in 0..MESSAGES {
        world.send(world.sms()).await;
    }
    world.store.close().await.unwrap();
    let record = world.path().join("record.db");
    let connection = rusqlite::Connection::open(&record).unwrap();
    let page: usize = connection
        .query_row("SELECT rootpage FROM sqlite_schema WHERE name = 'by_account'", [], |row| {
            row.get::<_, i64>(0).map(|page| usize::try_from(page).expect("a page"))
        })
        .unwrap();
    drop(connection);
    let mut bytes = std::fs::read(&record).unwrap();
    bytes[(page - 1) * 4096..page * 4096].fill(0xEE);
    std::fs::write(&record, bytes).unwrap();

    world.store = Store::open(&with_record(world.path())).expect("it opens");
    match search(&world.store).await {
        Err(StoreError::RecordUnavailable) => {}
        answered => assert!(world.path().join("record.db.unusable").exists(), "{answered:?} before a check"),
    }
    agrees(&world).await;
    assert!(world.path().join("record.db.unusable").exists());
    assert_eq!(search(&world.store).await.unwrap(), MESSAGES);
}

#[tokio::test]
async fn record_whose_index_differs_from_its_table_is_made_again() {
    let mut world = World::with_record().await;
    for _ in 0..FEW_MESSAGES {
        world.send(world.sms()).await;
    }
    world.store.close().await.unwrap();
    let record = world.path().join("record.db");
    let connection = rusqlite::Connection::open(&record).unwrap();
    let read = |row: &rusqlite::Row<'_>| row.get::<_, i64>(0);
    let page = connection
        .query_row("SELECT rootpage FROM sqlite_schema WHERE name = 'message_open'", [], read)
        .unwrap();
    drop(connection);
    let mut bytes = std::fs::read(&record).unwrap();
    let page = usize::try_from(page).expect("a page") * 4096;
    assert_eq!(bytes[page - 4096], 10, "a leaf page of an index: the whole index");
    // Part of the id of a message: the page itself remains valid.
    bytes[page - 1] ^= 1;
    std::fs::write(&record, bytes).unwrap();

    world.store = Store::open(&with_record(world.path())).expect("it opens");
    agrees(&world).await;
    assert!(world.path().join("record.db.unusable").exists());
    assert_eq!(search(&world.store).await.unwrap(), FEW_MESSAGES);
}

#[tokio::test]
async fn record_that_was_closed_in_order_answers_at_once_and_one_after_a_kill_after_its_check() {
    let mut world = World::with_record().await;
    world.send(world.sms()).await;
    world.restart().await;
    assert_eq!(search(&world.store).await.unwrap(), 1, "without a check");
    world.kill();
    agrees(&world).await;
    assert_eq!(search(&world.store).await.unwrap(), 1);
    assert!(!world.path().join("record.db.unusable").exists());
}
