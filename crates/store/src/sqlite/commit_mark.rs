//! Detects lost batches. The file `hermod.mark` has the number of the last acknowledged batch; the journal and the database
//! have the number of their last one. If the journal or the log of the database has lost its end, they have fewer batches than
//! were acknowledged, and the store does not open.

use crate::error::StoreError;
use crate::sql::Connection;
use hermod_engine::tables::TableError;
use std::fs::File;
use std::os::unix::fs::{FileExt, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

const FILE_NAME: &str = "hermod.mark";
/// XORed with the number for a checksum, so that a damaged file is recognised.
const SEAL: u64 = 0x6d_61_72_6b_48_65_72_6d;

/// The open mark file.
pub(crate) struct CommitMark {
    file: File,
    path: PathBuf,
}

impl CommitMark {
    /// Opens or creates the mark. `last`: the last batch of the journal and the database. Fails with [`StoreError::Behind`] if
    /// later ones were acknowledged. A missing or damaged mark is ignored.
    pub(crate) fn open(folder: &Path, last: u64) -> Result<CommitMark, StoreError> {
        let path = folder.join(FILE_NAME);
        let file =
            File::options().read(true).write(true).create(true).truncate(false).mode(0o600).open(&path);
        let file = file.map_err(|error| StoreError::File { path: path.clone(), error })?;
        let mark = CommitMark { file, path };
        if let Some(acknowledged) = mark.acknowledged()
            && acknowledged > last
        {
            return Err(StoreError::Behind { path: mark.path, acknowledged, found: last });
        }
        mark.committed(last);
        Ok(mark)
    }

    /// Stores the number of the last batch in the database, within the transaction that is about to be committed.
    pub(crate) fn store(&self, connection: &Connection, last: u64) -> Result<(), TableError> {
        connection.prepare_cached("UPDATE writer SET commits = ?1")?.execute([last.cast_signed()])?;
        Ok(())
    }

    /// Records that a batch is durable, before it is acknowledged. The file is not synced: a power cut may leave a lower
    /// number, which only weakens the check.
    pub(crate) fn committed(&self, last: u64) {
        let mut bytes = [0; 16];
        bytes[..8].copy_from_slice(&last.to_be_bytes());
        bytes[8..].copy_from_slice(&(last ^ SEAL).to_be_bytes());
        if let Err(error) = self.file.write_all_at(&bytes, 0) {
            tracing::warn!(%error, path = %self.path.display(), "The number of the last commit could not be written");
        }
    }

    /// Returns the last acknowledged batch of a folder; `None` if its mark is missing or damaged.
    pub(crate) fn read(folder: &Path) -> Option<u64> {
        acknowledged(&File::open(folder.join(FILE_NAME)).ok()?)
    }

    fn acknowledged(&self) -> Option<u64> {
        acknowledged(&self.file)
    }
}

fn acknowledged(file: &File) -> Option<u64> {
    let mut bytes = [0; 16];
    file.read_exact_at(&mut bytes, 0).ok()?;
    let (commits, sealed) = bytes.split_at(8);
    let commits = u64::from_be_bytes(commits.try_into().ok()?);
    let sealed = u64::from_be_bytes(sealed.try_into().ok()?);
    (commits ^ SEAL == sealed).then_some(commits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folder_with_fewer_batches_than_its_mark_is_rejected() {
        let folder = tempfile::TempDir::new().unwrap();
        let mark = CommitMark::open(folder.path(), 0).unwrap();
        mark.committed(1);
        assert_eq!(mark.acknowledged(), Some(1));
        assert!(CommitMark::open(folder.path(), 1).is_ok());

        let refused = CommitMark::open(folder.path(), 0).err();
        assert!(matches!(refused, Some(StoreError::Behind { acknowledged: 1, found: 0, .. })), "{refused:?}");
        let mark = CommitMark::open(folder.path(), 5).unwrap();
        assert_eq!(mark.acknowledged(), Some(5), "more batches are allowed");
        std::fs::write(folder.path().join(FILE_NAME), [9; 16]).unwrap();
        assert!(CommitMark::open(folder.path(), 0).is_ok(), "a damaged mark is ignored");
        std::fs::remove_file(folder.path().join(FILE_NAME)).unwrap();
        assert!(CommitMark::open(folder.path(), 0).is_ok(), "a missing mark is ignored");
    }
}
