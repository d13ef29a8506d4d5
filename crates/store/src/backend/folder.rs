//! What is done with a data folder: opened, or looked at from outside. Today every folder holds a database of SQLite.

use super::Backend;
use super::writing::WritingBackend;
use crate::audit::AuditReport;
use crate::error::StoreError;
use crate::sqlite::database::Database;
use crate::sqlite::{audit as sqlite_audit, copying, lock};
use std::path::Path;

/// A database that was opened.
pub(crate) struct Opened {
    /// For its readers.
    pub backend: Backend,
    /// For the writer.
    pub writing: WritingBackend,
}

/// Opens the database of a folder, made if need be. Fails if another process works on it.
pub(crate) fn open(folder: &Path) -> Result<Opened, StoreError> {
    let (database, writing) = Database::open(folder)?;
    Ok(Opened { backend: Backend::Sqlite(database), writing: WritingBackend::Sqlite(writing) })
}

/// Whether a process works on this folder.
pub(crate) fn is_in_use(folder: &Path) -> Result<bool, StoreError> {
    lock::is_in_use(folder)
}

/// Audits the database of a folder. Given up with [`StoreError::ReadTooLong`] once `stop` says so.
pub(crate) fn audit(
    folder: &Path,
    stop: impl FnMut() -> bool + Send + 'static,
) -> Result<AuditReport, StoreError> {
    sqlite_audit::audit(folder, stop)
}

/// Copies the database of a folder that no gateway works on.
pub(crate) fn back_up(folder: &Path, destination: &Path) -> Result<(), StoreError> {
    copying::back_up(folder, destination)
}
