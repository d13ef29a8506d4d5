//! Applies batches from the journal to the database: at the start of the process, and before an audit or a copy of a closed
//! database.

use crate::error::StoreError;
use crate::journal::{self, Journal, JournalBatch, Limits, OsFiles, StoreId};
use crate::sqlite::commit_mark::CommitMark;
use crate::sqlite::lock::FolderLock;
use crate::sqlite::{SqliteTables, errors, lock, schema};
use hermod_engine::tables::replay;
use rusqlite::Connection;
use std::path::Path;

/// Opens the journal, and applies the batches that the database lacks. They are durable in the database when this returns.
pub(super) fn recover(folder: &Path, connection: &Connection) -> Result<(Journal, CommitMark), StoreError> {
    let (store, applied) = schema::journal_position(connection)?;
    connection.execute_batch("BEGIN IMMEDIATE").map_err(errors::store_error)?;
    let stored = SqliteTables { connection };
    let mut batches = 0_u64;
    let recovered = journal::open(OsFiles, folder, StoreId(store), applied, &mut |batch| {
        batches += 1;
        apply(&batch, &stored)
    })?;
    if let Some((path, offset)) = &recovered.summary().torn {
        let path = path.display();
        tracing::info!(%path, offset, "The last batch in the journal is incomplete; it was never acknowledged");
    }
    let last = recovered.last_sequence();
    let mark = CommitMark::open(folder, last)?;
    if batches > 0 {
        tracing::info!(batches, "Applied batches from the journal that the database lacked");
        mark.store(connection, last)?;
    }
    // Synced: the connection is still in its first mode.
    connection.execute_batch("COMMIT").map_err(errors::store_error)?;
    Ok((Journal::start(recovered, last, Limits::default())?, mark))
}

/// Applies the changes of one batch from the journal.
pub(super) fn apply(batch: &JournalBatch<'_>, stored: &SqliteTables<'_>) -> Result<(), StoreError> {
    match replay(batch.encoding, batch.payload, stored) {
        Ok(_) => Ok(()),
        Err(error) => {
            let error = StoreError::from(error);
            tracing::error!(%error, batch = batch.sequence, "A batch of the journal cannot be applied to the database");
            Err(error)
        }
    }
}

/// Applies the batches that only the journal has, if no process has the folder open: an audit or a copy of the database alone
/// would lack them. Checks the journal in any case where no process writes to it.
pub(crate) fn recover_closed(folder: &Path) -> Result<(), StoreError> {
    let connection = schema::open_existing(folder)?;
    if lock::is_in_use(folder)? {
        // That process has applied them.
        return Ok(());
    }
    let lock = FolderLock::take(folder)?;
    let (store, applied) = schema::journal_position(&connection)?;
    if journal::check(&OsFiles, folder, StoreId(store), applied)?.range.is_some() {
        let connection = schema::open_for_writing(folder)?;
        recover(folder, &connection)?;
    }
    drop(lock);
    Ok(())
}
