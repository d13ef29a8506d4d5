//! Opens a journal: finds every acknowledged batch that the database lacks, or says why it cannot.
//!
//! The sequences decide. All batches after the one the database has must be there without a gap. A segment's header says
//! where the segment before it ended. Only the newest segment has an end that no header names: it ends at the first broken
//! record, if no intact record follows it there or in a later file.

use super::error::{Damage, DamageKind, JournalError};
use super::files::Files;
use super::format::{HEADER_BLOCK, JournalBatch, Record, SegmentHeader, StoreId, find_record};
use super::segments::{FoundFile, Step, Walk, find_files, read_file};
use std::path::{Path, PathBuf};

/// A journal whose batches were replayed. [`super::Journal::start`] continues it.
pub(crate) struct Recovered<F: Files> {
    pub(super) files: F,
    pub(super) folder: PathBuf,
    pub(super) store: StoreId,
    pub(super) found: Vec<FoundFile>,
    pub(super) last: u64,
    pub(super) chain: u32,
    summary: Summary,
}

/// What a folder's journal has.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Summary {
    /// The first and the last batch after the applied one. `None` if there is none.
    pub(crate) range: Option<(u64, u64)>,
    pub(crate) payload_bytes: u64,
    /// Where a record was found that is not complete: its write was interrupted, and it was never acknowledged.
    pub(crate) torn: Option<(PathBuf, u64)>,
}

/// Reads the journal in a folder and passes every batch after `applied` to `replay`, in order.
/// All batches are checked before the first is replayed, and are durable in the journal when they are replayed. Fails if a
/// needed batch is missing or damaged, and if the journal belongs to another store.
pub(crate) fn open<F: Files, E: From<JournalError>>(
    files: F,
    folder: &Path,
    store: StoreId,
    applied: u64,
    replay: &mut dyn FnMut(JournalBatch<'_>) -> Result<(), E>,
) -> Result<Recovered<F>, E> {
    let found = find_files(&files, folder, store)?;
    let scan = Scan { files: &files, found: &found, seed: store.seed(), applied };
    let end = scan.run(&mut |_| Ok::<(), JournalError>(()))?;
    if end.summary.range.is_some() {
        make_durable(&files, folder, &found)?;
        scan.run(&mut |record| replay(record.batch()))?;
    }
    // A journal that ends before the applied batch lacks nothing, but its last CRC is not that of the batch before the next.
    let (last, chain) = if end.last >= applied { (end.last, end.chain) } else { (applied, 0) };
    Ok(Recovered { files, folder: folder.to_owned(), store, found, last, chain, summary: end.summary })
}

/// Checks the journal in a folder without changing anything. If a gateway is running, an error may only mean that a segment
/// was recycled meanwhile: the caller repeats the check with the batch that is applied then.
pub(crate) fn check<F: Files>(
    files: &F,
    folder: &Path,
    store: StoreId,
    applied: u64,
) -> Result<Summary, JournalError> {
    let found = find_files(files, folder, store)?;
    let scan = Scan { files, found: &found, seed: store.seed(), applied };
    scan.run(&mut |_| Ok::<(), JournalError>(())).map(|end| end.summary)
}

/// After a killed process, the last record may be in the page cache only. Once it is replayed, it must not vanish.
fn make_durable<F: Files>(files: &F, folder: &Path, found: &[FoundFile]) -> Result<(), JournalError> {
    let Some(newest) = found.iter().rfind(|file| file.header.is_some()) else { return Ok(()) };
    let synced = files.open(&newest.path).and_then(|file| files.sync_data(&file));
    synced.map_err(JournalError::at(&newest.path))?;
    files.sync_dir(folder).map_err(JournalError::at(folder))
}

impl<F: Files> Recovered<F> {
    /// The sequence of the last batch: replayed, or already in the database.
    pub(crate) fn last_sequence(&self) -> u64 {
        self.last
    }

    pub(crate) fn summary(&self) -> &Summary {
        &self.summary
    }
}

struct Scan<'a, F> {
    files: &'a F,
    found: &'a [FoundFile],
    seed: u32,
    applied: u64,
}

/// Where the records end.
struct ScanEnd {
    last: u64,
    chain: u32,
    summary: Summary,
}

impl<F: Files> Scan<'_, F> {
    /// Visits every record after the applied one.
    fn run<E: From<JournalError>>(
        &self,
        visit: &mut dyn FnMut(Record<'_>) -> Result<(), E>,
    ) -> Result<ScanEnd, E> {
        let begun: Vec<(&FoundFile, SegmentHeader)> =
            self.found.iter().filter_map(|file| Some((file, file.header?))).collect();
        let mut end = ScanEnd { last: self.applied, chain: 0, summary: Summary::default() };
        let mut previous: Option<(u64, u32)> = None;
        for (index, (file, header)) in begun.iter().enumerate() {
            let next = begun.get(index + 1).map(|(_, next)| next.first);
            if next.is_some_and(|next| next < header.first) {
                return Err(self.damage(file, 0, DamageKind::Chain, (header.first, header.first)).into());
            }
            if next.is_some_and(|next| next <= self.applied + 1) {
                continue;
            }
            self.check_link(file, header, previous)?;
            let bytes = read_file(self.files, &file.path)?;
            let mut walk = Walk::new(&bytes, header, next, self.applied);
            self.walk(file, &mut walk, &mut end.summary, visit)?;
            previous = Some((walk.expected, walk.chain));
        }
        if let Some((expected, chain)) = previous {
            (end.last, end.chain) = (expected - 1, chain);
        }
        self.check_later_files(begun.last().map(|(file, _)| file.number), end.last.max(self.applied))?;
        Ok(end)
    }

    /// Checks that a segment continues what was read before it: the database, or the segment before.
    fn check_link(
        &self,
        file: &FoundFile,
        header: &SegmentHeader,
        previous: Option<(u64, u32)>,
    ) -> Result<(), JournalError> {
        match previous {
            None if header.first > self.applied + 1 => {
                Err(self.damage(file, 0, DamageKind::Missing, (self.applied + 1, header.first - 1)))
            }
            Some((_, chain)) if chain != header.chain => {
                Err(self.damage(file, 0, DamageKind::Chain, (header.first, header.first)))
            }
            _ => Ok(()),
        }
    }

    fn walk<E: From<JournalError>>(
        &self,
        file: &FoundFile,
        walk: &mut Walk<'_>,
        summary: &mut Summary,
        visit: &mut dyn FnMut(Record<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        loop {
            match walk.step() {
                Step::Record(record) if record.sequence > self.applied => {
                    let first = summary.range.map_or(record.sequence, |(first, _)| first);
                    summary.range = Some((first, record.sequence));
                    summary.payload_bytes += record.payload.len() as u64;
                    visit(record)?;
                }
                Step::Record(_) => {}
                Step::End => {
                    if walk.is_torn() {
                        summary.torn = Some((file.path.clone(), walk.offset as u64));
                    }
                    return Ok(());
                }
                Step::Lost { to } => {
                    let lost = (walk.expected.max(self.applied + 1), to);
                    return Err(self.damage(file, walk.offset as u64, DamageKind::Record, lost).into());
                }
                Step::Unchained => {
                    let lost = (walk.expected, walk.expected);
                    return Err(self.damage(file, walk.offset as u64, DamageKind::Chain, lost).into());
                }
            }
        }
    }

    /// A later file without a readable header was prepared and never begun, unless it has a record that continues the journal.
    fn check_later_files(&self, newest: Option<u64>, last: u64) -> Result<(), JournalError> {
        let later = self.found.iter().filter(|file| newest.is_none_or(|newest| file.number > newest));
        for file in later {
            let bytes = read_file(self.files, &file.path)?;
            let newer = find_record(&bytes, HEADER_BLOCK as usize, self.seed, |_, sequence| sequence > last);
            if let Some((_, record)) = newer {
                return Err(self.damage(file, 0, DamageKind::Header, (last + 1, record.sequence)));
            }
        }
        Ok(())
    }

    /// Builds the error. Looks how far intact records go, and whether the lost ones are in a file with a damaged header.
    fn damage(&self, file: &FoundFile, offset: u64, kind: DamageKind, lost: (u64, u64)) -> JournalError {
        let (mut path, mut offset, mut kind, mut last) = (&file.path, offset, kind, lost.1);
        for file in self.found {
            let Ok(bytes) = read_file(self.files, &file.path) else { continue };
            let from = HEADER_BLOCK as usize;
            let is_lost = |_, sequence| (lost.0..=lost.1).contains(&sequence);
            if file.header.is_none() && find_record(&bytes, from, self.seed, is_lost).is_some() {
                (path, offset, kind) = (&file.path, 0, DamageKind::Header);
            }
            let mut from = from;
            while let Some((offset, record)) =
                find_record(&bytes, from, self.seed, |_, sequence| sequence > last)
            {
                last = record.sequence;
                from = offset + 1;
            }
        }
        let (path, applied) = (path.clone(), self.applied);
        JournalError::Damaged(Damage { path, offset, kind, lost, applied, last })
    }
}
