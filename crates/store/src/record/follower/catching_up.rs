//! Catching up: what the feed did not bring is read from the store's tables. First the messages that the record lacks, by id;
//! then those that it has as open. Each slice is read first; then what the feed brought meanwhile is written; then the slice,
//! as far as it is still news. So nothing that the feed brought is noted as missing.

use crate::error::StoreError;
use crate::record::database::writing::Flush;
use crate::record::follower::Follower;
use crate::record::follower::gaps::{Newer, rechecked, walked};
use crate::record::pending::{PendingMessage, RecordPosition};
use crate::record::{Fed, real_time};
use hermod_domain::ids::MessageId;
use hermod_engine::maps::HashMap;
use std::time::Duration;

/// Messages that are read at a time. A read keeps the store's log from being truncated, for some milliseconds.
const MESSAGES_PER_SLICE: usize = 2_000;
/// The most messages that are counted to say how many are left.
const COUNTED_MAX: u32 = 1_000_000;
/// Pause between two looks whether the store's tables have a batch.
const STORE_POLL: Duration = Duration::from_millis(10);
/// How often the feed is asked for a batch that the tables have: the writer passes it on a moment later.
const FEED_POLLS_MAX: usize = 100;
/// How often the tables are asked for a batch that the feed brought, before the feed is taken again.
const STORE_POLLS_MAX: usize = 100;

impl Follower {
    /// Begins to catch up, or begins again: reads the store as of `needed` or a later batch.
    pub(super) fn begin_catching_up(&mut self, needed: u64) -> Result<(), StoreError> {
        let after_newest = self.record()?.newest()?.map_or(0, |newest| newest + 1);
        let position = RecordPosition {
            sequence: self.taken,
            walk_next: Some(self.position.walk_next.map_or(after_newest, |next| next.min(after_newest))),
            walk_end: None,
            recheck_next: None,
            recheck_end: None,
        };
        self.put_position(position)?;
        self.needed = needed;
        self.following.set_behind(Some(real_time()));
        // Set at once: the follower looks at the store only later, and a status may be read before that.
        self.following.set_catching_up(self.left.max(1));
        Ok(())
    }

    /// Returns how long to wait for the feed between two slices.
    pub(super) fn catching_up_pause(&self) -> Duration {
        if self.source.has(self.needed) { Duration::ZERO } else { STORE_POLL }
    }

    /// Reads and writes the next slice.
    pub(super) fn catch_up(&mut self) -> Result<(), StoreError> {
        if !self.source.has(self.needed) {
            return Ok(());
        }
        if let Some(next) = self.position.walk_next {
            self.walk(next)
        } else if let Some(next) = self.position.recheck_next {
            self.recheck(next)
        } else {
            Ok(())
        }
    }

    /// Adds the messages that the record lacks.
    fn walk(&mut self, next: i64) -> Result<(), StoreError> {
        let end = match self.position.walk_end {
            Some(end) => end,
            None => {
                let end = self.source.newest()?.unwrap_or(0);
                self.left = self.source.count(next, end, COUNTED_MAX)?;
                end
            }
        };
        let slice = self.source.messages_from(next, end, MESSAGES_PER_SLICE)?;
        if self.take_up_to(slice.sequence)?.is_none() {
            return Ok(());
        }
        let messages: Vec<PendingMessage> = slice.messages.into_iter().map(walked).collect();
        self.left = self.left.saturating_sub(messages.len() as u64);
        let mut position = RecordPosition { walk_end: Some(end), ..self.position };
        match slice.last.filter(|last| *last < end) {
            Some(last) => position.walk_next = Some(last + 1),
            None => {
                (position.walk_next, position.walk_end) = (None, None);
                // The slice itself is not recorded yet, and what the feed brought to its messages was left out.
                let newest = self.record()?.newest()?.unwrap_or(0).max(end);
                (position.recheck_next, position.recheck_end) = (Some(0), Some(newest));
            }
        }
        self.write_slice(&messages, position)
    }

    /// Completes the messages that the record has as open.
    fn recheck(&mut self, next: i64) -> Result<(), StoreError> {
        // The tables must not be older than the record: it would go back to an earlier carrier.
        if !self.wait_for_store() {
            return Ok(());
        }
        let end = self.position.recheck_end.unwrap_or(0);
        let ids = self.record()?.open_messages(next, end, MESSAGES_PER_SLICE)?;
        let slice = self.source.messages(&ids)?;
        let Some(newer) = self.take_up_to(slice.sequence)? else { return Ok(()) };
        let mut messages = Vec::new();
        for stored in &slice.messages {
            // Not if it has ended by what the feed brought.
            if let Some(recorded) = self.record()?.open_message(stored.id.as_i64())? {
                let newer = newer.get(&stored.id).copied().unwrap_or_default();
                messages.extend(rechecked(&recorded, stored, newer));
            }
        }
        let mut position = self.position;
        match ids.last().filter(|_| ids.len() == MESSAGES_PER_SLICE) {
            Some(last) => position.recheck_next = Some(last + 1),
            None => (position.recheck_next, position.recheck_end) = (None, None),
        }
        self.write_slice(&messages, position)
    }

    fn write_slice(
        &mut self,
        messages: &[PendingMessage],
        position: RecordPosition,
    ) -> Result<(), StoreError> {
        let flush = Flush { messages, requests: &[], position, is_watched: false };
        let flushed = self.record()?.flush(&flush)?;
        self.position = position;
        self.following.collected.add(&flushed.counts);
        self.meters.messages.increment(flushed.added);
        self.record()?.checkpoint_if_due()?;
        Ok(())
    }

    /// Writes what the feed has, up to a batch at least. Returns what it brought to each message; none if the slice that was
    /// read must be read again.
    fn take_up_to(&mut self, sequence: u64) -> Result<Option<HashMap<MessageId, Newer>>, StoreError> {
        let (mut fed, mut newer) = (Fed::default(), HashMap::default());
        for _ in 0..FEED_POLLS_MAX {
            let pause = if self.taken < sequence { STORE_POLL } else { Duration::ZERO };
            // No request ends this pause: the slice must not be newer than the feed.
            self.take(pause, u64::MAX, &mut fed);
            let is_dropped = self.dropped.is_some();
            for message in self.pending.sorted() {
                newer.entry(message.id).or_insert_with(Newer::default).add(message);
            }
            self.write_taken()?;
            if is_dropped {
                return Ok(None);
            }
            if self.taken >= sequence {
                break;
            }
        }
        Ok(Some(newer))
    }

    /// Waits until the tables have everything that was taken from the feed. Returns false if that takes too long.
    #[expect(
        clippy::disallowed_methods,
        reason = "the follower is a thread, and the writer flushes for it at once"
    )]
    fn wait_for_store(&self) -> bool {
        for _ in 0..STORE_POLLS_MAX {
            if self.source.has(self.taken) {
                return true;
            }
            std::thread::sleep(STORE_POLL);
        }
        false
    }
}
