//! Reads beside the writer: a few connections, each read on a blocking thread in one short snapshot. A snapshot prevents the log
//! from being truncated, so a read that lasts too long is stopped; long reads are split into pages.

use crate::error::StoreError;
use crate::sql::Connection;
use hermod_engine::tables::TableError;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Maximum number of concurrent reads. More would only compete for the same disk and cores.
const READERS: usize = 4;
/// Maximum duration of a read. At 10,000 messages a second the log grows by less than 512 MiB in that time.
const SNAPSHOT_MAX: Duration = Duration::from_secs(5);
/// Virtual machine instructions of SQLite between two checks of the time: a few milliseconds.
const STEPS_PER_CHECK: i32 = 50_000;

pub(crate) struct Readers {
    idle: Arc<Mutex<Vec<Reader>>>,
    free: Arc<Semaphore>,
}

struct Reader {
    connection: Connection,
    /// When the current read began.
    began: Arc<Mutex<Instant>>,
}

impl Reader {
    fn new(mut connection: Connection, snapshot_max: Duration) -> Result<Reader, TableError> {
        let began = Arc::new(Mutex::new(real_time()));
        let read_began = began.clone();
        if let Connection::Sqlite(connection) = &mut connection {
            connection.progress_handler(
                STEPS_PER_CHECK,
                Some(move || lock(&read_began).elapsed() > snapshot_max),
            )?;
        }
        Ok(Reader { connection, began })
    }

    /// Runs a read. Fails with [`StoreError::ReadTooLong`] after the maximum duration.
    fn run<T>(&self, read: impl FnOnce(&Connection) -> Result<T, TableError>) -> Result<T, StoreError> {
        *lock(&self.began) = real_time();
        read(&self.connection).map_err(|error| StoreError::from(error).or_too_long())
    }
}

/// A reader in use. Dropping this returns it to the pool, also after a panic.
struct Lent {
    reader: Option<Reader>,
    idle: Arc<Mutex<Vec<Reader>>>,
    /// Released after the reader is back in the pool, so that the next holder finds it.
    _permit: OwnedSemaphorePermit,
}

impl Drop for Lent {
    fn drop(&mut self) {
        let Some(reader) = self.reader.take() else { return };
        // A read that panicked may have left a transaction open. The rollback cannot fail: nothing was written.
        if !reader.connection.is_autocommit() {
            let _ = reader.connection.roll_back();
        }
        lock(&self.idle).push(reader);
    }
}

impl Readers {
    /// Opens readers by this function.
    pub(crate) fn open_with(
        open: impl FnMut() -> Result<Connection, TableError>,
    ) -> Result<Readers, StoreError> {
        Readers::open_limited(open, SNAPSHOT_MAX)
    }

    fn open_limited(
        mut open: impl FnMut() -> Result<Connection, TableError>,
        snapshot_max: Duration,
    ) -> Result<Readers, StoreError> {
        let readers =
            (0..READERS).map(|_| Reader::new(open()?, snapshot_max)).collect::<Result<_, TableError>>()?;
        Ok(Readers { idle: Arc::new(Mutex::new(readers)), free: Arc::new(Semaphore::new(READERS)) })
    }

    /// Makes later reads fail with [`StoreError::Closed`]. Running reads complete.
    pub(crate) fn close(&self) {
        self.free.close();
        lock(&self.idle).clear();
    }

    /// Closes all connections if none is in use. Returns false otherwise; later reads fail in both cases.
    pub(crate) fn try_close(&self) -> bool {
        self.free.close();
        let mut idle = lock(&self.idle);
        idle.clear();
        drop(idle);
        self.free.available_permits() == READERS
    }

    /// Waits for a free connection and runs a read on it. Fails with [`StoreError::ReadTooLong`] if the read lasts longer than
    /// [`SNAPSHOT_MAX`], and with [`StoreError::Damaged`] if it panics. The connection is used again in both cases.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        read: impl FnOnce(&Connection) -> Result<T, TableError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let permit = self.free.clone().acquire_owned().await.map_err(|_| StoreError::Closed)?;
        let idle = self.idle.clone();
        let reading = tokio::task::spawn_blocking(move || {
            let reader = lock(&idle).pop();
            let lent = Lent { reader, idle, _permit: permit };
            // `None` only if the store was closed after the permit was taken.
            lent.reader.as_ref().map_or(Err(StoreError::Closed), |reader| reader.run(read))
        });
        reading.await.map_err(|_| StoreError::damaged("a read panicked"))?
    }
}

/// Returns the size of the database file in bytes, without its log.
pub(crate) fn database_bytes(connection: &Connection) -> Result<u64, TableError> {
    if let Connection::Postgres(_) = connection {
        let bytes: i64 =
            connection.query_row("SELECT pg_database_size(current_database())", [], |row| row.get(0))?;
        return Ok(bytes.cast_unsigned());
    }
    let pragma = |name: &str| connection.query_row(name, [], |row| row.get::<i64>(0));
    let (pages, page_bytes) = (pragma("PRAGMA page_count")?, pragma("PRAGMA page_size")?);
    Ok(pages.saturating_mul(page_bytes).cast_unsigned())
}

#[expect(
    clippy::disallowed_methods,
    reason = "limits how long the log grows in real time, also under a test's clock"
)]
fn real_time() -> Instant {
    Instant::now()
}

fn lock<T>(guarded: &Mutex<T>) -> MutexGuard<'_, T> {
    guarded.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
#[path = "readers_tests.rs"]
mod tests;
