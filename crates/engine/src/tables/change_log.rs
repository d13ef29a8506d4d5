//! The changes of a batch in their encoded form, which a journal keeps, and their replay after a crash.
//!
//! A change is encoded by `postcard`; changes follow each other without anything between them. The number and the order
//! of variants and fields are part of the encoding.

use crate::tables::changes::Change;
use crate::tables::columns::End;
use crate::tables::{StoredTables, TableError};

/// A number that follows from the encoding of every change, as it is recorded: a store that was made with another one is refused.
pub const CHANGES_FINGERPRINT: u32 = fingerprint(0, include_str!("encoding.txt"));
/// The encoding of a [`ChangeLog`], by a part of that number. Another one is refused.
pub const CHANGE_ENCODING: u8 = CHANGES_FINGERPRINT.to_le_bytes()[0];
/// Bytes of the buffer that a [`ChangeLog`] keeps for the next batch.
const BUFFER_KEPT_MAX: usize = 4 << 20;

/// Returns a number that follows from a text, and from the number of a text before it. (FNV-1a)
pub const fn fingerprint(before: u32, text: &str) -> u32 {
    let (mut hash, mut octets) = (before ^ 0x811c_9dc5, text.as_bytes());
    while let [first, rest @ ..] = octets {
        hash = (hash ^ *first as u32).wrapping_mul(0x0100_0193);
        octets = rest;
    }
    hash
}

/// Why logged changes could not be read.
#[derive(Debug, thiserror::Error)]
pub enum LogError {
    #[error("the changes have encoding {0}, and this build reads encoding {CHANGE_ENCODING} only")]
    UnknownEncoding(u8),
    #[error(
        "the change at byte {offset} of {length} is not valid in encoding {encoding}; {changes} before it are: {reason}"
    )]
    Invalid { encoding: u8, offset: usize, length: usize, changes: usize, reason: postcard::Error },
}

/// The encoded changes of a batch, in the order in which they were applied.
#[derive(Default)]
pub struct ChangeLog {
    bytes: Vec<u8>,
    changes: usize,
}

impl ChangeLog {
    /// Encodes a change behind those before it.
    pub fn add(&mut self, change: &Change) -> Result<(), TableError> {
        let end = self.bytes.len();
        if let Err(error) = postcard::serialize_with_flavor(change, End(&mut self.bytes)) {
            self.bytes.truncate(end);
            return Err(error.into());
        }
        self.changes += 1;
        Ok(())
    }

    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns the number of changes.
    pub fn len(&self) -> usize {
        self.changes
    }

    pub fn is_empty(&self) -> bool {
        self.changes == 0
    }

    /// Removes all changes. The buffer is used again.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.bytes.shrink_to(BUFFER_KEPT_MAX);
        self.changes = 0;
    }
}

/// Reads logged changes one after the other. Ends after the first that is not valid.
pub struct LoggedChanges<'a> {
    encoding: u8,
    length: usize,
    left: &'a [u8],
    read: usize,
}

impl<'a> LoggedChanges<'a> {
    pub fn new(encoding: u8, bytes: &'a [u8]) -> Result<LoggedChanges<'a>, LogError> {
        if encoding != CHANGE_ENCODING {
            return Err(LogError::UnknownEncoding(encoding));
        }
        Ok(LoggedChanges { encoding, length: bytes.len(), left: bytes, read: 0 })
    }
}

impl Iterator for LoggedChanges<'_> {
    type Item = Result<Change, LogError>;

    fn next(&mut self) -> Option<Result<Change, LogError>> {
        let LoggedChanges { encoding, length, left, read: changes } = *self;
        if left.is_empty() {
            return None;
        }
        Some(match postcard::take_from_bytes(left) {
            Ok((change, left)) => {
                self.left = left;
                self.read += 1;
                Ok(change)
            }
            Err(reason) => {
                self.left = &[];
                Err(LogError::Invalid { encoding, offset: length - left.len(), length, changes, reason })
            }
        })
    }
}

/// Applies logged changes in their order. Returns how many there were.
pub fn replay(encoding: u8, bytes: &[u8], stored: &dyn StoredTables) -> Result<usize, TableError> {
    let mut applied = 0;
    for change in LoggedChanges::new(encoding, bytes)? {
        change?.apply(stored)?;
        applied += 1;
    }
    Ok(applied)
}
