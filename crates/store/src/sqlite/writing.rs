//! The only connection that writes: its transactions, its commit mark, and its checkpoints.

use crate::disk::Disk;
use crate::error::StoreError;
use crate::sqlite::checkpoint::{self, Checkpointer};
use crate::sqlite::commit_mark::CommitMark;
use crate::sqlite::{SqliteTables, catalogue, copying, errors, schema, webhook_events};
use hermod_engine::tables::{TableError, Tables};
use rusqlite::Connection;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The writer's connection.
pub(crate) struct WritingConnection {
    connection: Connection,
    folder: PathBuf,
    mark: CommitMark,
    /// Set by [`WritingConnection::start_checkpoints`].
    checkpointer: Option<Checkpointer>,
}

/// One transaction. Dropping it without [`Transaction::commit`] rolls it back.
#[must_use = "a transaction that is dropped is rolled back"]
pub(crate) struct Transaction<'c> {
    database: &'c WritingConnection,
    /// The connection's count of changed rows when the transaction began.
    changes_before: u64,
}

impl WritingConnection {
    /// Opens the database, creates and migrates it as needed, and truncates the log that the last process left behind. Fails
    /// with [`StoreError::Behind`] if acknowledged commits are missing.
    pub(super) fn open(folder: &Path) -> Result<WritingConnection, StoreError> {
        let connection = schema::open_for_writing(folder)?;
        let mark = CommitMark::open(folder, &connection)?;
        checkpoint::truncate_at_start(folder, &connection)?;
        Ok(WritingConnection { connection, folder: folder.to_owned(), mark, checkpointer: None })
    }

    /// Starts the checkpoint thread.
    pub(crate) fn start_checkpoints(&mut self, disk: Arc<Disk>) -> Result<(), StoreError> {
        self.checkpointer = Some(Checkpointer::start(&self.folder, &mut self.connection, disk)?);
        Ok(())
    }

    pub(crate) fn tables(&self) -> Tables<'_> {
        SqliteTables::of(&self.connection)
    }

    /// Whether the setup is empty: no account, key, connection or carrier.
    pub(crate) fn has_empty_catalogue(&self) -> Result<bool, TableError> {
        catalogue::is_empty(&self.connection)
    }

    /// Returns how many webhook events wait, at all endpoints.
    pub(crate) fn count_waiting_events(&self) -> Result<u64, TableError> {
        webhook_events::count_waiting(&self.connection)
    }

    pub(crate) fn begin(&self) -> Result<Transaction<'_>, TableError> {
        self.connection.prepare_cached("BEGIN IMMEDIATE")?.execute([])?;
        Ok(Transaction { database: self, changes_before: self.connection.total_changes() })
    }

    /// Rolls the open transaction back. Does nothing if there is none: it was dropped, or a full disk has ended it. Fails if
    /// the transaction stays open.
    pub(crate) fn roll_back(&self) -> Result<(), StoreError> {
        if self.connection.is_autocommit() {
            return Ok(());
        }
        self.connection.execute_batch("ROLLBACK").map_err(errors::store_error)
    }

    /// Requests or makes a checkpoint if the log has grown enough. Call it between two batches.
    pub(crate) fn after_batch(&self) {
        if let Some(checkpointer) = &self.checkpointer {
            checkpointer.after_batch(&self.connection);
        }
    }

    /// Copies the database into a new file, a few pages at a time. `between` runs after each step, outside of any
    /// transaction; if it fails, the copy is aborted and its file removed.
    pub(crate) fn copy_to(
        &self,
        file: &Path,
        between: &mut dyn FnMut() -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        copying::copy_in_use(&self.connection, file, between)
    }

    /// Stops the checkpoint thread and truncates the log.
    pub(crate) fn close(self) {
        if let Some(checkpointer) = self.checkpointer {
            checkpointer.stop(&self.connection);
        }
    }
}

impl Transaction<'_> {
    /// Commits the transaction. It is durable when this returns. The commit mark counts it if it changed a row.
    pub(crate) fn commit(self) -> Result<(), TableError> {
        let WritingConnection { connection, mark, .. } = self.database;
        let wrote = connection.total_changes() != self.changes_before;
        if wrote {
            mark.count(connection)?;
        }
        connection.prepare_cached("COMMIT")?.execute([])?;
        if wrote {
            mark.committed();
        }
        Ok(())
    }
}

impl Drop for Transaction<'_> {
    fn drop(&mut self) {
        if let Err(error) = self.database.roll_back() {
            // The next rollback or BEGIN fails too, which the writer handles.
            tracing::error!(%error, "A transaction could not be rolled back");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tempfile::TempDir;

    fn add_balance(database: &WritingConnection) {
        database.connection.execute("INSERT INTO balance VALUES (1, 0, 0)", []).expect("a new row");
    }

    fn number(database: &WritingConnection, query: &str) -> i64 {
        database.connection.query_row(query, [], |row| row.get(0)).expect("a number")
    }

    #[test]
    fn commit_without_changes_is_not_counted() {
        let folder = TempDir::new().unwrap();
        let database = WritingConnection::open(folder.path()).unwrap();
        database.begin().unwrap().commit().unwrap();
        assert_eq!(number(&database, "SELECT commits FROM writer"), 0);
        let transaction = database.begin().unwrap();
        add_balance(&database);
        transaction.commit().unwrap();
        assert_eq!(number(&database, "SELECT commits FROM writer"), 1);
    }

    #[test]
    fn roll_back_undoes_the_changes_and_does_nothing_without_a_transaction() {
        let folder = TempDir::new().unwrap();
        let database = WritingConnection::open(folder.path()).unwrap();
        let transaction = database.begin().unwrap();
        add_balance(&database);
        database.roll_back().unwrap();
        assert_eq!(number(&database, "SELECT count(*) FROM balance"), 0);
        database.roll_back().unwrap();
        drop(transaction);
        database.begin().unwrap().commit().unwrap();
    }

    #[test]
    fn dropped_transaction_is_rolled_back() {
        let folder = TempDir::new().unwrap();
        let database = WritingConnection::open(folder.path()).unwrap();
        let transaction = database.begin().unwrap();
        add_balance(&database);
        drop(transaction);
        assert_eq!(number(&database, "SELECT count(*) FROM balance"), 0);
        database.begin().unwrap().commit().unwrap();
    }
}
