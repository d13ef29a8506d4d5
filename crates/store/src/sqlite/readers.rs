//! Reading beside the writer: a few connections of their own, each read a short snapshot on a blocking thread. A snapshot
//! keeps the log from being emptied, so a read that lasts too long is ended; what takes long is read in pages.

use crate::error::StoreError;
use crate::sqlite::schema;
use hermod_engine::tables::TableError;
use rusqlite::Connection;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Reads at the same time. More would only queue for the same two disks and cores.
const READERS: usize = 4;
/// How long one read may hold its snapshot. At 10,000 messages a second the log grows by less than 512 MiB in that time.
pub const SNAPSHOT_MAX: Duration = Duration::from_secs(5);
/// Steps of SQLite's machine between two looks at the time: a few milliseconds.
const STEPS_PER_LOOK: i32 = 50_000;

pub(crate) struct Readers {
    idle: Arc<Mutex<Vec<Reader>>>,
    free: Arc<Semaphore>,
}

struct Reader {
    connection: Connection,
    /// When the read under way began.
    began: Arc<Mutex<Instant>>,
}

impl Reader {
    fn open(folder: &Path, snapshot_max: Duration) -> Result<Reader, TableError> {
        let mut connection = schema::open_for_reading(folder)?;
        let began = Arc::new(Mutex::new(real_time()));
        let looked_at = began.clone();
        connection
            .progress_handler(STEPS_PER_LOOK, Some(move || lock(&looked_at).elapsed() > snapshot_max))?;
        Ok(Reader { connection, began })
    }

    fn run<T>(&self, read: impl FnOnce(&Connection) -> Result<T, TableError>) -> Result<T, StoreError> {
        *lock(&self.began) = real_time();
        read(&self.connection).map_err(|error| StoreError::from(error).or_too_long())
    }
}

/// A reader that is given back when this is dropped, by a read that panics too.
struct Lent {
    reader: Option<Reader>,
    idle: Arc<Mutex<Vec<Reader>>>,
    /// Dropped behind the reader: who takes the next permit finds it.
    _permit: OwnedSemaphorePermit,
}

impl Drop for Lent {
    fn drop(&mut self) {
        let Some(reader) = self.reader.take() else { return };
        // A read that panicked may have left a transaction open. Ending it cannot fail: it has written nothing.
        if !reader.connection.is_autocommit() {
            let _ = reader.connection.execute_batch("ROLLBACK");
        }
        lock(&self.idle).push(reader);
    }
}

impl Readers {
    pub(crate) fn open(folder: &Path) -> Result<Readers, StoreError> {
        Readers::open_limited(folder, SNAPSHOT_MAX)
    }

    fn open_limited(folder: &Path, snapshot_max: Duration) -> Result<Readers, StoreError> {
        let readers =
            (0..READERS).map(|_| Reader::open(folder, snapshot_max)).collect::<Result<_, TableError>>()?;
        Ok(Readers { idle: Arc::new(Mutex::new(readers)), free: Arc::new(Semaphore::new(READERS)) })
    }

    /// Reads under way end in peace; later ones find the store closed.
    pub(crate) fn close(&self) {
        self.free.close();
        lock(&self.idle).clear();
    }

    /// Runs a read on one of the connections. A read that lasts longer than [`SNAPSHOT_MAX`] is ended with
    /// [`StoreError::ReadTooLong`]. A read that panics ends with a fault, and its connection is used again.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        read: impl FnOnce(&Connection) -> Result<T, TableError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let permit = self.free.clone().acquire_owned().await.map_err(|_| StoreError::Closed)?;
        let idle = self.idle.clone();
        let reading = tokio::task::spawn_blocking(move || {
            let reader = lock(&idle).pop();
            let lent = Lent { reader, idle, _permit: permit };
            // None only if the store was closed between the permit and here.
            lent.reader.as_ref().map_or(Err(StoreError::Closed), |reader| reader.run(read))
        });
        reading.await.map_err(|_| StoreError::damaged("a read panicked"))?
    }
}

/// Returns the size of the database file, without its log.
pub(crate) fn database_bytes(connection: &Connection) -> Result<u64, TableError> {
    let pragma = |name: &str| connection.query_row(name, [], |row| row.get::<_, i64>(0));
    let (pages, page_bytes) = (pragma("PRAGMA page_count")?, pragma("PRAGMA page_size")?);
    Ok(pages.saturating_mul(page_bytes).cast_unsigned())
}

#[expect(clippy::disallowed_methods, reason = "the log grows in real time, whatever a test's clock says")]
fn real_time() -> Instant {
    Instant::now()
}

fn lock<T>(guarded: &Mutex<T>) -> MutexGuard<'_, T> {
    guarded.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ENDLESS: &str =
        "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n";

    #[tokio::test]
    async fn read_longer_than_the_limit_is_ended_and_its_connection_reads_on() {
        let folder = tempfile::TempDir::new().unwrap();
        drop(schema::open_for_writing(folder.path()).unwrap());
        let readers = Readers::open_limited(folder.path(), Duration::from_millis(20)).unwrap();
        // More often than there are connections: none is lost or left in a transaction.
        for _ in 0..=READERS {
            let endless = readers.run(|connection| {
                let snapshot = connection.unchecked_transaction()?;
                Ok(snapshot.query_row(ENDLESS, [], |row| row.get::<_, i64>(0))?)
            });
            let ended = endless.await;
            assert!(matches!(ended, Err(StoreError::ReadTooLong)), "{ended:?}");
        }
        let idle = readers.run(|connection| Ok(connection.is_autocommit())).await.unwrap();
        assert!(idle, "the snapshot ended with the read");
    }

    #[tokio::test]
    async fn read_that_panics_gives_its_connection_back_without_a_transaction() {
        let folder = tempfile::TempDir::new().unwrap();
        drop(schema::open_for_writing(folder.path()).unwrap());
        let readers = Readers::open(folder.path()).unwrap();
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
}
