//! Copying the database while it is in use, without a snapshot: one that lasts as long as a copy would keep the log from
//! being emptied, and a copy that is stopped in the middle would hold it for ever.
//!
//! Beside a running gateway the writer makes the copy, a few pages after each batch, on its own connection. SQLite then
//! writes every page that a later batch changes into the part that was copied already, so that the copy is complete and
//! consistent as of the last batch before its end. Where no gateway runs, the pages are copied in short reads.

use crate::fault::StoreFault;
use crate::sqlite::{lock, schema};
use crate::store::Store;
use crate::writer::Writer;
use crate::writer::op::{Op, Reply};
use hermod_engine::commands::ReadQueues;
use hermod_engine::tables::TableError;
use rusqlite::Connection;
use rusqlite::backup::{Backup, StepResult};
use std::fs::File;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::oneshot;

/// Pages of 4 KiB copied after one batch: about a millisecond.
const PAGES_PER_STEP: i32 = 256;
/// Pages copied in one read where no gateway runs.
const PAGES_PER_STEP_ALONE: i32 = 4_096;
const BUSY_PAUSE: Duration = Duration::from_millis(5);

pub(crate) struct CopyRequest {
    file: PathBuf,
    reply: Reply<()>,
}

/// The one copy that may be wanted or under way.
#[derive(Default)]
pub(crate) struct Copies {
    taken: AtomicBool,
    wanted: Mutex<Option<CopyRequest>>,
}

impl Copies {
    fn ask(&self, request: CopyRequest) -> Result<(), StoreFault> {
        if self.taken.swap(true, Ordering::AcqRel) {
            return Err(StoreFault::CopyUnderWay);
        }
        *self.wanted.lock().unwrap_or_else(PoisonError::into_inner) = Some(request);
        Ok(())
    }

    fn take(&self) -> Option<CopyRequest> {
        self.wanted.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl Store {
    /// Copies the database into a new file. The copy is durable when this returns and has at least everything that was
    /// committed before the call. Sending goes on meanwhile. Dropping the future ends the copy and removes the file.
    pub async fn copy_to(&self, file: &Path) -> Result<u64, StoreFault> {
        let needed = self.inner.backend.database_bytes().await?;
        self.inner.shared.check_room_for(file, needed)?;
        let (reply, answer) = oneshot::channel();
        self.inner.shared.copies.ask(CopyRequest { file: file.to_owned(), reply })?;
        // Wakes the writer.
        self.request(ReadQueues).await?;
        answer.await.map_err(|_| StoreFault::Closed)??;
        let file = file.to_owned();
        let finished = tokio::task::spawn_blocking(move || finish(&file)).await;
        Ok(finished.map_err(|_| StoreFault::damaged("finishing a copy panicked"))??)
    }

    /// Copies the database of a folder that no gateway works on. Gives up if one starts meanwhile.
    pub fn backup(folder: &Path, destination: &Path) -> Result<(), StoreFault> {
        let source = schema::open_existing(folder)?;
        make_new(destination)?;
        let copied = copy_alone(&source, folder, destination).and_then(|()| finish(destination));
        // What is half a copy must not be taken for one.
        Ok(copied.map(drop).inspect_err(|_| discard(destination))?)
    }
}

impl Writer<'_> {
    /// Makes the copy that is wanted, if one is. False once the store is to stop.
    pub(crate) fn copy_if_wanted(&mut self, ops: &mut Vec<Op>) -> bool {
        let Some(CopyRequest { file, mut reply }) = self.shared.copies.take() else { return true };
        tracing::info!(file = %file.display(), "Copying the database");
        let mut goes_on = true;
        let copied = make_new(&file).and_then(|()| {
            let copied = self.copy(&file, ops, &mut reply, &mut goes_on);
            copied.map_err(StoreFault::from).inspect_err(|_| discard(&file))
        });
        if let Err(fault) = &copied {
            tracing::warn!(%fault, file = %file.display(), "The copy of the database was not completed");
        }
        self.shared.copies.taken.store(false, Ordering::Release);
        // The caller may be gone.
        drop(reply.send(copied));
        goes_on
    }

    fn copy(
        &mut self,
        file: &Path,
        ops: &mut Vec<Op>,
        reply: &mut Reply<()>,
        goes_on: &mut bool,
    ) -> Result<(), TableError> {
        let mut copy = open_copy(file)?;
        let steps = Backup::new(self.connection, &mut copy)?;
        loop {
            match steps.step(PAGES_PER_STEP)? {
                StepResult::Done => return Ok(()),
                StepResult::More => {}
                _ => std::thread::sleep(BUSY_PAUSE),
            }
            *goes_on = self.work_off_waiting(ops);
            if !*goes_on || reply.is_closed() {
                return Err(StoreFault::Closed.into());
            }
        }
    }
}

fn copy_alone(source: &Connection, folder: &Path, destination: &Path) -> Result<(), TableError> {
    let mut copy = open_copy(destination)?;
    let steps = Backup::new(source, &mut copy)?;
    loop {
        // What others change would make SQLite begin again and again.
        if lock::is_in_use(folder)? {
            return Err(StoreFault::InUse(folder.to_owned()).into());
        }
        match steps.step(PAGES_PER_STEP_ALONE)? {
            StepResult::Done => return Ok(()),
            StepResult::More => {}
            _ => std::thread::sleep(BUSY_PAUSE),
        }
    }
}

/// Makes an empty file that only its owner may read. Fails if there is one of that name.
fn make_new(file: &Path) -> Result<(), StoreFault> {
    let made = File::options().write(true).create_new(true).mode(0o600).open(file);
    made.map(drop).map_err(|error| StoreFault::File { path: file.to_owned(), error })
}

/// Nothing is journalled or synced while a copy is filled: one that is not completed is discarded, and one that is gets
/// synced as a whole.
fn open_copy(file: &Path) -> Result<Connection, TableError> {
    let copy = Connection::open(file)?;
    copy.execute_batch("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -2048;")?;
    Ok(copy)
}

/// Makes a complete copy durable, and readable without a log beside it. Returns its size.
fn finish(file: &Path) -> Result<u64, TableError> {
    let copy = Connection::open(file)?;
    copy.query_row("PRAGMA journal_mode = DELETE", [], |_| Ok(()))?;
    copy.close().map_err(|(_, error)| error)?;
    let folder = file.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    for path in [file, folder] {
        let synced = File::open(path).and_then(|file| file.sync_all());
        synced.map_err(|error| StoreFault::File { path: path.to_owned(), error })?;
    }
    let bytes = std::fs::metadata(file).map(|file| file.len());
    Ok(bytes.map_err(|error| StoreFault::File { path: file.to_owned(), error })?)
}

fn discard(file: &Path) {
    // What cannot be removed stays under a name that says what it is.
    let _ = std::fs::remove_file(file);
}

/// Whether two paths are on the same file system, as far as can be told.
pub(crate) fn share_a_disk(one: &Path, other: &Path) -> bool {
    let device = |path: &Path| std::fs::metadata(path).map(|file| file.dev()).ok();
    device(one) == device(other)
}
