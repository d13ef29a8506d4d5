//! The lock on a data folder. Only one process may write, because each holds balances in memory.

use crate::error::StoreError;
use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use std::fmt;
use std::fs::{DirBuilder, File, Permissions};
use std::io::{ErrorKind, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::Path;
use std::time::Duration;

const FILE_NAME: &str = "hermod.lock";
/// The folder's id, by which a node knows that the process before it has ended.
const ID_FILE_NAME: &str = "node.id";
/// Attempts to take the lock. [`is_in_use`] holds it for a moment, so one failure does not mean that the folder is in use.
const TRIES: u32 = 5;
const TRY_PAUSE: Duration = Duration::from_millis(20);

/// Creates the data folder, accessible to its owner only. Leaves an existing folder as it is, and warns if others can access
/// it: the files of the store are accessible to their owner only in any case.
pub(crate) fn make_folder(folder: &Path) -> Result<(), StoreError> {
    let file_error = |error| StoreError::File { path: folder.to_owned(), error };
    DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(file_error)?;
    let mode = std::fs::metadata(folder).map_err(file_error)?.permissions().mode() & 0o777;
    if mode & 0o077 != 0 {
        tracing::warn!(
            folder = %folder.display(),
            mode = format!("{mode:o}"),
            "Other users can access the data folder; to prevent that, run: chmod 700 {}",
            folder.display()
        );
    }
    Ok(())
}

/// The process that has a data folder open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FolderHolder {
    /// Its id on its host, or in its container.
    pub pid: u32,
    /// The name of its host, if it is known.
    pub host: Option<String>,
}

impl FolderHolder {
    fn this_process() -> FolderHolder {
        let host = rustix::system::uname().nodename().to_str().ok().map(str::to_owned);
        FolderHolder { pid: std::process::id(), host: host.filter(|host| !host.is_empty()) }
    }

    /// Reads what the lock file says.
    fn parse(text: &str) -> Option<FolderHolder> {
        let mut lines = text.lines();
        let pid = lines.next()?.parse().ok()?;
        Some(FolderHolder { pid, host: lines.next().filter(|host| !host.is_empty()).map(str::to_owned) })
    }
}

impl fmt::Display for FolderHolder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.host {
            Some(host) => write!(f, "process {} on {host}", self.pid),
            None => write!(f, "process {}", self.pid),
        }
    }
}

/// The lock, held until it is dropped or the process ends. Its file has the id of the process and the name of its host.
pub(crate) struct FolderLock {
    _file: File,
}

impl FolderLock {
    /// Takes the lock. Fails with [`StoreError::InUse`] if another process holds it.
    #[expect(clippy::disallowed_methods, reason = "flock has no form that waits for a limited time")]
    pub(crate) fn take(folder: &Path) -> Result<FolderLock, StoreError> {
        let path = folder.join(FILE_NAME);
        // Not truncated: it says who has the lock.
        let file = File::options().write(true).create(true).truncate(false).mode(0o600).open(&path);
        // A file that was copied here may have wider permissions.
        let file = file.and_then(|file| file.set_permissions(Permissions::from_mode(0o600)).map(|()| file));
        let file = file.map_err(|error| StoreError::File { path: path.clone(), error })?;
        for _ in 0..TRIES {
            match flock(&file, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => {
                    // A full disk must not keep a gateway from starting.
                    let _ = write_holder(&file, &FolderHolder::this_process());
                    return Ok(FolderLock { _file: file });
                }
                Err(Errno::WOULDBLOCK) => std::thread::sleep(TRY_PAUSE),
                Err(error) => return Err(StoreError::File { path, error: error.into() }),
            }
        }
        Err(StoreError::InUse(folder.to_owned()))
    }
}

fn write_holder(mut file: &File, holder: &FolderHolder) -> std::io::Result<()> {
    file.set_len(0)?;
    let host = holder.host.as_deref().unwrap_or_default();
    file.write_all(format!("{}\n{host}\n", holder.pid).as_bytes())
}

/// Returns the process that has this data folder open, if there is one and it is known.
pub(crate) fn holder(folder: &Path) -> Result<Option<FolderHolder>, StoreError> {
    if !is_in_use(folder)? {
        return Ok(None);
    }
    let path = folder.join(FILE_NAME);
    match std::fs::read_to_string(&path) {
        Ok(text) => Ok(FolderHolder::parse(&text)),
        Err(error) => Err(StoreError::File { path, error }),
    }
}

/// Returns the id of a data folder whose lock is held, or makes one.
pub(crate) fn folder_id(folder: &Path) -> Result<[u8; 16], StoreError> {
    let path = folder.join(ID_FILE_NAME);
    let file_error = |error| StoreError::File { path: path.clone(), error };
    match std::fs::read(&path) {
        Ok(id) if id.len() == 16 => return Ok(id.try_into().expect("16 octets")),
        Err(error) if error.kind() != ErrorKind::NotFound => return Err(file_error(error)),
        // Missing, or not written to its end.
        Ok(_) | Err(_) => {}
    }
    let mut id = [0; 16];
    getrandom::fill(&mut id).map_err(|error| file_error(std::io::Error::other(error)))?;
    std::fs::write(&path, id).map_err(file_error)?;
    Ok(id)
}

/// Whether a process has this data folder open: a gateway, or a command that opened the folder itself.
pub(crate) fn is_in_use(folder: &Path) -> Result<bool, StoreError> {
    let path = folder.join(FILE_NAME);
    let file = match File::open(&path) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(StoreError::File { path, error }),
    };
    match flock(&file, FlockOperation::NonBlockingLockShared) {
        Ok(()) => Ok(false),
        Err(Errno::WOULDBLOCK) => Ok(true),
        Err(error) => Err(StoreError::File { path, error: error.into() }),
    }
}

#[cfg(test)]
#[path = "lock_tests.rs"]
mod tests;
