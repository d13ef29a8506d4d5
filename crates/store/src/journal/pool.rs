//! Prepares segments ahead of the writer. A thread creates and zero-fills new ones, recycles old ones, overwrites those that
//! must not keep their content, and removes those that are not needed.
//!
//! A segment in use is never touched here: files come in by [`Pool::release`] and leave by [`Pool::take`].

use super::JournalLimits;
use super::error::{JournalError, is_full};
use super::files::Files;
use super::segments::segment_path;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

/// Bytes that are zero-filled and synced at a time, so that the writer's fsync does not wait for a whole segment.
const FILL_BYTES: usize = 1024 * 1024;
/// Bytes of one write when a file is zero-filled: one page. After a larger write the page cache holds the file in larger
/// pieces, and a record of some hundred bytes would write a whole piece.
const PAGE_BYTES: usize = 4096;
static ZEROS: [u8; PAGE_BYTES] = [0; PAGE_BYTES];

/// A file that no record is needed from.
#[derive(Clone, Copy, Debug)]
pub(super) struct FreeFile {
    pub(super) number: u64,
    pub(super) bytes: u64,
    /// Whether it must be overwritten with zeros before it is used or removed.
    pub(super) wipe: bool,
}

/// A segment whose disk space is allocated and written, under its final name. Its header is not written.
pub(super) struct Prepared<F: Files> {
    pub(super) number: u64,
    pub(super) bytes: u64,
    pub(super) file: F::File,
}

pub(super) struct Pool<F: Files> {
    shared: Arc<Shared<F>>,
    thread: Option<JoinHandle<()>>,
}

struct Shared<F: Files> {
    files: F,
    folder: PathBuf,
    limits: JournalLimits,
    state: Mutex<State<F>>,
    changed: Condvar,
    /// Interrupts zero-filling.
    closing: AtomicBool,
}

struct State<F: Files> {
    free: Vec<FreeFile>,
    ready: Option<Prepared<F>>,
    /// The size of the segment that the thread has to prepare.
    wanted: Option<u64>,
    preparing: bool,
    /// Why the thread could not prepare a segment, other than a full disk.
    failure: Option<JournalError>,
    /// Files that are being overwritten now.
    wiping: usize,
    next_number: u64,
    /// The size of the next new segment.
    next_bytes: u64,
}

enum Job {
    Prepare(u64),
    Wipe(FreeFile),
    Remove(FreeFile),
}

impl<F: Files> Pool<F> {
    pub(super) fn new(
        files: F,
        folder: &Path,
        limits: JournalLimits,
        free: Vec<FreeFile>,
        next_number: u64,
    ) -> Pool<F> {
        let state = State {
            free,
            ready: None,
            wanted: None,
            preparing: false,
            failure: None,
            wiping: 0,
            next_number,
            next_bytes: limits.first_segment,
        };
        let (folder, state, changed) = (folder.to_owned(), Mutex::new(state), Condvar::new());
        let closing = AtomicBool::new(false);
        let shared = Arc::new(Shared { files, folder, limits, state, changed, closing });
        Pool { shared, thread: None }
    }

    /// Starts the thread. Without it, every segment is prepared when it is needed.
    pub(super) fn start_thread(&mut self) -> Result<(), JournalError> {
        let shared = Arc::clone(&self.shared);
        let thread = std::thread::Builder::new().name("journal".into()).spawn(move || shared.run());
        self.thread = Some(thread.map_err(JournalError::at(&self.shared.folder))?);
        Ok(())
    }

    /// Makes the thread prepare a segment of at least this size, if none is ready.
    pub(super) fn request(&self, bytes: u64) {
        let mut state = self.shared.lock();
        if state.ready.is_none() && !state.preparing {
            state.wanted = Some(bytes);
            self.shared.changed.notify_all();
        }
    }

    /// Makes sure that a segment of at least this size is ready. Prepares one if the thread has not.
    pub(super) fn ensure(&self, bytes: u64) -> Result<(), JournalError> {
        let prepared = self.take(bytes)?;
        self.shared.lock().ready = Some(prepared);
        Ok(())
    }

    /// Returns a segment of at least this size. Prepares one if none is ready.
    pub(super) fn take(&self, bytes: u64) -> Result<Prepared<F>, JournalError> {
        let mut state = self.shared.lock();
        while state.preparing {
            state = self.shared.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.wanted = None;
        if let Some(error) = state.failure.take() {
            return Err(error);
        }
        match state.ready.take() {
            Some(ready) if ready.bytes >= bytes => return Ok(ready),
            Some(small) => {
                state.free.push(FreeFile { number: small.number, bytes: small.bytes, wipe: false })
            }
            None => {}
        }
        drop(state);
        self.shared.prepare(bytes)
    }

    /// Takes a file whose records are not needed any more.
    pub(super) fn release(&self, file: FreeFile) {
        self.shared.lock().free.push(file);
        self.shared.changed.notify_all();
    }

    /// Marks all files to be overwritten with zeros, the prepared one included.
    pub(super) fn wipe(&self) {
        let mut state = self.shared.lock();
        while state.preparing {
            state = self.shared.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        if let Some(Prepared { number, bytes, .. }) = state.ready.take() {
            state.free.push(FreeFile { number, bytes, wipe: true });
        }
        state.free.iter_mut().for_each(|file| file.wipe = true);
        self.shared.changed.notify_all();
    }

    /// Returns how many files are still to be overwritten.
    #[cfg(test)]
    pub(super) fn pending_wipes(&self) -> usize {
        let state = self.shared.lock();
        state.wiping + state.free.iter().filter(|file| file.wipe).count()
    }

    /// Does one piece of the thread's work. Returns false if there is none.
    #[cfg(test)]
    pub(super) fn work(&self) -> bool {
        let job = self.shared.next_job(&mut self.shared.lock());
        job.map(|job| self.shared.perform(job)).is_some()
    }
}

impl<F: Files> Drop for Pool<F> {
    fn drop(&mut self) {
        self.shared.closing.store(true, Ordering::Release);
        // Under the lock: the thread must not miss the notification between its check and its wait.
        drop(self.shared.lock());
        self.shared.changed.notify_all();
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            tracing::error!("The thread that prepares journal segments panicked");
        }
    }
}

impl<F: Files> Shared<F> {
    fn lock(&self) -> MutexGuard<'_, State<F>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn run(&self) {
        let mut state = self.lock();
        while !self.closing.load(Ordering::Acquire) {
            let Some(job) = self.next_job(&mut state) else {
                state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            drop(state);
            self.perform(job);
            state = self.lock();
        }
    }

    fn next_job(&self, state: &mut State<F>) -> Option<Job> {
        if let Some(bytes) = state.wanted.take()
            && state.ready.is_none()
        {
            state.preparing = true;
            return Some(Job::Prepare(bytes));
        }
        if let Some(index) = state.free.iter().position(|file| file.wipe) {
            state.wiping += 1;
            return Some(Job::Wipe(state.free.swap_remove(index)));
        }
        let total: u64 = state.free.iter().map(|file| file.bytes).sum();
        let useless =
            |file: &FreeFile| file.bytes < self.limits.first_segment || total > self.limits.free_max;
        let smallest = state.free.iter().enumerate().min_by_key(|(_, file)| file.bytes)?;
        let index = useless(smallest.1).then_some(smallest.0)?;
        Some(Job::Remove(state.free.swap_remove(index)))
    }

    /// Does one job. The writer gets the error of a failed preparation when it needs the segment; on a full disk it tries
    /// once more itself. Other errors are only logged: no record depends on these files.
    fn perform(&self, job: Job) {
        match job {
            Job::Prepare(bytes) => {
                let prepared = self.prepare(bytes);
                let mut state = self.lock();
                match prepared {
                    Ok(prepared) => state.ready = Some(prepared),
                    Err(error) if error.is_disk_full() => {
                        tracing::warn!(%error, "Cannot prepare a journal segment ahead");
                    }
                    Err(error) => state.failure = Some(error),
                }
                state.preparing = false;
            }
            Job::Wipe(file) => {
                let path = segment_path(&self.folder, file.number);
                let wiped = self.files.open(&path).and_then(|open| self.fill(&open, file.bytes));
                let mut state = self.lock();
                match wiped {
                    Ok(()) => state.free.push(FreeFile { wipe: false, ..file }),
                    // The next start finds the file again and overwrites it.
                    Err(error) => {
                        tracing::warn!(%error, path = %path.display(), "Cannot overwrite an old journal segment");
                    }
                }
                state.wiping -= 1;
            }
            Job::Remove(file) => self.remove(&segment_path(&self.folder, file.number)),
        }
        self.changed.notify_all();
    }

    /// Makes a segment: a recycled one, or a new one, or on a full disk one that has to be overwritten first.
    fn prepare(&self, bytes: u64) -> Result<Prepared<F>, JournalError> {
        let mut state = self.lock();
        let number = state.next_number;
        state.next_number += 1;
        if let Some(free) = take_free(&mut state, |file| !file.wipe && file.bytes >= bytes) {
            drop(state);
            return self.recycle(free, number);
        }
        let preferred = state.next_bytes.max(bytes);
        drop(state);
        // A smaller one may fit on a disk that is nearly full.
        for size in [preferred, bytes.max(self.limits.first_segment)] {
            match self.create(number, size) {
                Ok(file) => {
                    let mut state = self.lock();
                    state.next_bytes = (size * 2).min(self.limits.segment_max).max(state.next_bytes);
                    return Ok(Prepared { number, bytes: size, file });
                }
                Err((_, error)) if is_full(&error) => {}
                Err((path, error)) => return Err(JournalError::Io { path, error }),
            }
        }
        let free = take_free(&mut self.lock(), |file| file.bytes >= bytes);
        let free = free.ok_or_else(|| JournalError::DiskFull { folder: self.folder.clone(), bytes })?;
        self.recycle(free, number)
    }

    /// Gives a free file the name of a new segment. The name is durable before the writer writes a header into the file, so
    /// that no old name ever belongs to a file with a new header.
    fn recycle(&self, free: FreeFile, number: u64) -> Result<Prepared<F>, JournalError> {
        let (old, new) = (segment_path(&self.folder, free.number), segment_path(&self.folder, number));
        let recycled = || {
            self.files.rename(&old, &new)?;
            self.files.sync_dir(&self.folder)?;
            let file = self.files.open(&new)?;
            if free.wipe {
                self.fill(&file, free.bytes)?;
            }
            Ok(file)
        };
        let file = recycled().map_err(JournalError::at(&new))?;
        Ok(Prepared { number, bytes: free.bytes, file })
    }

    /// Creates a file and writes it once, so that later writes into it change no metadata.
    fn create(&self, number: u64, bytes: u64) -> Result<F::File, (PathBuf, io::Error)> {
        let path = segment_path(&self.folder, number);
        let file = self.files.create(&path).map_err(|error| (path.clone(), error))?;
        match self.fill(&file, bytes).and_then(|()| self.files.sync_dir(&self.folder)) {
            Ok(()) => Ok(file),
            Err(error) => {
                self.remove(&path);
                Err((path, error))
            }
        }
    }

    /// Overwrites a file with zeros.
    fn fill(&self, file: &F::File, bytes: u64) -> io::Result<()> {
        for offset in (0..bytes).step_by(FILL_BYTES) {
            if self.closing.load(Ordering::Acquire) {
                return Err(io::Error::other("the journal is closing"));
            }
            let end = (offset + FILL_BYTES as u64).min(bytes);
            for offset in (offset..end).step_by(PAGE_BYTES) {
                let length = (end - offset).min(PAGE_BYTES as u64) as usize;
                self.files.write_at(file, &ZEROS[..length], offset)?;
            }
            self.files.sync_data(file)?;
        }
        Ok(())
    }

    fn remove(&self, path: &Path) {
        if let Err(error) = self.files.remove(path) {
            tracing::warn!(%error, path = %path.display(), "Cannot remove an old journal segment");
        }
    }
}

/// Takes the largest free file that qualifies: small ones are the first to be removed.
fn take_free<F: Files>(state: &mut State<F>, fits: impl Fn(&FreeFile) -> bool) -> Option<FreeFile> {
    let fitting = state.free.iter().enumerate().filter(|(_, file)| fits(file));
    let index = fitting.max_by_key(|(_, file)| file.bytes).map(|(index, _)| index)?;
    Some(state.free.swap_remove(index))
}
