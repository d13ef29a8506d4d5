//! Detects lost batches. The file `hermod.mark` has the history and the number of the last acknowledged batch; the journal and
//! the database have the number of their last one. If the journal or the log of the database has lost its end, they have fewer batches than
//! were acknowledged, and the store does not open.

use crate::error::StoreError;
use crate::journal::HistoryId;
use std::fs::File;
use std::os::unix::fs::{FileExt, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

pub(super) const FILE_NAME: &str = "hermod.mark";
/// Begins the checksum, so that a damaged file is recognised.
const SEAL: u32 = 0x6d_61_72_6b;
/// The number of the batch, the id of the history, and a checksum of both.
const MARK_BYTES: usize = 28;

/// The open mark file.
pub(crate) struct CommitMark {
    file: File,
    path: PathBuf,
    history: HistoryId,
}

impl CommitMark {
    /// Opens or creates the mark. `last`: the last batch of the journal and the database. Fails with [`StoreError::Behind`] if
    /// later ones were acknowledged, and with [`StoreError::OtherMark`] if it is of another history. A missing or damaged mark
    /// is ignored.
    pub(crate) fn open(folder: &Path, history: HistoryId, last: u64) -> Result<CommitMark, StoreError> {
        let path = folder.join(FILE_NAME);
        let file =
            File::options().read(true).write(true).create(true).truncate(false).mode(0o600).open(&path);
        let file = file.map_err(|error| StoreError::File { path: path.clone(), error })?;
        match acknowledged(&file) {
            Some((own, _)) if own != history => return Err(StoreError::OtherMark { path }),
            Some((_, acknowledged)) if acknowledged > last => {
                return Err(StoreError::Behind { path, acknowledged, found: last });
            }
            _ => {}
        }
        let mark = CommitMark { file, path, history };
        mark.committed(last);
        Ok(mark)
    }

    /// Records that a batch is durable, before it is acknowledged. The file is not synced: a power cut may leave a lower
    /// number, which only weakens the check.
    pub(crate) fn committed(&self, last: u64) {
        let mut bytes = [0; MARK_BYTES];
        bytes[..8].copy_from_slice(&last.to_be_bytes());
        bytes[8..24].copy_from_slice(&self.history.0);
        let checksum = crc32c::crc32c_append(SEAL, &bytes[..24]);
        bytes[24..].copy_from_slice(&checksum.to_be_bytes());
        if let Err(error) = self.file.write_all_at(&bytes, 0) {
            tracing::warn!(%error, path = %self.path.display(), "The number of the last commit could not be written");
        }
    }

    /// Returns the last acknowledged batch of a history. Fails with [`StoreError::OtherMark`] if the mark is of another one.
    pub(crate) fn read_of(folder: &Path, history: HistoryId) -> Result<Option<u64>, StoreError> {
        let path = folder.join(FILE_NAME);
        match File::open(&path).ok().as_ref().and_then(acknowledged) {
            Some((own, _)) if own != history => Err(StoreError::OtherMark { path }),
            found => Ok(found.map(|(_, last)| last)),
        }
    }

    /// Returns the last acknowledged batch of a folder; `None` if its mark is missing or damaged.
    pub(crate) fn read(folder: &Path) -> Option<u64> {
        acknowledged(&File::open(folder.join(FILE_NAME)).ok()?).map(|(_, last)| last)
    }
}

fn acknowledged(file: &File) -> Option<(HistoryId, u64)> {
    let mut bytes = [0; MARK_BYTES];
    file.read_exact_at(&mut bytes, 0).ok()?;
    let (content, checksum) = bytes.split_at(24);
    if crc32c::crc32c_append(SEAL, content).to_be_bytes() != checksum {
        return None;
    }
    let (last, history) = content.split_at(8);
    Some((HistoryId(history.try_into().ok()?), u64::from_be_bytes(last.try_into().ok()?)))
}

#[cfg(test)]
#[path = "commit_mark_tests.rs"]
mod tests;
