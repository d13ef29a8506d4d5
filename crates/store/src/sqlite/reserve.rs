//! Disk space that is held back for the flush of batches that were acknowledged already. The file `hermod.reserve` has no
//! content; it is removed when a flush finds the disk full, and made again as soon as there is room for it. Meanwhile no batch
//! is accepted.

use rustix::fs::{FallocateFlags, fallocate};
use rustix::io::Errno;
use std::cell::Cell;
use std::fs::File;
use std::io::{self, ErrorKind, Read as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

const FILE_NAME: &str = "hermod.reserve";
/// More than a flush writes while the disk is nearly full: the pages that one batch changes.
pub(super) const RESERVE_BYTES: u64 = 4 * 1024 * 1024;

pub(super) struct Reserve {
    path: PathBuf,
    is_held: Cell<bool>,
}

impl Reserve {
    /// Makes the reserve of a data folder, if the disk has room for it.
    pub(super) fn new(folder: &Path) -> Reserve {
        let reserve = Reserve { path: folder.join(FILE_NAME), is_held: Cell::new(false) };
        reserve.restore();
        reserve
    }

    pub(super) fn is_held(&self) -> bool {
        self.is_held.get()
    }

    /// Gives the space free. Returns false if it was not held.
    pub(super) fn release(&self) -> bool {
        self.is_held.replace(false) && std::fs::remove_file(&self.path).is_ok()
    }

    /// Takes the space again. Returns whether it is held.
    pub(super) fn restore(&self) -> bool {
        if !self.is_held.get() {
            let taken = match self.allocate() {
                Ok(()) => true,
                Err(error) if matches!(error.kind(), ErrorKind::StorageFull | ErrorKind::QuotaExceeded) => {
                    // A part of it would only make the disk fuller.
                    let _ = std::fs::remove_file(&self.path);
                    false
                }
                Err(error) => {
                    // Not the fault of the disk's size: working without a reserve is better than not at all.
                    tracing::warn!(%error, path = %self.path.display(), "No disk space could be reserved for a full disk");
                    true
                }
            };
            self.is_held.set(taken);
        }
        self.is_held.get()
    }

    /// Allocates the file, by writing it where the file system cannot allocate.
    fn allocate(&self) -> io::Result<()> {
        let mut file =
            File::options().write(true).create(true).truncate(false).mode(0o600).open(&self.path)?;
        match fallocate(&file, FallocateFlags::empty(), 0, RESERVE_BYTES) {
            Err(Errno::OPNOTSUPP | Errno::NOSYS | Errno::INVAL) => {
                io::copy(&mut io::repeat(0).take(RESERVE_BYTES), &mut file)?;
                file.sync_data()
            }
            allocated => Ok(allocated?),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::MetadataExt as _;

    #[test]
    fn reserve_occupies_disk_space_until_it_is_released() {
        let folder = tempfile::TempDir::new().unwrap();
        let occupied =
            || std::fs::metadata(folder.path().join(FILE_NAME)).map_or(0, |file| file.blocks() * 512);
        let reserve = Reserve::new(folder.path());
        assert!(reserve.is_held() && occupied() >= RESERVE_BYTES, "{} bytes", occupied());
        assert!(reserve.release());
        assert_eq!((reserve.is_held(), reserve.release(), occupied()), (false, false, 0));
        assert!(reserve.restore() && occupied() >= RESERVE_BYTES);
        assert!(Reserve::new(folder.path()).is_held(), "a reserve that another process left is taken over");
    }
}
