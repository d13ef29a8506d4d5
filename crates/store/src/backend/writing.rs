//! The databases as the writer uses them: one transaction after the other, on one connection.

use crate::disk::Disk;
use crate::error::StoreError;
use crate::sqlite::writing;
use hermod_engine::tables::{TableError, Tables};
use std::path::Path;
use std::sync::Arc;

/// A database, as the writer sees it. One variant per backend, like [`crate::backend::Backend`].
pub(crate) enum WritingBackend {
    Sqlite(writing::WritingConnection),
}

/// One transaction. It has to be committed, or undone with [`WritingBackend::roll_back`].
pub(crate) enum Transaction<'c> {
    Sqlite(writing::Transaction<'c>),
}

impl WritingBackend {
    /// Begins the upkeep that runs beside the writer, with what is known of the disk.
    pub(crate) fn start_upkeep(&mut self, disk: Arc<Disk>) -> Result<(), StoreError> {
        match self {
            WritingBackend::Sqlite(connection) => connection.start_checkpoints(disk),
        }
    }

    /// Returns the tables. Within a transaction they show what it has changed.
    pub(crate) fn tables(&self) -> Tables<'_> {
        match self {
            WritingBackend::Sqlite(connection) => connection.tables(),
        }
    }

    /// Whether nothing has been set up: no account, key, connection or carrier.
    pub(crate) fn has_empty_catalogue(&self) -> Result<bool, TableError> {
        match self {
            WritingBackend::Sqlite(connection) => connection.has_empty_catalogue(),
        }
    }

    /// How many webhook events wait.
    pub(crate) fn count_waiting_events(&self) -> Result<u64, TableError> {
        match self {
            WritingBackend::Sqlite(connection) => connection.count_waiting_events(),
        }
    }

    pub(crate) fn begin(&self) -> Result<Transaction<'_>, TableError> {
        match self {
            WritingBackend::Sqlite(connection) => connection.begin().map(Transaction::Sqlite),
        }
    }

    /// Undoes the transaction that has begun, if the database has not ended it by itself.
    pub(crate) fn roll_back(&self) -> Result<(), StoreError> {
        match self {
            WritingBackend::Sqlite(connection) => connection.roll_back(),
        }
    }

    /// Does what the database needs between two batches.
    pub(crate) fn after_batch(&self) {
        match self {
            WritingBackend::Sqlite(connection) => connection.after_batch(),
        }
    }

    /// Copies the database into a new file. `between` runs again and again, outside of any transaction; if it fails, the
    /// copy is given up.
    pub(crate) fn copy_to(
        &self,
        file: &Path,
        between: &mut dyn FnMut() -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        match self {
            WritingBackend::Sqlite(connection) => connection.copy_to(file, between),
        }
    }

    /// Ends the upkeep and closes the database.
    pub(crate) fn close(self) {
        match self {
            WritingBackend::Sqlite(connection) => connection.close(),
        }
    }
}

impl Transaction<'_> {
    /// Makes everything that it changed durable.
    pub(crate) fn commit(self) -> Result<(), TableError> {
        match self {
            Transaction::Sqlite(transaction) => transaction.commit(),
        }
    }
}
