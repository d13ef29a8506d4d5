//! A data folder as the target of a copy of a store. The copy is made in `hermod.db` itself, which no gateway opens until it is
//! complete.

use crate::error::CopyError;
use crate::error::StoreError;
use crate::journal::{self, OsFiles};
use crate::sql::read_results::StorePosition;
use crate::sql::{Connection, copy_progress, nodes};
use crate::sqlite::{commit_mark, copying, history, schema};
use hermod_engine::tables::TableError;
use std::io::ErrorKind;
use std::path::Path;

/// The database before it has the mark of an unfinished copy.
const NEW_FILE: &str = "hermod.db.new";
/// A crash leaves whole steps.
const SETUP: &str = "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA cache_size = -65536;
     PRAGMA temp_store = MEMORY;";

/// Opens the unfinished copy in a folder, or creates one of the store at `of`, which `begin` marks as such. Fails if the folder
/// has files of an embedded store that is none.
pub(crate) fn open(
    folder: &Path,
    of: StorePosition,
    begin: impl FnOnce(&Connection) -> Result<(), TableError>,
) -> Result<Connection, TableError> {
    if !folder.join(schema::FILE_NAME).exists() {
        check_empty(folder)?;
        create(folder, begin)?;
    }
    let target = schema::open_also_unfinished(folder)?;
    if !copy_progress::is_unfinished(&target)? {
        let is_complete = history::is_copy(&target)? && nodes::store_position(&target)? == of;
        return Err(StoreError::from(refusal(folder, is_complete)).into());
    }
    target.execute_batch(SETUP)?;
    Ok(target)
}

fn refusal(folder: &Path, is_complete: bool) -> CopyError {
    if is_complete {
        return CopyError::Complete(folder.display().to_string());
    }
    CopyError::FolderNotEmpty { folder: folder.to_owned(), file: schema::FILE_NAME.to_owned() }
}

/// Makes a complete copy durable, and a database that begins its own history when it is first started.
pub(crate) fn finish(folder: &Path, target: Connection) -> Result<(), StoreError> {
    drop(target);
    // The original is not started again, so nothing of the copy has been sent meanwhile.
    Ok(copying::finish(&folder.join(schema::FILE_NAME), None).map(drop)?)
}

/// Fails if the folder has files of an embedded store, which a gateway would find beside the copy.
fn check_empty(folder: &Path) -> Result<(), StoreError> {
    let journal = journal::file_names(&OsFiles, folder)?;
    let others = [commit_mark::FILE_NAME.to_owned(), format!("{}-wal", schema::FILE_NAME)];
    match journal.into_iter().chain(others).find(|name| folder.join(name).exists()) {
        Some(file) => Err(CopyError::FolderNotEmpty { folder: folder.to_owned(), file }.into()),
        None => Ok(()),
    }
}

/// Creates a database under another name, so that there is none without the mark of an unfinished copy.
fn create(
    folder: &Path,
    begin: impl FnOnce(&Connection) -> Result<(), TableError>,
) -> Result<(), TableError> {
    let new = folder.join(NEW_FILE);
    let file_error = |error| StoreError::File { path: new.clone(), error };
    // Left by a crash.
    for file in [new.clone(), folder.join(format!("{NEW_FILE}-journal"))] {
        match std::fs::remove_file(file) {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(file_error(error).into()),
            _ => {}
        }
    }
    let connection = schema::create(&new)?;
    begin(&connection)?;
    drop(connection);
    Ok(std::fs::rename(&new, folder.join(schema::FILE_NAME)).map_err(file_error)?)
}
