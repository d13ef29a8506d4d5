//! The layout of a journal file: a header in a block of its own, then records one after another. All numbers are
//! little-endian.
//!
//! | Segment header | | | Record | |
//! |---|---|---|---|---|
//! | 0 | magic `hermod.j` | | 0 | magic `jrec` |
//! | 8 | format version | | 4 | CRC32C of the history's id and bytes 8 to the end of the payload |
//! | 12 | CRC32C of bytes 0 to 11 and 16 to 63 | | 8 | salt of the segment |
//! | 16 | id of the history | | 16 | sequence |
//! | 32 | number of the segment | | 24 | length of the payload |
//! | 40 | salt, random for each use of the file | | 28 | CRC32C of the record before |
//! | 48 | sequence of the first record | | 32 | version of the payload's encoding |
//! | 56 | CRC32C of the record before | | 33 | zeros |
//! | 60 | zeros | | 40 | payload, then zeros up to a multiple of 8 |
//!
//! A recycled file has old records behind its new ones. They have another salt, so they are never taken for new ones. The
//! first 64 bytes keep their layout in every format version.

use crc32c::{crc32c, crc32c_append};

/// The version that this release writes and reads.
pub(super) const FORMAT: u32 = 1;
/// Space of the header. It is a block of its own, so that appending never rewrites it.
pub(super) const HEADER_BLOCK: u64 = 4096;
pub(super) const HEADER_BYTES: usize = 64;
pub(super) const RECORD_HEADER_BYTES: usize = 40;
/// The largest payload of a record. Bounds what a damaged length can claim.
pub(crate) const RECORD_BYTES_MAX: usize = 64 * 1024 * 1024;
/// Records begin at multiples of this.
const ALIGNMENT: usize = 8;
/// The unused rest of a file is skipped in such steps.
static BLANK: [u8; 512] = [0; 512];
const SEGMENT_MAGIC: &[u8; 8] = b"hermod.j";
const RECORD_MAGIC: &[u8; 4] = b"jrec";

/// The identity of a store's history. A copy of a database begins a new history when it is first started, so that it and its
/// original never take batches from each other. A journal with another one is rejected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct HistoryId(pub(crate) [u8; 16]);

impl std::fmt::Display for HistoryId {
    /// Writes its first octets, enough to tell two apart.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0[..4].iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl HistoryId {
    /// Returns the value that the CRC of each record begins with. A customer who puts the bytes of a record into a message
    /// does not know it, so these bytes are never taken for a record.
    pub(super) fn seed(&self) -> u32 {
        crc32c(&self.0)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SegmentHeader {
    pub(super) version: u32,
    pub(super) history: HistoryId,
    pub(super) number: u64,
    pub(super) salt: u64,
    /// The sequence that the first record has, or will have.
    pub(super) first: u64,
    /// The CRC of the record before the first one; 0 if that is not known.
    pub(super) chain: u32,
}

impl SegmentHeader {
    pub(super) fn encode(&self) -> [u8; HEADER_BYTES] {
        let mut bytes = [0; HEADER_BYTES];
        bytes[..8].copy_from_slice(SEGMENT_MAGIC);
        bytes[8..12].copy_from_slice(&self.version.to_le_bytes());
        bytes[16..32].copy_from_slice(&self.history.0);
        bytes[32..40].copy_from_slice(&self.number.to_le_bytes());
        bytes[40..48].copy_from_slice(&self.salt.to_le_bytes());
        bytes[48..56].copy_from_slice(&self.first.to_le_bytes());
        bytes[56..60].copy_from_slice(&self.chain.to_le_bytes());
        let crc = header_crc(&bytes);
        bytes[12..16].copy_from_slice(&crc.to_le_bytes());
        bytes
    }

    /// Returns `None` if the bytes are no intact header.
    pub(super) fn decode(bytes: &[u8; HEADER_BYTES]) -> Option<SegmentHeader> {
        if &bytes[..8] != SEGMENT_MAGIC || u32_at(bytes, 12) != header_crc(bytes) {
            return None;
        }
        let mut history = [0; 16];
        history.copy_from_slice(&bytes[16..32]);
        Some(SegmentHeader {
            version: u32_at(bytes, 8),
            history: HistoryId(history),
            number: u64_at(bytes, 32),
            salt: u64_at(bytes, 40),
            first: u64_at(bytes, 48),
            chain: u32_at(bytes, 56),
        })
    }
}

fn header_crc(bytes: &[u8; HEADER_BYTES]) -> u32 {
    crc32c_append(crc32c(&bytes[..12]), &bytes[16..])
}

/// One intact record.
#[derive(Clone, Copy, Debug)]
pub(super) struct JournalRecord<'a> {
    pub(super) sequence: u64,
    pub(super) encoding: u8,
    /// The CRC of the record before this one.
    pub(super) previous: u32,
    pub(super) crc: u32,
    pub(super) payload: &'a [u8],
}

impl<'a> JournalRecord<'a> {
    pub(super) fn batch(&self) -> JournalBatch<'a> {
        JournalBatch {
            sequence: self.sequence,
            encoding: self.encoding,
            checksum: self.crc,
            payload: self.payload,
        }
    }
}

/// One batch, as it was appended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct JournalBatch<'a> {
    pub(crate) sequence: u64,
    /// The version of the payload's encoding.
    pub(crate) encoding: u8,
    /// The CRC of its record, which covers the CRC of the record before.
    pub(crate) checksum: u32,
    pub(crate) payload: &'a [u8],
}

/// Returns the bytes that a record with such a payload takes in the file.
pub(super) fn record_bytes(payload: usize) -> usize {
    (RECORD_HEADER_BYTES + payload).next_multiple_of(ALIGNMENT)
}

/// Writes a record into the buffer, replacing its content. Returns the CRC of the record.
pub(super) fn encode_record(
    buffer: &mut Vec<u8>,
    seed: u32,
    (salt, sequence, previous): (u64, u64, u32),
    (encoding, payload): (u8, &[u8]),
) -> u32 {
    let mut header = [0; RECORD_HEADER_BYTES];
    header[..4].copy_from_slice(RECORD_MAGIC);
    header[8..16].copy_from_slice(&salt.to_le_bytes());
    header[16..24].copy_from_slice(&sequence.to_le_bytes());
    header[24..28].copy_from_slice(&(payload.len() as u32).to_le_bytes());
    header[28..32].copy_from_slice(&previous.to_le_bytes());
    header[32] = encoding;
    let crc = crc32c_append(crc32c_append(seed, &header[8..]), payload);
    header[4..8].copy_from_slice(&crc.to_le_bytes());
    buffer.clear();
    buffer.extend_from_slice(&header);
    buffer.extend_from_slice(payload);
    buffer.resize(record_bytes(payload.len()), 0);
    crc
}

/// Returns the record at an offset of a file's content, if it is intact and `wanted(salt, sequence)`.
pub(super) fn record_at(
    bytes: &[u8],
    offset: usize,
    seed: u32,
    wanted: impl Fn(u64, u64) -> bool,
) -> Option<JournalRecord<'_>> {
    let header = bytes.get(offset..offset + RECORD_HEADER_BYTES)?;
    let (salt, sequence) = (u64_at(header, 8), u64_at(header, 16));
    if &header[..4] != RECORD_MAGIC || !wanted(salt, sequence) {
        return None;
    }
    let length = u32_at(header, 24) as usize;
    if length > RECORD_BYTES_MAX {
        return None;
    }
    let covered = bytes.get(offset + 8..offset + RECORD_HEADER_BYTES + length)?;
    let crc = u32_at(header, 4);
    (crc32c_append(seed, covered) == crc).then(|| JournalRecord {
        sequence,
        encoding: header[32],
        previous: u32_at(header, 28),
        crc,
        payload: &covered[RECORD_HEADER_BYTES - 8..],
    })
}

/// Whether an incomplete record of this sequence is at the offset.
pub(super) fn has_record_start(bytes: &[u8], offset: usize, salt: u64, sequence: u64) -> bool {
    let header = bytes.get(offset..offset + RECORD_HEADER_BYTES);
    header.is_some_and(|header| u64_at(header, 8) == salt && u64_at(header, 16) == sequence)
}

/// Whether a record of this sequence was written at the offset: at least two of its three marks are intact.
pub(super) fn resembles_record(bytes: &[u8], offset: usize, salt: u64, sequence: u64) -> bool {
    bytes.get(offset..offset + RECORD_HEADER_BYTES).is_some_and(|header| {
        let marks = [&header[..4] == RECORD_MAGIC, u64_at(header, 8) == salt, u64_at(header, 16) == sequence];
        marks.into_iter().filter(|is_intact| *is_intact).count() >= 2
    })
}

/// Searches for an intact record from an offset on. Returns it with its offset.
pub(super) fn find_record(
    bytes: &[u8],
    from: usize,
    seed: u32,
    wanted: impl Fn(u64, u64) -> bool,
) -> Option<(usize, JournalRecord<'_>)> {
    let mut offset = from.next_multiple_of(ALIGNMENT);
    while offset + RECORD_HEADER_BYTES <= bytes.len() {
        if offset.is_multiple_of(BLANK.len()) && bytes[offset..].starts_with(&BLANK) {
            offset += BLANK.len();
            continue;
        }
        if bytes[offset] == RECORD_MAGIC[0]
            && let Some(record) = record_at(bytes, offset, seed, &wanted)
        {
            return Some((offset, record));
        }
        offset += ALIGNMENT;
    }
    None
}

fn u32_at(bytes: &[u8], offset: usize) -> u32 {
    let mut number = [0; 4];
    number.copy_from_slice(&bytes[offset..offset + 4]);
    u32::from_le_bytes(number)
}

fn u64_at(bytes: &[u8], offset: usize) -> u64 {
    let mut number = [0; 8];
    number.copy_from_slice(&bytes[offset..offset + 8]);
    u64::from_le_bytes(number)
}

#[cfg(test)]
#[path = "format_tests.rs"]
mod tests;
