//! The databases as the writer uses them: one transaction after another, on one connection.

use crate::data_folder::disk::Disk;
use crate::error::StoreError;
use crate::postgres;
use crate::postgres::server::SentBy;
use crate::sql::read_results::StorePosition;
use crate::sql::{Connection, SqlTables};
use crate::sqlite::writing;
use hermod_domain::audit::{AuditEnd, AuditKey};
use hermod_domain::time::Timestamp;
use hermod_engine::commands::AnyOutcome;
use hermod_engine::tables::{TableError, Tables};
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

/// A database as the writer uses it. One variant per backend, like [`crate::backend::Backend`].
pub(crate) enum WritingBackend {
    Sqlite(Box<writing::WritingConnection>),
    Postgres(Box<postgres::WritingSession<Connection>>),
}

/// One transaction. Dropping it without [`BackendTransaction::commit`] rolls it back.
#[must_use = "a transaction that is dropped is rolled back"]
pub(crate) enum BackendTransaction<'c> {
    Sqlite(writing::JournaledBatch<'c>),
    Postgres(postgres::ServerBatch<'c, Connection>),
}

impl WritingBackend {
    /// Starts the background work of the database, such as checkpoints and partitions.
    pub(crate) fn start_upkeep(&mut self, disk: Arc<Disk>, now: Timestamp) -> Result<(), StoreError> {
        match self {
            WritingBackend::Sqlite(connection) => connection.start_checkpoints(disk),
            WritingBackend::Postgres(session) => {
                session.start_upkeep(disk, now);
                Ok(())
            }
        }
    }

    /// Returns the tables. Within a transaction they include its changes.
    pub(crate) fn tables(&self) -> Tables<'_> {
        match self {
            WritingBackend::Sqlite(connection) => connection.tables(),
            WritingBackend::Postgres(session) => SqlTables::of(session.connection()),
        }
    }

    /// Returns the connection, for reads of `sql`.
    pub(crate) fn connection(&self) -> &Connection {
        match self {
            WritingBackend::Sqlite(connection) => connection.connection(),
            WritingBackend::Postgres(session) => session.connection(),
        }
    }

    /// Returns the id of the store, and its last batch.
    pub(crate) fn store_position(&self) -> Result<StorePosition, TableError> {
        match self {
            WritingBackend::Sqlite(connection) => connection.store_position(),
            WritingBackend::Postgres(session) => {
                let (id, sequence) = session.store_position();
                Ok(StorePosition { id, sequence })
            }
        }
    }

    /// Begins a transaction. There is at most one at a time.
    pub(crate) fn begin(&self) -> Result<BackendTransaction<'_>, TableError> {
        match self {
            WritingBackend::Sqlite(connection) => connection.begin().map(BackendTransaction::Sqlite),
            WritingBackend::Postgres(session) => Ok(BackendTransaction::Postgres(session.begin())),
        }
    }

    /// Adds to the transaction which operation of a node was the last one that was run, and outcomes of its operations.
    pub(crate) fn note_applied(
        &self,
        last: SentBy,
        outcomes: &[(u64, Option<&AnyOutcome>)],
    ) -> Result<(), TableError> {
        match self {
            WritingBackend::Sqlite(_) => Ok(()),
            WritingBackend::Postgres(session) => session.note_applied(last, outcomes),
        }
    }

    /// Adds to the transaction that the setup was changed.
    pub(crate) fn note_catalogue(&self) -> Result<(), TableError> {
        match self {
            WritingBackend::Sqlite(_) => Ok(()),
            WritingBackend::Postgres(session) => Ok(session.note_catalogue()?),
        }
    }

    /// Writes the end of the audit log to the file beside the database. A server has no such file.
    pub(crate) fn keep_audit_head(&self, key: AuditKey, end: AuditEnd) {
        match self {
            WritingBackend::Sqlite(connection) => connection.keep_audit_head(key, end),
            WritingBackend::Postgres(_) => {}
        }
    }

    /// Rolls the open transaction back. Does nothing if there is none: the database may have ended it itself.
    pub(crate) fn roll_back(&self) -> Result<(), StoreError> {
        match self {
            WritingBackend::Sqlite(connection) => connection.roll_back(),
            WritingBackend::Postgres(session) => session.roll_back(),
        }
    }

    /// Does the maintenance that the database needs between two batches.
    pub(crate) fn after_batch(&self) {
        match self {
            WritingBackend::Sqlite(connection) => connection.after_batch(),
            WritingBackend::Postgres(session) => session.after_batch(),
        }
    }

    /// Records that a batch purged texts or messages: the database may give space back after it.
    pub(crate) fn note_purge(&self) {
        match self {
            WritingBackend::Sqlite(_) => {}
            WritingBackend::Postgres(session) => session.note_purge(),
        }
    }

    /// Returns when to call [`WritingBackend::after_batch`] if no batch comes before.
    pub(crate) fn next_upkeep(&self) -> Option<Instant> {
        match self {
            WritingBackend::Sqlite(connection) => connection.next_upkeep(),
            WritingBackend::Postgres(session) => session.next_upkeep(),
        }
    }

    /// Copies the database into a new file in short steps. `between` runs after each step, outside of any transaction;
    /// if it fails, the copy is aborted and its file removed.
    pub(crate) fn copy_to(
        &self,
        file: &Path,
        between: &mut dyn FnMut() -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        match self {
            WritingBackend::Sqlite(connection) => connection.copy_to(file, between),
            WritingBackend::Postgres(_) => Err(StoreError::NotEmbedded),
        }
    }

    /// Stops the background work and closes the database.
    pub(crate) fn close(self) {
        match self {
            WritingBackend::Sqlite(connection) => connection.close(),
            WritingBackend::Postgres(session) => drop(session),
        }
    }
}

impl BackendTransaction<'_> {
    /// Commits the transaction. Its changes are durable when this returns. Returns the number of the last batch that
    /// changed something.
    pub(crate) fn commit(self) -> Result<u64, TableError> {
        match self {
            BackendTransaction::Sqlite(transaction) => transaction.commit(),
            BackendTransaction::Postgres(batch) => Ok(batch.commit()?),
        }
    }
}
