//! How far the store has told others: the number of the last commit that anyone heard of, in a small file beside the
//! database, which keeps the same number inside. A log that was damaged is cut off by SQLite at the damage, without a
//! word; then the database knows of fewer commits than were told, and the store does not open.

use crate::error::StoreError;
use hermod_engine::tables::TableError;
use rusqlite::Connection;
use std::cell::Cell;
use std::fs::File;
use std::os::unix::fs::{FileExt, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

const FILE_NAME: &str = "hermod.mark";
/// Tells a number that was written from rubbish.
const SEAL: u64 = 0x6d_61_72_6b_48_65_72_6d;

pub(crate) struct CommitMark {
    file: File,
    path: PathBuf,
    commits: Cell<u64>,
}

impl CommitMark {
    /// Refuses a database that is behind what was told.
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

    /// Counts a commit in the transaction that is to become it.
    pub(crate) fn count(&self, connection: &Connection) -> Result<(), TableError> {
        let next = (self.commits.get() + 1).cast_signed();
        connection.prepare_cached("UPDATE writer SET commits = ?1")?.execute([next])?;
        Ok(())
    }

    /// The commit is durable and about to be told. Not synced: a number that a power cut takes back is too low, which
    /// only makes the check weaker.
    pub(crate) fn committed(&self) {
        self.commits.set(self.commits.get() + 1);
        self.write();
    }

    fn write(&self) {
        let (commits, mut bytes) = (self.commits.get(), [0; 16]);
        bytes[..8].copy_from_slice(&commits.to_be_bytes());
        bytes[8..].copy_from_slice(&(commits ^ SEAL).to_be_bytes());
        if let Err(error) = self.file.write_all_at(&bytes, 0) {
            tracing::warn!(%error, path = %self.path.display(), "The number of the last commit could not be noted");
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
    fn a_database_behind_its_mark_is_refused_and_any_other_is_not() {
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
        assert_eq!(CommitMark::open(folder.path(), &connection).unwrap().acknowledged(), Some(5), "ahead is fine");
        set(0);
        std::fs::write(folder.path().join(FILE_NAME), [9; 16]).unwrap();
        assert!(CommitMark::open(folder.path(), &connection).is_ok(), "rubbish says nothing");
        set(0);
        std::fs::remove_file(folder.path().join(FILE_NAME)).unwrap();
        assert!(CommitMark::open(folder.path(), &connection).is_ok(), "as does a missing mark");
    }
}
