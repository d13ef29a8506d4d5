//! The history of a database: one line of batches, with an id that the database, its journal, its mark and its record have. A copy
//! begins a history of its own when it is first started, because its next batches are others than those of the original.

use crate::error::StoreError;
use crate::journal::{self, OsFiles};
use crate::sql::{Connection, catalogue, errors};
use crate::sqlite::{audit_head, commit_mark};
use hermod_domain::hold::Hold;
use hermod_engine::ops::CatalogueRow;
use hermod_engine::tables::TableError;
use std::fs::{DirBuilder, File};
use std::io::ErrorKind;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::Path;

/// Numbers of webhook events that a new history does not use: the old one may have gone on with them, and receivers take an event
/// with a known number for a repetition.
const EVENT_NUMBERS_SKIPPED: u32 = 1_000_000_000;

/// Marks the database of a file as a copy.
pub(super) fn mark_copy(copy: &rusqlite::Connection) -> rusqlite::Result<()> {
    copy.execute_batch("UPDATE writer SET is_copy = 1")
}

/// Makes a gateway that starts with the database of a file wait for its operator: what waits in a backup may have been sent since.
pub(super) fn mark_held(copy: &rusqlite::Connection, hold: &Hold) -> rusqlite::Result<()> {
    let CatalogueRow { kind, id, name, body } = catalogue::hold_row(hold);
    let put = "INSERT OR REPLACE INTO catalogue (kind, id, name, body) VALUES (?1, ?2, ?3, ?4)";
    copy.execute(put, rusqlite::params![kind, id, name, body]).map(drop)
}

/// Whether the database is a copy that was never started.
pub(super) fn is_copy(connection: &Connection) -> Result<bool, TableError> {
    Ok(connection.query_row("SELECT is_copy FROM writer", [], |row| row.get(0))?)
}

/// What becomes of the journal and the mark of a history that ends.
pub(super) enum OldFiles<'a> {
    Remove,
    /// They are moved to this folder, which is made.
    MoveTo(&'a Path),
}

/// Begins a new history. The database has every batch that it needs of its journal, durably: the journal and the mark are of the
/// old history and are removed first, so that a crash leaves no files of both.
pub(super) fn renew(folder: &Path, connection: &Connection, old: &OldFiles<'_>) -> Result<(), StoreError> {
    let names = journal::file_names(&OsFiles, folder)?;
    let file_error = |path: &Path| {
        let path = path.to_owned();
        move |error| StoreError::File { path, error }
    };
    if let OldFiles::MoveTo(aside) = old {
        DirBuilder::new().mode(0o700).create(aside).map_err(file_error(aside))?;
    }
    // The end of the audit log that a salvage moves away may be of a batch that is lost.
    let audit_end = matches!(old, OldFiles::MoveTo(_)).then_some(audit_head::FILE_NAME);
    for name in names.iter().map(String::as_str).chain([commit_mark::FILE_NAME]).chain(audit_end) {
        let path = folder.join(name);
        let done = match old {
            OldFiles::Remove => std::fs::remove_file(&path),
            OldFiles::MoveTo(aside) => std::fs::rename(&path, aside.join(name)),
        };
        if done.as_ref().is_err_and(|error| error.kind() != ErrorKind::NotFound) {
            done.map_err(file_error(&path))?;
        }
    }
    File::open(folder).and_then(|folder| folder.sync_all()).map_err(file_error(folder))?;
    // A crash between the two only skips more numbers.
    let renewed = connection.execute_batch(&format!(
        "UPDATE webhook_counter SET last = last + {EVENT_NUMBERS_SKIPPED};
         UPDATE writer SET store = randomblob(16), is_copy = 0"
    ));
    renewed.map_err(errors::store_error)
}
