//! When the partitions are looked after: at the start, every hour, and when a purge has passed the end of one. The writer does
//! it between two batches, so that its own transactions never hold the locks that it needs.

use super::partitions::{MESSAGES, TEXTS};
use crate::data_folder::disk::Disk;
use crate::postgres::{PostgresError, Session, values};
use hermod_domain::ids::MessageId;
use hermod_domain::time::Timestamp;
use std::cell::Cell;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How often the partitions are looked after.
const EVERY: Duration = Duration::from_secs(3600);
/// After an attempt that did not get its locks, or failed.
const RETRY_AFTER: Duration = Duration::from_secs(60);

/// Ids up to which texts and messages are purged, or at which partitions of them end.
#[derive(Clone, Copy, Default)]
struct Purged {
    texts: i64,
    messages: i64,
}

pub(super) struct Upkeep {
    /// Has the store's time.
    disk: Arc<Disk>,
    opened_at: Timestamp,
    /// Whichever comes first: the store's time may jump, and real time passes while there is no batch.
    due_at: Cell<Timestamp>,
    wake_at: Cell<Instant>,
    has_purged: Cell<bool>,
    /// The ends of the first partitions that the purge has not passed.
    next_ends: Cell<Purged>,
}

impl Upkeep {
    pub(super) fn new(disk: Arc<Disk>, now: Timestamp) -> Upkeep {
        Upkeep {
            disk,
            opened_at: now,
            due_at: Cell::new(now),
            wake_at: Cell::new(real_time()),
            has_purged: Cell::new(false),
            next_ends: Cell::default(),
        }
    }

    /// Records that texts or messages were purged.
    pub(super) fn note_purge(&self) {
        self.has_purged.set(true);
    }

    /// Returns when the partitions are to be looked after if no batch comes before.
    pub(super) fn wake_at(&self) -> Instant {
        self.wake_at.get()
    }

    /// Makes and drops partitions if it is time. `epoch` is the writer's. The error is the first of those that occurred.
    pub(super) fn run_if_due(&self, session: &Session, epoch: i64) -> Result<(), PostgresError> {
        let is_time = self.now() >= self.due_at.get() || real_time() >= self.wake_at.get();
        let has_purged = self.has_purged.take();
        if !is_time && !has_purged {
            return Ok(());
        }
        let done = self.run(session, epoch, is_time);
        if done.is_err() {
            self.set_next(RETRY_AFTER);
        }
        done
    }

    fn run(&self, session: &Session, epoch: i64, is_time: bool) -> Result<(), PostgresError> {
        let purged = read_purged(session)?;
        let ends = self.next_ends.get();
        if !is_time && purged.texts < ends.texts && purged.messages < ends.messages {
            return Ok(());
        }
        self.set_next(EVERY);
        let newest = self.newest_id(session)?;
        let made = [&MESSAGES, &TEXTS].map(|table| table.make_missing(session, epoch, newest));
        let texts = TEXTS.drop_old(session, epoch, newest, (purged.texts, purged.texts));
        let messages = MESSAGES.drop_old(session, epoch, newest, (0, purged.messages));
        self.next_ends.set(Purged {
            texts: *texts.as_ref().unwrap_or(&ends.texts),
            messages: *messages.as_ref().unwrap_or(&ends.messages),
        });
        made.into_iter().chain([texts.map(drop), messages.map(drop)]).collect()
    }

    fn set_next(&self, wait: Duration) {
        self.due_at.set(self.now().plus(wait));
        self.wake_at.set(real_time() + wait);
    }

    fn now(&self) -> Timestamp {
        self.disk.time().max(self.opened_at)
    }

    /// Returns the id of a message that is accepted now, or the newest one: ids are ahead of a clock that was set back.
    fn newest_id(&self, session: &Session) -> Result<MessageId, PostgresError> {
        let rows = session.query("SELECT max(id) FROM message", &[])?;
        let newest: Option<i64> = rows.first().map_or(Ok(None), |row| values::get(row, 0))?;
        let now = MessageId::first_at(self.now());
        Ok(newest.and_then(MessageId::from_i64).map_or(now, |newest| newest.max(now)))
    }
}

/// Returns the ids before which everything is purged. A purged message has no text.
fn read_purged(session: &Session) -> Result<Purged, PostgresError> {
    let rows = session.query("SELECT upto FROM retention WHERE what IN (1, 2) ORDER BY what", &[])?;
    let upto: Vec<i64> = rows.iter().map(|row| values::get(row, 0)).collect::<rusqlite::Result<_>>()?;
    let [texts, messages] = upto[..] else { return Ok(Purged::default()) };
    Ok(Purged { texts: texts.max(messages), messages })
}

#[expect(
    clippy::disallowed_methods,
    reason = "partitions are made in real time too, while no batch tells the store's time"
)]
fn real_time() -> Instant {
    Instant::now()
}
