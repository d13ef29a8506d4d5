//! The journal of a running store: appends records, and releases the segments that the database has.

use super::error::JournalError;
use super::files::{Files, OsFiles};
use super::format::{
    FORMAT, HEADER_BLOCK, HistoryId, JournalBatch, RECORD_BYTES_MAX, SegmentHeader, encode_record,
    record_bytes,
};
use super::pool::{FreeFile, Pool, Prepared};
use super::recovery::Recovered;
use super::segments::{SegmentWalk, Step, read_file, segment_path};
use super::{Damage, DamageKind, JournalLimits};
use std::collections::VecDeque;
use std::path::PathBuf;

/// The buffer of a larger record is not kept.
const BUFFER_KEPT_BYTES: usize = 1024 * 1024;
/// A new segment has room for this many reserved records, so that a large reservation is not a segment each.
const RESERVATIONS_PER_SEGMENT: u64 = 4;

pub(crate) struct Journal<F: Files = OsFiles> {
    files: F,
    folder: PathBuf,
    history: HistoryId,
    limits: JournalLimits,
    pool: Pool<F>,
    /// Full segments whose records the database does not have yet, oldest first.
    full: VecDeque<Segment>,
    current: Segment,
    file: F::File,
    /// Where the next record goes in the current segment.
    end: u64,
    /// The sequence and the CRC of the last record.
    last: u64,
    chain: u32,
    /// The database has all records up to this one.
    applied: u64,
    /// Sizes of the records after the applied one, and their sum.
    sizes: VecDeque<u32>,
    backlog_bytes: u64,
    /// Size of the last reservation.
    reserved: u64,
    /// Whether the next segment was requested.
    requested: bool,
    /// A write or fsync failed. Nothing is appended any more.
    failed: bool,
    buffer: Vec<u8>,
}

/// One segment that has records, or will have.
#[derive(Clone, Copy, Debug)]
struct Segment {
    header: SegmentHeader,
    bytes: u64,
    /// The last record; less than the first one if there is none.
    last: u64,
    /// Whether the file is to be overwritten with zeros once its records are not needed.
    wipe: bool,
}

impl Segment {
    fn free(&self) -> FreeFile {
        FreeFile { number: self.header.number, bytes: self.bytes, wipe: self.wipe }
    }

    fn has_records(&self) -> bool {
        self.last >= self.header.first
    }
}

impl<F: Files> Journal<F> {
    /// Begins a new segment after the recovered ones, and starts the thread that prepares further ones. The database must
    /// have all replayed records: fails with [`JournalError::NotApplied`] if `applied` says otherwise. The recovered files
    /// are overwritten with zeros and used again.
    pub(crate) fn start(
        recovered: Recovered<F>,
        applied: u64,
        limits: JournalLimits,
    ) -> Result<Journal<F>, JournalError> {
        let mut journal = Journal::start_without_thread(recovered, applied, limits)?;
        journal.pool.start_thread()?;
        Ok(journal)
    }

    /// Like [`Journal::start`], without the thread.
    pub(super) fn start_without_thread(
        recovered: Recovered<F>,
        applied: u64,
        limits: JournalLimits,
    ) -> Result<Journal<F>, JournalError> {
        let Recovered { files, folder, history, found, last, chain, .. } = recovered;
        if applied < last {
            return Err(JournalError::NotApplied { last, applied });
        }
        let next_number = found.last().map_or(1, |newest| newest.number + 1);
        let free =
            |number, bytes: u64| FreeFile { number, bytes: bytes / HEADER_BLOCK * HEADER_BLOCK, wipe: true };
        let free = found.iter().map(|file| free(file.number, file.bytes)).collect();
        let pool = Pool::new(files.clone(), &folder, limits, free, next_number);
        let prepared = pool.take(limits.first_segment)?;
        let (current, file) = begin(&files, &folder, prepared, history, (last + 1, chain))?;
        Ok(Journal {
            files,
            folder,
            history,
            limits,
            pool,
            full: VecDeque::new(),
            current,
            file,
            end: HEADER_BLOCK,
            last,
            chain,
            applied: last,
            sizes: VecDeque::new(),
            backlog_bytes: 0,
            reserved: 0,
            requested: false,
            failed: false,
            buffer: Vec::new(),
        })
    }

    /// Makes sure that a payload of `bytes` can be appended without allocating disk space. On a full disk, fails with
    /// [`JournalError::DiskFull`] and changes nothing.
    pub(crate) fn reserve(&mut self, bytes: usize) -> Result<(), JournalError> {
        let needed = self.checked_size(bytes)?;
        self.reserved = needed;
        if self.room() >= needed {
            return Ok(());
        }
        let mut ensured = self.pool.ensure(self.next_segment_bytes(needed));
        if ensured.as_ref().is_err_and(JournalError::is_disk_full) {
            // A smaller segment may fit.
            ensured = self.pool.ensure((HEADER_BLOCK + needed).next_multiple_of(HEADER_BLOCK));
        }
        self.note_failure(ensured)
    }

    /// Appends one record. It is durable when this returns its sequence. An error that [`JournalError::is_fatal`] leaves
    /// unknown whether a later start will find the record: the process must end. Other errors have written nothing.
    pub(crate) fn append(&mut self, encoding: u8, payload: &[u8]) -> Result<u64, JournalError> {
        let needed = self.checked_size(payload.len())?;
        if self.room() < needed {
            self.roll(HEADER_BLOCK + needed)?;
        }
        let (sequence, salt) = (self.last + 1, self.current.header.salt);
        let crc = encode_record(
            &mut self.buffer,
            self.history.seed(),
            (salt, sequence, self.chain),
            (encoding, payload),
        );
        let written = self.files.write_at(&self.file, &self.buffer, self.end);
        let synced = written.and_then(|()| self.files.sync_data(&self.file));
        let path = || segment_path(&self.folder, self.current.header.number);
        let synced = synced.map_err(|error| JournalError::Io { path: path(), error });
        self.note_failure(synced)?;
        self.end += needed;
        (self.last, self.current.last, self.chain) = (sequence, sequence, crc);
        self.sizes.push_back(needed as u32);
        self.backlog_bytes += needed;
        if self.buffer.capacity() > BUFFER_KEPT_BYTES {
            self.buffer = Vec::new();
        }
        self.request_next_segment();
        Ok(sequence)
    }

    /// Releases the records up to `applied`, which are durable in the database. Segments without other records are used
    /// again.
    pub(crate) fn trim(&mut self, applied: u64) {
        let applied = applied.min(self.last);
        while self.applied < applied {
            self.applied += 1;
            self.backlog_bytes -= u64::from(self.sizes.pop_front().unwrap_or(0));
        }
        let released = self.full.iter().take_while(|segment| segment.last <= applied).count();
        self.full.drain(..released).for_each(|segment| self.pool.release(segment.free()));
    }

    /// Passes every batch after `applied` to `visit`, in order. They must not be trimmed.
    pub(crate) fn read_after<E: From<JournalError>>(
        &self,
        applied: u64,
        visit: &mut dyn FnMut(JournalBatch<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let segments = self.full.iter().chain([&self.current]).filter(|segment| segment.last > applied);
        for segment in segments.filter(|segment| segment.has_records()) {
            let path = segment_path(&self.folder, segment.header.number);
            let content = read_file(&self.files, &path)?;
            let mut walk = SegmentWalk::new(&content, &segment.header, Some(segment.last + 1), applied);
            loop {
                let (offset, expected) = (walk.offset as u64, walk.expected);
                match walk.step() {
                    Step::Record(record) if record.sequence <= applied => {}
                    Step::Record(record) => visit(record.batch())?,
                    Step::End => break,
                    Step::Lost { .. } | Step::Unchained => {
                        let kind = walk.unreadable().unwrap_or(DamageKind::Record);
                        let lost = (expected, segment.last);
                        let (applied, last) = (self.applied, self.last);
                        let damage = Damage { path, offset, kind, lost, applied, last };
                        return Err(JournalError::Damaged(damage).into());
                    }
                }
            }
        }
        Ok(())
    }

    /// Returns the bytes of all records that are not trimmed.
    pub(crate) fn backlog_bytes(&self) -> u64 {
        self.backlog_bytes
    }

    /// Returns the sequence of the last record, or of the last one before this journal.
    pub(crate) fn last_sequence(&self) -> u64 {
        self.last
    }

    /// Returns the CRC of that record; 0 if it is not known.
    pub(crate) fn last_checksum(&self) -> u32 {
        self.chain
    }

    /// Makes the thread overwrite with zeros what was written until now, so that no erased text remains: free files at once,
    /// others when their records are trimmed. Begins a new segment.
    pub(crate) fn wipe_free(&mut self) -> Result<(), JournalError> {
        self.pool.wipe();
        self.full.iter_mut().for_each(|segment| segment.wipe = true);
        self.current.wipe = true;
        self.roll(self.limits.first_segment)?;
        self.trim(self.applied);
        Ok(())
    }

    /// Returns how many files are still to be overwritten with zeros.
    #[cfg(test)]
    pub(crate) fn pending_wipes(&self) -> usize {
        let in_use = self.full.iter().chain([&self.current]).filter(|segment| segment.wipe).count();
        in_use + self.pool.pending_wipes()
    }

    /// Does one piece of the thread's work, for tests without the thread. Returns false if there is none.
    #[cfg(test)]
    pub(super) fn work(&self) -> bool {
        self.pool.work()
    }

    #[cfg(test)]
    pub(super) fn salt(&self) -> u64 {
        self.current.header.salt
    }

    fn room(&self) -> u64 {
        self.current.bytes - self.end
    }

    /// Returns the size of a record with such a payload.
    fn checked_size(&self, payload: usize) -> Result<u64, JournalError> {
        if self.failed {
            return Err(JournalError::Failed);
        }
        if payload > RECORD_BYTES_MAX {
            return Err(JournalError::RecordTooLarge { bytes: payload, max: RECORD_BYTES_MAX });
        }
        Ok(record_bytes(payload) as u64)
    }

    /// After a fatal error, nothing more is accepted.
    fn note_failure<T>(&mut self, result: Result<T, JournalError>) -> Result<T, JournalError> {
        self.failed |= result.as_ref().is_err_and(JournalError::is_fatal);
        result
    }

    /// Returns the size of the next segment, for records of this size.
    fn next_segment_bytes(&self, record: u64) -> u64 {
        let several = (HEADER_BLOCK + RESERVATIONS_PER_SEGMENT * record).min(self.limits.segment_max);
        several.max(HEADER_BLOCK + record).next_multiple_of(HEADER_BLOCK)
    }

    /// Has the next segment prepared when half of this one is used, or when the last reservation would not fit again.
    fn request_next_segment(&mut self) {
        if !self.requested && self.room() < self.reserved.max(self.current.bytes / 2) {
            self.requested = true;
            self.pool.request(self.next_segment_bytes(self.reserved));
        }
    }

    /// Continues in a new segment of at least this size.
    fn roll(&mut self, bytes: u64) -> Result<(), JournalError> {
        let prepared = self.pool.take(bytes.next_multiple_of(HEADER_BLOCK));
        let after = (self.last + 1, self.chain);
        let begun =
            prepared.and_then(|prepared| begin(&self.files, &self.folder, prepared, self.history, after));
        let (current, file) = self.note_failure(begun)?;
        let old = std::mem::replace(&mut self.current, current);
        (self.file, self.end, self.requested) = (file, HEADER_BLOCK, false);
        if old.has_records() {
            self.full.push_back(old);
        } else {
            self.pool.release(old.free());
        }
        Ok(())
    }
}

/// Writes the header of a segment. It is durable before the first record is written: a header that cannot be read belongs to
/// a segment without acknowledged records, or to a damaged one.
fn begin<F: Files>(
    files: &F,
    folder: &std::path::Path,
    Prepared { number, bytes, file }: Prepared<F>,
    history: HistoryId,
    (first, chain): (u64, u32),
) -> Result<(Segment, F::File), JournalError> {
    let written = || {
        let header = SegmentHeader { version: FORMAT, history, number, salt: files.salt()?, first, chain };
        files.write_at(&file, &header.encode(), 0)?;
        files.sync_data(&file)?;
        Ok(header)
    };
    let header = written().map_err(JournalError::at(&segment_path(folder, number)))?;
    Ok((Segment { header, bytes, last: first - 1, wipe: false }, file))
}
