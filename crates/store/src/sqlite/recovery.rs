//! Applies batches from the journal to the database: at the start of the process, and before an audit or a copy of a closed
//! database.

use crate::data_folder::disk;
use crate::data_folder::lock;
use crate::data_folder::lock::FolderLock;
use crate::error::StoreError;
use crate::journal::{self, Journal, JournalLimits, OsFiles, Recovered};
use crate::sql::Connection;
use crate::sqlite::commit_mark::CommitMark;
use crate::sqlite::history::OldFiles;
use crate::sqlite::replaying::{JournalReplay, no_room_to_start};
use crate::sqlite::reserve::Reserve;
use crate::sqlite::{history, schema};
use std::fs::File;
use std::io::ErrorKind;
use std::path::Path;
use std::time::Duration;

/// How often to look whether another process has flushed, and how many times: at most two seconds. A full disk may prevent it.
const FLUSH_POLL: Duration = Duration::from_millis(5);
const FLUSH_POLLS_MAX: usize = 400;
/// How often the journal of a running gateway is checked until it counts as damaged.
const LIVE_CHECKS_MAX: u32 = 20;

/// Opens the database for the writer: see [`schema::open_for_writing`]. Gives the reserve free if the disk has no space, of which
/// SQLite needs some to open a database.
pub(super) fn open_with_reserve(folder: &Path, reserve: Option<&Reserve>) -> Result<Connection, StoreError> {
    if !disk::has_room_to_write(folder) {
        reserve.map(Reserve::release);
    }
    schema::open_for_writing(folder).map_err(|error| match StoreError::from(error) {
        StoreError::Backend(_) if !disk::has_room_to_write(folder) => {
            no_room_to_start(folder, lacked_without_log(folder))
        }
        error => error,
    })
}

/// Returns the bytes of changes that the database lacks without its log, which SQLite cannot open on a full disk: no fewer than it
/// lacks with it. 0 if the journal begins later.
fn lacked_without_log(folder: &Path) -> u64 {
    let position =
        schema::open_without_log(folder).and_then(|connection| schema::journal_position(&connection));
    let lacked = position.ok().and_then(|position| journal::check(&OsFiles, folder, position).ok());
    lacked.map_or(0, |lacked| lacked.payload_bytes)
}

/// Applies the batches that the database lacks, and starts a new segment of the journal. The batches are durable in the
/// database when this returns. On a full disk it uses the reserve. A copy that was never started begins a new history.
pub(super) fn recover(
    folder: &Path,
    connection: &Connection,
    reserve: &Reserve,
) -> Result<(Journal, CommitMark), StoreError> {
    let (mut recovered, mut mark) = apply_journal(folder, connection, Some(reserve))?;
    if history::is_copy(connection)? {
        history::renew(folder, connection, &OldFiles::Remove)?;
        tracing::info!(
            "This database is a copy that is started for the first time; it begins a history of its own"
        );
        (recovered, mark) = apply_journal(folder, connection, None)?;
    }
    let last = recovered.last_sequence();
    Ok((Journal::start(recovered, last, JournalLimits::default())?, mark))
}

/// Checks that the journal and the mark continue the database, and applies the batches that the database lacks.
fn apply_journal(
    folder: &Path,
    connection: &Connection,
    reserve: Option<&Reserve>,
) -> Result<(Recovered<OsFiles>, CommitMark), StoreError> {
    let position = schema::journal_position(connection)?;
    let recovered = journal::open(OsFiles, folder, position)?;
    if let Some((path, offset)) = &recovered.summary().torn {
        let path = path.display();
        tracing::info!(%path, offset, "The last batch in the journal is incomplete; it was never acknowledged");
    }
    let mark = CommitMark::open(folder, position.history, recovered.last_sequence())?;
    JournalReplay { folder, connection, recovered: &recovered, reserve }.run()?;
    sync_log(folder)?;
    Ok((recovered, mark))
}

/// Syncs the log of the database. A killed process may have left flushes in it that are not on the disk yet, and the journal
/// forgets their batches at the start.
pub(super) fn sync_log(folder: &Path) -> Result<(), StoreError> {
    let path = schema::log_file(folder);
    match File::open(&path).and_then(|log| log.sync_data()) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(StoreError::File { path, error }),
        _ => Ok(()),
    }
}

/// Makes the database of a folder have every acknowledged batch, before an audit or a copy of it. If no process has the folder
/// open, checks the journal and applies the batches that only the journal has; otherwise waits for that process to flush them.
pub(crate) fn complete_database(folder: &Path) -> Result<(), StoreError> {
    let connection = schema::open_existing(folder)?;
    if lock::is_in_use(folder)? {
        return wait_for_flush(folder, &connection);
    }
    if !has_journal(folder)? {
        return Ok(());
    }
    let lock = FolderLock::take(folder)?;
    complete_locked(folder, connection)?;
    drop(lock);
    Ok(())
}

/// Applies the batches that only the journal has. The caller has the lock on the folder.
fn complete_locked(folder: &Path, connection: Connection) -> Result<(), StoreError> {
    let position = schema::journal_position(&connection)?;
    if journal::check(&OsFiles, folder, position)?.range.is_some() {
        // Opening the file again would release this connection's locks.
        drop(connection);
        let connection = schema::open_for_writing(folder)?;
        // The journal stays as it is: the next start begins its new segment.
        apply_journal(folder, &connection, None)?;
    }
    Ok(())
}

/// Takes the lock on a folder, makes its database have every acknowledged batch, and opens it for reads. Fails with
/// [`StoreError::InUse`] if another process has the folder open.
pub(crate) fn lock_completed(folder: &Path) -> Result<(FolderLock, Connection), StoreError> {
    let connection = schema::open_existing(folder)?;
    let lock = FolderLock::take(folder)?;
    if has_journal(folder)? {
        complete_locked(folder, connection)?;
    }
    Ok((lock, schema::open_for_reading(folder)?))
}

/// Checks that the journal continues the database without a gap, beside the gateway that writes both. Changes nothing. Returns
/// how many batches only the journal has.
#[expect(clippy::disallowed_methods, reason = "another process has no event for us")]
pub(crate) fn check_live_journal(folder: &Path) -> Result<u64, StoreError> {
    let connection = schema::open_existing(folder)?;
    let mut tries = 1;
    loop {
        let position = schema::journal_position(&connection)?;
        match journal::check(&OsFiles, folder, position) {
            Ok(summary) => return Ok(summary.range.map_or(0, |(first, last)| last + 1 - first)),
            // Its segment may have been used again while it was read. Damage stays.
            Err(_) if tries < LIVE_CHECKS_MAX => {
                tries += 1;
                std::thread::sleep(FLUSH_POLL);
            }
            Err(error) => return Err(error.into()),
        }
    }
}

/// Whether the folder has files of a journal. A copy of the database has none.
fn has_journal(folder: &Path) -> Result<bool, StoreError> {
    let files =
        std::fs::read_dir(folder).map_err(|error| StoreError::File { path: folder.to_owned(), error })?;
    Ok(files.flatten().any(|file| file.file_name().to_string_lossy().starts_with("journal-")))
}

/// Waits until the process that has the folder open has flushed the batches that are acknowledged now.
#[expect(clippy::disallowed_methods, reason = "another process has no event for us")]
fn wait_for_flush(folder: &Path, connection: &Connection) -> Result<(), StoreError> {
    let acknowledged = CommitMark::read(folder).unwrap_or(0);
    for _ in 0..FLUSH_POLLS_MAX {
        if schema::journal_position(connection)?.last >= acknowledged {
            break;
        }
        std::thread::sleep(FLUSH_POLL);
    }
    Ok(())
}
