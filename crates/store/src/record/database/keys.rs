//! Finds messages by their keys. Keys are stored in chunks in the order in which they were written; a look-up goes through the
//! chunks from the one with the newest messages on.

use crate::record::database::Budget;
use crate::record::keys::{KeyKind, SearchKey};
use crate::sql::{Connection, params};
use hermod_engine::tables::TableError;
use std::collections::BTreeSet;
use std::ops::Range;

/// What looking into one chunk costs.
const CHUNK_COST: u32 = 4;
/// With more matches in one chunk than this, reading the messages in order finds them faster.
const SPARSE_MAX: usize = 1_000;

/// A chunk of keys, with the lowest and the highest message in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Chunk {
    no: i64,
    first: i64,
    last: i64,
}

/// Returns all chunks, those with the newest messages last.
pub(super) fn chunks(connection: &Connection) -> Result<Vec<Chunk>, TableError> {
    let mut chunks = connection.prepare_cached("SELECT no, first, last FROM chunk")?;
    let chunks =
        chunks.query_map([], |row| Ok(Chunk { no: row.get(0)?, first: row.get(1)?, last: row.get(2)? }))?;
    let mut chunks: Vec<Chunk> = chunks.collect::<Result<_, _>>()?;
    chunks.sort_unstable_by_key(|chunk| chunk.last);
    Ok(chunks)
}

/// Whether a message has a key.
pub(super) fn has_key(
    connection: &Connection,
    chunks: &[Chunk],
    SearchKey { kind, key }: SearchKey,
    message: i64,
) -> Result<bool, TableError> {
    let mut has = connection
        .prepare_cached("SELECT 1 FROM key WHERE kind = ?1 AND chunk = ?2 AND key = ?3 AND message = ?4")?;
    for chunk in chunks.iter().filter(|chunk| (chunk.first..=chunk.last).contains(&message)) {
        if has.exists(params![kind as u8, chunk.no, key, message])? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The messages that have a key within a range, newest first.
pub(super) struct KeyStream<'c> {
    connection: &'c Connection,
    kind: KeyKind,
    keys: (i64, i64),
    ids: Range<i64>,
    /// The chunks that were not read yet; the next one is the last.
    chunks: Vec<Chunk>,
    /// Messages from the chunks that were read.
    found: BTreeSet<i64>,
}

/// The next message with a key.
pub(super) enum NextKey {
    Message(i64),
    End,
    /// A chunk has so many matches that the messages should be read in order.
    Dense,
    /// The budget ended. Nothing from this id on is left.
    Stopped(i64),
}

impl<'c> KeyStream<'c> {
    pub(super) fn new(
        connection: &'c Connection,
        (kind, first, last): (KeyKind, i64, i64),
        ids: Range<i64>,
        chunks: &[Chunk],
    ) -> KeyStream<'c> {
        let within = |chunk: &&Chunk| chunk.first < ids.end && chunk.last >= ids.start;
        let chunks = chunks.iter().filter(within).copied().collect();
        KeyStream { connection, kind, keys: (first, last), ids, chunks, found: BTreeSet::new() }
    }

    pub(super) fn next(&mut self, budget: &mut Budget) -> Result<NextKey, TableError> {
        while let Some(chunk) = self.chunks.last()
            && self.found.last().is_none_or(|newest| chunk.last >= *newest)
        {
            if !budget.take(CHUNK_COST) {
                return Ok(NextKey::Stopped((chunk.last + 1).min(self.ids.end)));
            }
            if !self.read_chunk(chunk.no)? {
                return Ok(NextKey::Dense);
            }
            self.chunks.pop();
        }
        Ok(self.found.pop_last().map_or(NextKey::End, |message| {
            self.ids.end = message;
            NextKey::Message(message)
        }))
    }

    /// Adds the matches in a chunk. Returns false if there are too many.
    fn read_chunk(&mut self, chunk: i64) -> Result<bool, TableError> {
        let (first, last) = self.keys;
        let mut keys = self.connection.prepare_cached(
            "SELECT message FROM key WHERE kind = ?1 AND chunk = ?2 AND key BETWEEN ?3 AND ?4 AND message BETWEEN ?5 AND ?6
             LIMIT ?7",
        )?;
        let limit = i64::try_from(SPARSE_MAX + 1).map_err(TableError::unreadable)?;
        let (low, high) = (self.ids.start, self.ids.end - 1);
        let mut rows = keys.query(params![self.kind as u8, chunk, first, last, low, high, limit])?;
        let mut count = 0;
        while let Some(row) = rows.next()? {
            self.found.insert(row.get(0)?);
            count += 1;
        }
        Ok(count <= SPARSE_MAX)
    }
}
