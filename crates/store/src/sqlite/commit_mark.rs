//! Detects lost commits. The file `hermod.mark` has the number of the last acknowledged commit; the database has the number of
//! its last commit. SQLite silently ignores a write-ahead log from its first damaged frame on. The database then has fewer
//! commits than were acknowledged, and the store does not open.

use crate::error::StoreError;
use hermod_engine::tables::TableError;
use rusqlite::Connection;
use std::cell::Cell;
use std::fs::File;
use std::os::unix::fs::{FileExt, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

const FILE_NAME: &str = "hermod.mark";
/// XORed with the number for a checksum, so that a damaged file is recognised.
const SEAL: u64 = 0x6d_61_72_6b_48_65_72_6d;

/// The open mark file, and the number of the last commit.
pub(crate) struct CommitMark {
    file: File,
    path: PathBuf,
    commits: Cell<u64>,
}

impl CommitMark {
    /// Opens or creates the mark. Fails with [`StoreError::Behind`] if the database has fewer commits than were acknowledged. A
    /// missing or damaged mark is ignored.
    pub(crate) fn open(folder: &Path, connection: &Connection) -> Result<CommitMark, TableError> {
        let path = folder.join(FILE_NAME);
        let stored: i64 = connection.query_row("SELECT commits FROM writer", [], |row| row.get(0))?;
        let commits = stored.cast_unsigned();
        let file =
            File::options().read(true).write(true).create(true).truncate(false).mode(0o600).open(&path);
        let file = file.map_err(|error| StoreError::File { path: path.clone(), error })?;
        let mark = CommitMark { file, path, commits: Cell::new(commits) };
        if let Some(acknowledged) = mark.acknowledged()
            && acknowledged > commits
        {
            return Err(StoreError::Behind { path: mark.path, acknowledged, found: commits }.into());
        }
        mark.write();
        Ok(mark)
    }

    /// Increases the number in the database, within the transaction that is about to be committed.
    pub(crate) fn count(&self, connection: &Connection) -> Result<(), TableError> {
        let next = (self.commits.get() + 1).cast_signed();
        connection.prepare_cached("UPDATE writer SET commits = ?1")?.execute([next])?;
        Ok(())
    }

    /// Records that the commit is durable, before it is acknowledged. The file is not synced: a power cut may leave a lower
    /// number, which only weakens the check.
    pub(crate) fn committed(&self) {
        self.commits.set(self.commits.get() + 1);
        self.write();
    }

    fn write(&self) {
        let (commits, mut bytes) = (self.commits.get(), [0; 16]);
        bytes[..8].copy_from_slice(&commits.to_be_bytes());
        bytes[8..].copy_from_slice(&(commits ^ SEAL).to_be_bytes());
        if let Err(error) = self.file.write_all_at(&bytes, 0) {
            tracing::warn!(%error, path = %self.path.display(), "The number of the last commit could not be written");
        }
    }

    fn acknowledged(&self) -> Option<u64> {
        let mut bytes = [0; 16];
        self.file.read_exact_at(&mut bytes, 0).ok()?;
        let (commits, sealed) = bytes.split_at(8);
        let commits = u64::from_be_bytes(commits.try_into().ok()?);
        let sealed = u64::from_be_bytes(sealed.try_into().ok()?);
        (commits ^ SEAL == sealed).then_some(commits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sqlite::schema;

    #[test]
    fn database_with_fewer_commits_than_its_mark_is_rejected() {
        let folder = tempfile::TempDir::new().unwrap();
        let connection = schema::open_for_writing(folder.path()).unwrap();
        let set = |commits: i64| connection.execute("UPDATE writer SET commits = ?1", [commits]).unwrap();
        let mark = CommitMark::open(folder.path(), &connection).unwrap();
        mark.count(&connection).unwrap();
        mark.committed();
        assert_eq!(mark.acknowledged(), Some(1));
        assert!(CommitMark::open(folder.path(), &connection).is_ok());

        set(0);
        let refused = CommitMark::open(folder.path(), &connection).err().map(StoreError::from);
        assert!(matches!(refused, Some(StoreError::Behind { acknowledged: 1, found: 0, .. })), "{refused:?}");
        set(5);
        assert_eq!(
            CommitMark::open(folder.path(), &connection).unwrap().acknowledged(),
            Some(5),
            "more commits are allowed"
        );
        set(0);
        std::fs::write(folder.path().join(FILE_NAME), [9; 16]).unwrap();
        assert!(CommitMark::open(folder.path(), &connection).is_ok(), "a damaged mark is ignored");
        set(0);
        std::fs::remove_file(folder.path().join(FILE_NAME)).unwrap();
        assert!(CommitMark::open(folder.path(), &connection).is_ok(), "a missing mark is ignored");
    }
}
