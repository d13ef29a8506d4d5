//! One process per data folder: two writers would each believe their own balances.

use crate::error::StoreError;
use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use std::fs::{DirBuilder, File, Permissions};
use std::io::ErrorKind;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::Path;
use std::time::Duration;

const FILE_NAME: &str = "hermod.lock";
/// A look at the lock ([`is_in_use`]) holds it for an instant, so taking it is tried more than once.
const TRIES: u32 = 5;
const TRY_PAUSE: Duration = Duration::from_millis(20);

/// Makes the data folder, for its owner alone. One that is there already stays as it is: it may be shared with others on
/// purpose, and everything of Hermod's in it is for its owner alone anyway.
pub(crate) fn make_folder(folder: &Path) -> Result<(), StoreError> {
    let file_error = |error| StoreError::File { path: folder.to_owned(), error };
    DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(file_error)?;
    let mode = std::fs::metadata(folder).map_err(file_error)?.permissions().mode() & 0o777;
    if mode & 0o077 != 0 {
        tracing::warn!(
            folder = %folder.display(),
            mode = format!("{mode:o}"),
            "Other users can look into the data folder; if nobody else needs to, run: chmod 700 {}",
            folder.display()
        );
    }
    Ok(())
}

/// Held until dropped, or until the process ends in whatever way.
pub(crate) struct FolderLock {
    _file: File,
}

impl FolderLock {
    #[expect(clippy::disallowed_methods, reason = "flock has no form that waits for a limited time")]
    pub(crate) fn take(folder: &Path) -> Result<FolderLock, StoreError> {
        let path = folder.join(FILE_NAME);
        let file = File::options().write(true).create(true).truncate(true).mode(0o600).open(&path);
        // One that an earlier release made may be looser.
        let file = file.and_then(|file| file.set_permissions(Permissions::from_mode(0o600)).map(|()| file));
        let file = file.map_err(|error| StoreError::File { path: path.clone(), error })?;
        for _ in 0..TRIES {
            match flock(&file, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => return Ok(FolderLock { _file: file }),
                Err(Errno::WOULDBLOCK) => std::thread::sleep(TRY_PAUSE),
                Err(error) => return Err(StoreError::File { path, error: error.into() }),
            }
        }
        Err(StoreError::InUse(folder.to_owned()))
    }
}

/// Whether a process works on this data folder: a gateway, or a command that opened the folder itself.
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
