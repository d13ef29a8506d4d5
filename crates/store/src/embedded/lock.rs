//! One process per data folder: two writers would each believe their own balances.

use crate::fault::StoreFault;
use rustix::fs::{FlockOperation, flock};
use std::fs::File;
use std::path::Path;

const FILE_NAME: &str = "hermod.lock";

/// Held until dropped, or until the process ends in whatever way.
pub(crate) struct FolderLock {
    _file: File,
}

impl FolderLock {
    pub(crate) fn take(folder: &Path) -> Result<FolderLock, StoreFault> {
        let path = folder.join(FILE_NAME);
        let file = File::create(&path).map_err(|error| StoreFault::File { path: path.clone(), error })?;
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(FolderLock { _file: file }),
            Err(rustix::io::Errno::WOULDBLOCK) => Err(StoreFault::InUse(folder.to_owned())),
            Err(error) => Err(StoreFault::File { path, error: error.into() }),
        }
    }
}
