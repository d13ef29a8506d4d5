//! The database of a data folder, which one process at a time has open.

use crate::data_folder::lock::{self, FolderLock};
use crate::error::StoreError;
use crate::sql::Connection;
use crate::sqlite::progress::BatchNumbers;
use crate::sqlite::schema;
use crate::sqlite::writing::WritingConnection;
use hermod_engine::tables::TableError;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// How far its batches have come, and the lock on its folder.
pub(crate) struct Database {
    folder: PathBuf,
    progress: Arc<BatchNumbers>,
    /// Held for as long as the store is open.
    lock: Mutex<Option<FolderLock>>,
}

impl Database {
    /// Opens the database for the writer. Creates the folder and the database if they do not exist. Fails with
    /// [`StoreError::InUse`] if another process has it open.
    pub(crate) fn open(folder: &Path) -> Result<(Database, WritingConnection), StoreError> {
        lock::make_folder(folder)?;
        let lock = FolderLock::take(folder)?;
        let progress = Arc::new(BatchNumbers::default());
        let writing = WritingConnection::open(folder, progress.clone())?;
        let (folder, lock) = (folder.to_owned(), Mutex::new(Some(lock)));
        Ok((Database { folder, progress, lock }, writing))
    }

    /// Returns how far the batches have come.
    pub(crate) fn progress(&self) -> &Arc<BatchNumbers> {
        &self.progress
    }

    /// Returns a connection that reads.
    pub(crate) fn reader(&self) -> Result<Connection, TableError> {
        schema::open_for_reading(&self.folder)
    }

    /// Returns a connection for a short change beside the writer.
    pub(crate) fn beside_writer(&self) -> Result<Connection, TableError> {
        schema::open_beside_writer(&self.folder)
    }

    /// Releases the lock on the folder. The writer is closed already: the database is left without a log, unless a process still
    /// reads it.
    pub(crate) fn close(&self) {
        let mut lock = self.lock.lock().unwrap_or_else(PoisonError::into_inner);
        if lock.is_some()
            && let Err(error) = schema::close_log(&self.folder).map_err(StoreError::from)
        {
            // Everything is stored, and the next start opens the database as after a crash.
            tracing::warn!(%error, "The header of the database could not be changed when it was closed");
        }
        drop(lock.take());
    }
}
