//! Finds the journal's files in a folder, and walks over the records of one.

use super::error::{DamageKind, JournalError};
use super::files::{Files, is_content_lost, read_up_to};
use super::format::{
    FORMAT, HEADER_BLOCK, HEADER_BYTES, HistoryId, JournalRecord, RECORD_BYTES_MAX, SegmentHeader,
    find_record, has_record_start, record_at, record_bytes, resembles_record,
};
use std::io::{self, Error, ErrorKind};
use std::path::{Path, PathBuf};

/// No file of the journal is larger: it bounds the memory for reading one.
const FILE_BYTES_MAX: u64 = 2 * RECORD_BYTES_MAX as u64;
const PREFIX: &str = "journal-";
const SUFFIX: &str = ".log";

/// Returns the path of a segment.
pub(super) fn segment_path(folder: &Path, number: u64) -> PathBuf {
    folder.join(segment_name(number))
}

fn segment_name(number: u64) -> String {
    format!("{PREFIX}{number:08}{SUFFIX}")
}

/// Returns the number of the segment with this name. Other spellings of a number are not the journal's own names.
fn segment_number(name: &str) -> Option<u64> {
    let number = name.strip_prefix(PREFIX)?.strip_suffix(SUFFIX)?.parse().ok()?;
    (segment_name(number) == name).then_some(number)
}

/// Returns the names of the journal's files in a folder, in the order of their numbers.
pub(crate) fn file_names<F: Files>(files: &F, folder: &Path) -> Result<Vec<String>, JournalError> {
    let mut names = files.list(folder).map_err(JournalError::at(folder))?;
    names.retain(|name| segment_number(name).is_some());
    names.sort_by_key(|name| segment_number(name));
    Ok(names)
}

/// One file of the journal.
#[derive(Debug)]
pub(super) struct FoundFile {
    pub(super) path: PathBuf,
    pub(super) number: u64,
    pub(super) bytes: u64,
    /// `None` if the segment was prepared or recycled but never begun, or if its header is damaged.
    pub(super) header: Option<SegmentHeader>,
    /// Why the header cannot be read.
    pub(super) unreadable: Option<String>,
}

/// The content of one file of the journal.
pub(super) struct SegmentContent {
    pub(super) bytes: Vec<u8>,
    /// Why what follows these bytes cannot be read.
    pub(super) unreadable: Option<String>,
}

/// Lists the journal's files in the order of their numbers, with their headers. Fails if one belongs to another history or
/// was written in a newer format. A file that cannot be read has no header.
pub(super) fn find_files<F: Files>(
    files: &F,
    folder: &Path,
    history: HistoryId,
) -> Result<Vec<FoundFile>, JournalError> {
    let names = file_names(files, folder)?;
    let numbers = names.iter().filter_map(|name| segment_number(name));
    numbers.map(|number| examine(files, segment_path(folder, number), number, history)).collect()
}

fn examine<F: Files>(
    files: &F,
    path: PathBuf,
    number: u64,
    history: HistoryId,
) -> Result<FoundFile, JournalError> {
    let read = || {
        let file = files.open_for_reading(&path)?;
        let mut bytes = [0; HEADER_BYTES];
        let (_, read) = read_up_to(files, &file, &mut bytes, 0);
        Ok((bytes, files.length(&file)?, lost_content(read)?))
    };
    let (bytes, length, unreadable) = read().map_err(JournalError::at(&path))?;
    let header = SegmentHeader::decode(&bytes);
    match header {
        Some(header) if header.history != history => {
            Err(JournalError::OtherHistory { path, found: header.history, database: history })
        }
        Some(header) if header.version != FORMAT => {
            Err(JournalError::TooNew { path, found: header.version, known: FORMAT })
        }
        // A recycled file has the header of its last use until it is begun.
        header => {
            let header = header.filter(|header| header.number == number);
            Ok(FoundFile { path, number, bytes: length, header, unreadable })
        }
    }
}

/// Reads a whole file of the journal, or what comes before the place where it cannot be read.
pub(super) fn read_file<F: Files>(files: &F, path: &Path) -> Result<SegmentContent, JournalError> {
    let read = || {
        let file = files.open_for_reading(path)?;
        let length = files.length(&file)?;
        let mut bytes = vec![0; length.min(FILE_BYTES_MAX) as usize];
        let (filled, mut read) = read_up_to(files, &file, &mut bytes, 0);
        bytes.truncate(filled);
        if read.is_ok() && length > FILE_BYTES_MAX {
            read =
                Err(Error::new(ErrorKind::InvalidData, "the file is larger than any segment of a journal"));
        }
        Ok(SegmentContent { bytes, unreadable: lost_content(read)? })
    };
    read().map_err(JournalError::at(path))
}

/// Returns why the content of a file is lost; none if it was read. Fails with any other error.
fn lost_content(read: io::Result<()>) -> io::Result<Option<String>> {
    match read {
        Ok(()) => Ok(None),
        Err(error) if is_content_lost(&error) => Ok(Some(error.to_string())),
        Err(error) => Err(error),
    }
}

/// Walks over the records of one segment, as far as it can be read.
pub(super) struct SegmentWalk<'a> {
    bytes: &'a [u8],
    unreadable: Option<&'a str>,
    seed: u32,
    salt: u64,
    /// The sequence after the last record of the segment, if a later segment says so.
    end: Option<u64>,
    applied: u64,
    pub(super) offset: usize,
    /// The sequence of the next record.
    pub(super) expected: u64,
    /// The CRC of the last record.
    pub(super) chain: u32,
}

pub(super) enum Step<'a> {
    Record(JournalRecord<'a>),
    End,
    /// The record at the current offset is broken, and the needed records up to this one are lost.
    Lost {
        to: u64,
    },
    /// The record at the current offset is intact, but does not follow the one before it.
    Unchained,
}

impl<'a> SegmentWalk<'a> {
    pub(super) fn new(
        content: &'a SegmentContent,
        header: &SegmentHeader,
        end: Option<u64>,
        applied: u64,
    ) -> SegmentWalk<'a> {
        let (salt, expected, chain) = (header.salt, header.first, header.chain);
        SegmentWalk {
            bytes: &content.bytes,
            unreadable: content.unreadable.as_deref(),
            seed: header.history.seed(),
            salt,
            end,
            applied,
            offset: HEADER_BLOCK as usize,
            expected,
            chain,
        }
    }

    /// Returns the next record. Broken records that the database already has are skipped.
    pub(super) fn step(&mut self) -> Step<'a> {
        if self.end == Some(self.expected) {
            return Step::End;
        }
        let wanted = |salt, sequence| salt == self.salt && sequence == self.expected;
        let Some(record) = record_at(self.bytes, self.offset, self.seed, wanted) else {
            return self.step_over_damage();
        };
        if record.previous != self.chain {
            return Step::Unchained;
        }
        self.pass(self.offset, record)
    }

    /// One write is in flight at a time, so a torn record is the last of its segment: an intact one behind it proves damage.
    fn step_over_damage(&mut self) -> Step<'a> {
        let wanted = |salt, sequence| {
            salt == self.salt && sequence > self.expected && self.end.is_none_or(|end| sequence < end)
        };
        match find_record(self.bytes, self.offset + 1, self.seed, wanted) {
            Some((offset, record)) if record.sequence - 1 <= self.applied => self.pass(offset, record),
            Some((_, record)) => Step::Lost { to: record.sequence - 1 },
            None => self.end.map_or(Step::End, |end| Step::Lost { to: end - 1 }),
        }
    }

    /// Returns why the segment may have records after the last one that was found, although it has ended or they are lost.
    pub(super) fn unreadable(&self) -> Option<DamageKind> {
        let why = self.unreadable.filter(|_| self.end != Some(self.expected))?;
        Some(DamageKind::Unreadable(why.to_owned()))
    }

    /// Whether the segment has nothing of the lost records up to this one: its file is complete, and others are missing.
    pub(super) fn ends_before(&self, to: u64) -> bool {
        self.end == Some(to + 1) && !resembles_record(self.bytes, self.offset, self.salt, self.expected)
    }

    /// Whether the newest segment ends with the beginning of a record.
    pub(super) fn is_torn(&self) -> bool {
        self.end.is_none() && has_record_start(self.bytes, self.offset, self.salt, self.expected)
    }

    fn pass(&mut self, offset: usize, record: JournalRecord<'a>) -> Step<'a> {
        self.offset = offset + record_bytes(record.payload.len());
        self.expected = record.sequence + 1;
        self.chain = record.crc;
        Step::Record(record)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segment_number_is_read_from_its_own_names_only() {
        let path = segment_path(Path::new("/data"), 42);
        assert_eq!(path, Path::new("/data/journal-00000042.log"));
        assert_eq!(segment_number("journal-00000042.log"), Some(42));
        assert_eq!(segment_number("journal-123456789.log"), Some(123_456_789));
        for name in [
            "journal-.log",
            "journal-1.log",
            "journal-+0000001.log",
            "journal-1.log.bak",
            "hermod.db",
            "journal-1",
        ] {
            assert_eq!(segment_number(name), None, "{name}");
        }
    }
}
