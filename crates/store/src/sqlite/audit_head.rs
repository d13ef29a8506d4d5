//! The file with the sealed end of the audit log, beside the database. Somebody who can write to the database but not to the
//! folder cannot remove the last rows of the log unnoticed, not even with an older copy of the database.
//!
//! The writer replaces the file after a batch that wrote to the log. A crash may leave an older end, which is still an end
//! that the log once had. An end that the log does not have is never replaced: every audit finds it.

use crate::error::StoreError;
use crate::sql::{Connection, audit_log};
use hermod_domain::audit::{AuditEnd, AuditHash, AuditKey, AuditSeal, SealPlace};
use std::fs::File;
use std::io::{ErrorKind, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

/// The name of the file.
pub(crate) const FILE_NAME: &str = "hermod.audit";
const NEW_FILE: &str = "hermod.audit.new";
/// Number, hash and seal.
const OCTETS: usize = 8 + 32 + 32;

/// The contents of the file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum AuditHeadFile {
    /// There is none: the store is on PostgreSQL, or the caller has not read it.
    #[default]
    NotRead,
    Missing,
    /// It has another length.
    Damaged,
    Found {
        end: AuditEnd,
        seal: AuditSeal,
    },
}

impl AuditHeadFile {
    /// Reads the file of a folder.
    pub(crate) fn read(folder: &Path) -> Result<AuditHeadFile, StoreError> {
        let path = folder.join(FILE_NAME);
        match std::fs::read(&path) {
            Ok(octets) => Ok(parse(&octets).unwrap_or(AuditHeadFile::Damaged)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(AuditHeadFile::Missing),
            Err(error) => Err(StoreError::File { path, error }),
        }
    }

    /// Returns the end, if it was sealed with this key.
    pub(crate) fn end(self, key: AuditKey) -> Option<AuditEnd> {
        match self {
            AuditHeadFile::Found { end, seal } => (end.seal(key, SealPlace::File) == seal).then_some(end),
            AuditHeadFile::NotRead | AuditHeadFile::Missing | AuditHeadFile::Damaged => None,
        }
    }
}

/// What an audit needs to check the audit log.
#[derive(Clone, Copy, Debug, Default)]
pub struct AuditProof {
    /// The key of the log, derived from the pepper. Without it only the numbers of the rows are checked.
    pub(crate) key: Option<AuditKey>,
    /// The file, as it was before the database was read.
    pub(crate) file: AuditHeadFile,
}

impl AuditProof {
    /// Reads the file of a data folder. To be called before the database is copied or read: the log grows.
    pub fn read(folder: &Path, key: Option<AuditKey>) -> Result<AuditProof, StoreError> {
        Ok(AuditProof { key, file: AuditHeadFile::read(folder)? })
    }
}

/// Replaces the file. It is durable when this returns.
pub(crate) fn write(folder: &Path, key: AuditKey, end: AuditEnd) -> Result<(), StoreError> {
    let path = folder.join(NEW_FILE);
    let octets = [&end.number.to_be_bytes()[..], &end.hash.0, &end.seal(key, SealPlace::File).0].concat();
    let written = File::options().write(true).create(true).truncate(true).mode(0o600).open(&path);
    let written = written.and_then(|mut file| file.write_all(&octets).and_then(|()| file.sync_data()));
    let renamed = written.and_then(|()| std::fs::rename(&path, folder.join(FILE_NAME)));
    renamed.map_err(|error| StoreError::File { path, error })
}

fn parse(octets: &[u8]) -> Option<AuditHeadFile> {
    let octets: &[u8; OCTETS] = octets.try_into().ok()?;
    let (number, rest) = octets.split_at(8);
    let (hash, seal) = rest.split_at(32);
    let end = AuditEnd {
        number: u64::from_be_bytes(number.try_into().ok()?),
        hash: AuditHash(hash.try_into().ok()?),
    };
    Some(AuditHeadFile::Found { end, seal: AuditSeal(seal.try_into().ok()?) })
}

/// Writes the end of the log to the file, unless the file has an end that the log does not have: every audit finds that one.
pub(crate) fn keep(
    folder: &Path,
    connection: &Connection,
    key: AuditKey,
    end: AuditEnd,
) -> Result<(), StoreError> {
    let file = AuditHeadFile::read(folder)?;
    let is_in_log = match (file, file.end(key)) {
        (AuditHeadFile::NotRead | AuditHeadFile::Missing, _) => true,
        (_, Some(before)) => audit_log::hash_of(connection, before.number)? == Some(before.hash),
        (_, None) => false,
    };
    if is_in_log {
        return write(folder, key, end);
    }
    tracing::error!(
        file = FILE_NAME,
        "The audit log does not have the end that its file has: rows were removed. Run hermod audit"
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn end_is_read_with_its_key_only_and_damage_is_recognised() {
        let folder = tempfile::TempDir::new().unwrap();
        assert_eq!(AuditHeadFile::read(folder.path()).unwrap(), AuditHeadFile::Missing);
        let (key, end) = (AuditKey([1; 32]), AuditEnd { number: 5, hash: AuditHash([9; 32]) });
        write(folder.path(), key, end).unwrap();
        write(folder.path(), key, AuditEnd { number: 6, ..end }).unwrap();
        let found = AuditHeadFile::read(folder.path()).unwrap();
        assert_eq!(found.end(key), Some(AuditEnd { number: 6, ..end }));
        assert_eq!(found.end(AuditKey([2; 32])), None);
        std::fs::write(folder.path().join(FILE_NAME), [0; 71]).unwrap();
        assert_eq!(AuditHeadFile::read(folder.path()).unwrap(), AuditHeadFile::Damaged);
    }
}
