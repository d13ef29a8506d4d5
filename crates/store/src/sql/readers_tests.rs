//! Unit tests of `readers.rs`.

use super::*;
use crate::sqlite::schema;

const ENDLESS: &str =
    "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n";

#[tokio::test]
async fn read_longer_than_the_limit_is_stopped_and_its_connection_is_reused() {
    let folder = tempfile::TempDir::new().unwrap();
    drop(schema::open_for_writing(folder.path()).unwrap());
    let open = || schema::open_for_reading(folder.path());
    let readers = Readers::open_limited(open, Duration::from_millis(20)).unwrap();
    // One more than there are connections: none is lost or left in a transaction.
    for _ in 0..=READERS {
        let endless = readers.run(|connection| {
            let snapshot = connection.snapshot()?;
            Ok(snapshot.query_row(ENDLESS, [], |row| row.get::<i64>(0))?)
        });
        let ended = endless.await;
        assert!(matches!(ended, Err(StoreError::ReadTooLong)), "{ended:?}");
    }
    let idle = readers.run(|connection| Ok(connection.is_autocommit())).await.unwrap();
    assert!(idle, "the snapshot ended with the read");
}

#[tokio::test]
async fn panicking_read_returns_its_connection_without_a_transaction() {
    let folder = tempfile::TempDir::new().unwrap();
    drop(schema::open_for_writing(folder.path()).unwrap());
    let readers = Readers::open_with(|| schema::open_for_reading(folder.path())).unwrap();
    for _ in 0..=READERS {
        let panicking = readers.run(|connection| -> Result<(), TableError> {
            connection.execute_batch("BEGIN; SELECT count(*) FROM message")?;
            panic!("a read of a test that panics")
        });
        let ended = panicking.await;
        assert!(matches!(ended, Err(StoreError::Damaged { .. })), "{ended:?}");
    }
    for _ in 0..READERS {
        let idle = readers.run(|connection| Ok(connection.is_autocommit())).await.unwrap();
        assert!(idle, "the snapshot ended with the read");
    }
}
