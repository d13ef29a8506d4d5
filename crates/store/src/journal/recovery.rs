//! Opens a journal: finds every acknowledged batch that the database lacks, or says why it cannot.
//!
//! The sequences decide. All batches after the one the database has must be there without a gap. A segment's header says
//! where the segment before it ended. Only the newest segment has an end that no header names: it ends at the first broken
//! record, if no intact record follows it there or in a later file.

use super::error::{Damage, DamageKind, JournalError};
use super::files::Files;
use super::format::{HEADER_BLOCK, HistoryId, JournalBatch, JournalRecord, SegmentHeader, find_record};
use super::segments::{FoundFile, SegmentContent, SegmentWalk, Step, find_files, read_file};
use std::path::{Path, PathBuf};

/// Where a database is. A journal continues it if it has exactly this batch, or begins right after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Position {
    pub(crate) history: HistoryId,
    /// The last batch that the database has.
    pub(crate) last: u64,
    /// The CRC of its record. `None` if the database has no batch of a journal: it is new, or was copied from a server.
    pub(crate) checksum: Option<u32>,
}

/// A journal whose batches were checked. [`Recovered::replay`] returns them, [`super::Journal::start`] continues it.
pub(crate) struct Recovered<F: Files> {
    pub(super) files: F,
    pub(super) folder: PathBuf,
    pub(super) history: HistoryId,
    pub(super) found: Vec<FoundFile>,
    pub(super) last: u64,
    pub(super) chain: u32,
    summary: Summary,
    damage: Option<Damage>,
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

/// Reads the journal in a folder and checks every batch after that of the database; they are durable in the journal when this
/// returns. Fails if a needed batch is missing, damaged or cannot be read, and if the journal belongs to another history.
pub(crate) fn open<F: Files>(
    files: F,
    folder: &Path,
    position: Position,
) -> Result<Recovered<F>, JournalError> {
    let recovered = open_before_damage(files, folder, position)?;
    match recovered.damage {
        None => Ok(recovered),
        Some(damage) => Err(JournalError::Damaged(damage)),
    }
}

/// Does the same as [`open`], but a journal with damage ends before it: [`Recovered::damage`] has the damage.
pub(crate) fn open_before_damage<F: Files>(
    files: F,
    folder: &Path,
    position: Position,
) -> Result<Recovered<F>, JournalError> {
    let found = find_files(&files, folder, position.history)?;
    let mut end = ScanEnd::at(position);
    let scanned = Scan { files: &files, found: &found, position }.run(&mut end, &mut |_| Ok(()));
    let damage = match scanned {
        Ok(()) => None,
        Err(JournalError::Damaged(damage)) => Some(damage),
        Err(error) => return Err(error),
    };
    if end.summary.range.is_some() {
        make_durable(&files, folder, &found)?;
    }
    let ScanEnd { last, chain, summary } = end;
    let (folder, history) = (folder.to_owned(), position.history);
    Ok(Recovered { files, folder, history, found, last, chain, summary, damage })
}

/// Checks the journal in a folder without changing anything. If a gateway is running, an error may only mean that a segment
/// was recycled meanwhile: the caller repeats the check with the batch that is applied then.
pub(crate) fn check<F: Files>(files: &F, folder: &Path, position: Position) -> Result<Summary, JournalError> {
    let found = find_files(files, folder, position.history)?;
    let mut end = ScanEnd::at(position);
    Scan { files, found: &found, position }.run(&mut end, &mut |_| Ok(()))?;
    Ok(end.summary)
}

/// After a killed process, the last record may be in the page cache only. Once it is replayed, it must not vanish.
fn make_durable<F: Files>(files: &F, folder: &Path, found: &[FoundFile]) -> Result<(), JournalError> {
    let Some(newest) = found.iter().rfind(|file| file.header.is_some()) else { return Ok(()) };
    let synced = files.open(&newest.path).and_then(|file| files.sync_data(&file));
    synced.map_err(JournalError::at(&newest.path))?;
    files.sync_dir(folder).map_err(JournalError::at(folder))
}

impl<F: Files> Recovered<F> {
    /// Passes every batch after that of the database to `replay`, in order.
    pub(crate) fn replay<E: From<JournalError>>(
        &self,
        after: Position,
        replay: &mut dyn FnMut(JournalBatch<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut failed = None;
        let scan = Scan { files: &self.files, found: &self.found, position: after };
        let scanned = scan.run(&mut ScanEnd::at(after), &mut |record| {
            replay(record.batch()).map_err(|error| {
                failed = Some(error);
                JournalError::Failed
            })
        });
        match (failed, scanned) {
            (Some(error), _) => Err(error),
            (None, Err(JournalError::Damaged(_))) if self.damage.is_some() => Ok(()),
            (None, scanned) => Ok(scanned?),
        }
    }

    /// The sequence of the last batch: checked, or already in the database.
    pub(crate) fn last_sequence(&self) -> u64 {
        self.last
    }

    pub(crate) fn summary(&self) -> &Summary {
        &self.summary
    }

    /// Returns what ends the journal before its last batch, if it was opened so.
    pub(crate) fn damage(&self) -> Option<&Damage> {
        self.damage.as_ref()
    }
}

struct Scan<'a, F> {
    files: &'a F,
    found: &'a [FoundFile],
    position: Position,
}

/// Where the intact records end.
struct ScanEnd {
    last: u64,
    chain: u32,
    summary: Summary,
}

impl ScanEnd {
    fn at(position: Position) -> ScanEnd {
        ScanEnd { last: position.last, chain: position.checksum.unwrap_or(0), summary: Summary::default() }
    }
}

type Visit<'a> = &'a mut dyn FnMut(JournalRecord<'_>) -> Result<(), JournalError>;

impl<F: Files> Scan<'_, F> {
    /// Visits every record after that of the database.
    fn run(&self, end: &mut ScanEnd, visit: Visit<'_>) -> Result<(), JournalError> {
        let applied = self.position.last;
        let begun: Vec<(&FoundFile, SegmentHeader)> =
            self.found.iter().filter_map(|file| Some((file, file.header?))).collect();
        let mut previous: Option<u32> = None;
        for (index, (file, header)) in begun.iter().enumerate() {
            let next = begun.get(index + 1);
            let end_before = next.map(|(_, next)| next.first);
            if end_before.is_some_and(|next| next < header.first) {
                return Err(self.damage(file, 0, DamageKind::Chain, (header.first, header.first)));
            }
            if end_before.is_some_and(|next| next <= applied + 1) {
                continue;
            }
            self.check_link(file, header, previous)?;
            let content = read_file(self.files, &file.path)?;
            let mut walk = SegmentWalk::new(&content, header, end_before, applied);
            self.walk((file, next.map(|(next, _)| *next)), &mut walk, end, visit)?;
            previous = Some(walk.chain);
        }
        self.check_files_without_header(begun.last().map(|(file, _)| file.number), end.last)
    }

    /// Checks that a segment continues what was read before it: the database, or the segment before.
    fn check_link(
        &self,
        file: &FoundFile,
        header: &SegmentHeader,
        previous: Option<u32>,
    ) -> Result<(), JournalError> {
        let next = self.position.last + 1;
        match previous {
            None if header.first > next => {
                Err(self.damage(file, 0, DamageKind::Missing, (next, header.first - 1)))
            }
            None if header.first == next => self.check_continues(file, header.chain),
            Some(chain) if chain != header.chain => {
                Err(self.damage(file, 0, DamageKind::Chain, (header.first, header.first)))
            }
            _ => Ok(()),
        }
    }

    /// Checks that the journal has the last batch of the database with the CRC that the database knows.
    fn check_continues(&self, file: &FoundFile, crc: u32) -> Result<(), JournalError> {
        let Position { last: batch, checksum, .. } = self.position;
        if checksum.is_none_or(|checksum| checksum == crc) {
            return Ok(());
        }
        Err(JournalError::OtherBatch { path: file.path.clone(), batch })
    }

    /// Visits the records of a file; `next` is the segment after it.
    fn walk(
        &self,
        (file, next): (&FoundFile, Option<&FoundFile>),
        walk: &mut SegmentWalk<'_>,
        end: &mut ScanEnd,
        visit: Visit<'_>,
    ) -> Result<(), JournalError> {
        let applied = self.position.last;
        loop {
            match walk.step() {
                Step::Record(record) if record.sequence > applied => {
                    if record.sequence == applied + 1 {
                        self.check_continues(file, record.previous)?;
                    }
                    let summary = &mut end.summary;
                    let first = summary.range.map_or(record.sequence, |(first, _)| first);
                    summary.range = Some((first, record.sequence));
                    summary.payload_bytes += record.payload.len() as u64;
                    (end.last, end.chain) = (record.sequence, record.crc);
                    visit(record)?;
                }
                Step::Record(record) if record.sequence == applied => {
                    self.check_continues(file, record.crc)?;
                    end.chain = record.crc;
                }
                Step::Record(_) => {}
                Step::End => {
                    if let Some(kind) = walk.unreadable() {
                        return Err(self.damage(file, walk.offset as u64, kind, (end.last + 1, end.last)));
                    }
                    if walk.is_torn() {
                        end.summary.torn = Some((file.path.clone(), walk.offset as u64));
                    }
                    return Ok(());
                }
                Step::Lost { to } => {
                    let lost = (walk.expected.max(applied + 1), to);
                    if let Some(kind) = walk.unreadable() {
                        return Err(self.damage(file, walk.offset as u64, kind, lost));
                    }
                    return Err(match next.filter(|next| next.number > file.number + 1) {
                        Some(next) if walk.ends_before(to) => self.damage(next, 0, DamageKind::Missing, lost),
                        _ => self.damage(file, walk.offset as u64, DamageKind::Record, lost),
                    });
                }
                Step::Unchained => {
                    let lost = (walk.expected, walk.expected);
                    return Err(self.damage(file, walk.offset as u64, DamageKind::Chain, lost));
                }
            }
        }
    }

    /// A later file without a header was prepared and never begun, unless it has a record that continues the journal. What cannot
    /// be read of it, and of a header, may be such a record.
    fn check_files_without_header(&self, newest: Option<u64>, last: u64) -> Result<(), JournalError> {
        for file in self.found.iter().filter(|file| file.header.is_none()) {
            let is_later = newest.is_none_or(|newest| file.number > newest);
            if !is_later && file.unreadable.is_none() {
                continue;
            }
            let SegmentContent { bytes, unreadable } = read_file(self.files, &file.path)?;
            let newer =
                find_record(&bytes, HEADER_BLOCK as usize, self.position.history.seed(), |_, sequence| {
                    sequence > last
                });
            if let Some((_, record)) = newer {
                return Err(self.damage(file, 0, DamageKind::Header, (last + 1, record.sequence)));
            }
            if let Some(why) = unreadable {
                let kind = DamageKind::Unreadable(why);
                return Err(self.damage(file, bytes.len() as u64, kind, (last + 1, last)));
            }
        }
        Ok(())
    }

    /// Builds the error. Looks how far intact records go, and whether the lost ones are in a file with a damaged header.
    fn damage(&self, found_at: &FoundFile, offset: u64, kind: DamageKind, lost: (u64, u64)) -> JournalError {
        let (mut path, mut offset, mut kind, mut last) = (&found_at.path, offset, kind, lost.1);
        for file in self.found {
            let Ok(SegmentContent { bytes, unreadable }) = read_file(self.files, &file.path) else {
                continue;
            };
            if let Some(why) = unreadable
                && file.header.is_none()
                && file.number < found_at.number
                && kind == DamageKind::Missing
            {
                (path, offset, kind) = (&file.path, bytes.len() as u64, DamageKind::Unreadable(why));
            }
            let from = HEADER_BLOCK as usize;
            let is_lost = |_, sequence| (lost.0..=lost.1).contains(&sequence);
            if file.header.is_none()
                && find_record(&bytes, from, self.position.history.seed(), is_lost).is_some()
            {
                (path, offset, kind) = (&file.path, 0, DamageKind::Header);
            }
            let mut from = from;
            while let Some((offset, record)) =
                find_record(&bytes, from, self.position.history.seed(), |_, sequence| sequence > last)
            {
                last = record.sequence;
                from = offset + 1;
            }
        }
        let (path, applied) = (path.clone(), self.position.last);
        JournalError::Damaged(Damage { path, offset, kind, lost, applied, last })
    }
}
