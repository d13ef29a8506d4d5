//! Applies the batches of a journal to the database, in pieces: each is a transaction of its own, together with the number of its
//! last batch. On a full disk the pieces become smaller, and the log of the database is moved into its file after each, so that
//! they fit into the reserve.

use crate::data_folder::disk;
use crate::error::StoreError;
use crate::journal::{JournalBatch, OsFiles, Recovered, check};
use crate::sql::{Connection, SqlTables, errors};
use crate::sqlite::reserve::{RESERVE_BYTES, Reserve};
use crate::sqlite::{checkpoint, schema};
use hermod_engine::tables::{LogError, replay};
use std::path::Path;

/// Bytes of changes in a piece while there is disk space.
const PIECE_BYTES: usize = 16 * 1024 * 1024;
/// The same on a full disk, and when these do not fit either: a batch each.
const SMALL_PIECE_BYTES: [usize; 2] = [128 * 1024, 1];

/// How many times as large as its changes in the journal the database can become: pages are split in half, and most rows have
/// entries in indexes.
const GROWTH_MAX: u64 = 4;

/// A journal that was checked, and the database that it continues.
pub(super) struct JournalReplay<'a> {
    pub folder: &'a Path,
    pub connection: &'a Connection,
    pub recovered: &'a Recovered<OsFiles>,
    /// Disk space that may be given free.
    pub reserve: Option<&'a Reserve>,
}

impl JournalReplay<'_> {
    /// Applies every batch that the database lacks. Fails with [`StoreError::NoRoomToStart`] if the disk is too full for that; the
    /// pieces that were applied stay.
    pub(super) fn run(&self) -> Result<(), StoreError> {
        let Some((first, last)) = self.recovered.summary().range else { return Ok(()) };
        let mut applied = self.apply_pieces(PIECE_BYTES, false);
        for piece_bytes in SMALL_PIECE_BYTES {
            if applied.as_ref().is_err_and(StoreError::is_disk_full) {
                self.free_space()?;
                applied = self.apply_pieces(piece_bytes, true);
            }
        }
        match applied {
            Ok(()) => {
                let batches = last + 1 - first;
                tracing::info!(batches, "Applied batches from the journal that the database lacked");
                Ok(())
            }
            Err(error) if error.is_disk_full() => Err(self.no_room()?),
            Err(error) => Err(error),
        }
    }

    /// Gives the reserve free, and the space of the log.
    fn free_space(&self) -> Result<(), StoreError> {
        if let Some(reserve) = self.reserve {
            reserve.release();
        }
        checkpoint::truncate_at_start(self.folder, self.connection.sqlite())
    }

    fn no_room(&self) -> Result<StoreError, StoreError> {
        let lacked = check(&OsFiles, self.folder, schema::journal_position(self.connection)?)?;
        Ok(no_room_to_start(self.folder, lacked.payload_bytes))
    }

    fn apply_pieces(&self, piece_bytes: usize, is_disk_full: bool) -> Result<(), StoreError> {
        let after = schema::journal_position(self.connection)?;
        let stored = SqlTables { connection: self.connection };
        let (mut last, mut bytes) = (None, 0);
        let mut applied = self.recovered.replay(after, &mut |batch| {
            if self.connection.is_autocommit() {
                self.connection.execute_batch("BEGIN IMMEDIATE").map_err(errors::store_error)?;
            }
            apply(&batch, &stored)?;
            last = Some((batch.sequence, batch.checksum));
            bytes += batch.payload.len();
            if bytes >= piece_bytes {
                self.commit(last.take(), is_disk_full)?;
                bytes = 0;
            }
            Ok(())
        });
        if applied.is_ok() {
            applied = self.commit(last, is_disk_full);
        }
        if applied.is_err() && !self.connection.is_autocommit() {
            self.connection.execute_batch("ROLLBACK").map_err(errors::store_error)?;
        }
        applied
    }

    /// Commits a piece that ends with this batch.
    fn commit(&self, last: Option<(u64, u32)>, is_disk_full: bool) -> Result<(), StoreError> {
        let Some((sequence, checksum)) = last else { return Ok(()) };
        schema::put_last_batch(self.connection, sequence, checksum)?;
        self.connection.execute_batch("COMMIT").map_err(errors::store_error)?;
        if is_disk_full {
            checkpoint::truncate_at_start(self.folder, self.connection.sqlite())
        } else {
            Ok(())
        }
    }
}

/// Returns the error of a start on a full disk. `changes`: the bytes of changes that must be applied.
pub(super) fn no_room_to_start(folder: &Path, changes: u64) -> StoreError {
    StoreError::NoRoomToStart {
        folder: folder.to_owned(),
        needed: changes * GROWTH_MAX + RESERVE_BYTES,
        free: disk::free_bytes(folder).unwrap_or(0),
    }
}

/// Applies the changes of one batch from the journal.
pub(super) fn apply(batch: &JournalBatch<'_>, stored: &SqlTables<'_>) -> Result<(), StoreError> {
    match replay(batch.encoding, batch.payload, stored) {
        Ok(_) => Ok(()),
        Err(error) => {
            let is_unknown = matches!(error.downcast_ref(), Some(LogError::UnknownEncoding(_)));
            let error = if is_unknown {
                StoreError::BeforeFirstRelease("the journal".into())
            } else {
                StoreError::from(error)
            };
            if !error.is_disk_full() {
                tracing::error!(%error, batch = batch.sequence, "A batch of the journal cannot be applied to the database");
            }
            Err(error)
        }
    }
}

#[cfg(test)]
#[path = "replaying_tests.rs"]
mod tests;
