//! The follower: a thread that writes what the writer committed to the record, a moment later and with the lowest priority.
//!
//! Twice a second, and sooner under load, it takes everything from the feed, merges it by message and writes it in one
//! transaction. What the feed had no room for, and what a crash lost, it reads from the store's tables (`catching_up.rs`). An
//! error never reaches the writer: the follower keeps what it could not write, and the feed drops the rest until the follower
//! can write again.

mod catching_up;
mod gaps;
mod opening;
mod state;

#[cfg(test)]
mod tests;

pub(crate) use state::Following;

use opening::Discard;
use state::Erasure;

use crate::error::StoreError;
use crate::record::database::StorePosition;
use crate::record::database::checking::RecordCheck;
use crate::record::database::erasing::{self, LATE_LINES_MAX};
use crate::record::database::reading::RecordReaders;
use crate::record::database::schema;
use crate::record::database::source::RecordSource;
use crate::record::database::writing::{Flush, RecordConnection};
use crate::record::pending::{PendingMessages, RecordPosition};
use crate::record::{Fed, Feed, RecordErasure, RecordStatus, RequestEntry, real_time};
use hermod_domain::erasure::KeptErasure;
use hermod_domain::time::Timestamp;
use metrics::{Counter, Gauge, counter, gauge};
use std::path::PathBuf;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// How often the follower takes from the feed.
const FLUSH_EVERY: Duration = Duration::from_millis(500);
/// How often the collected figures go to the tables of the statistics.
const FOLD_EVERY: Duration = Duration::from_secs(60);
/// They go there earlier if there are more.
const FIGURES_MAX: usize = 200_000;
/// Messages that one transaction writes.
const MESSAGES_PER_TRANSACTION_MAX: usize = 8_192;
/// Pause after an error, before the follower tries again.
const RETRY_PAUSE: Duration = Duration::from_secs(1);
/// Pause between two looks whether the check of the record has ended.
const CHECK_POLL: Duration = Duration::from_millis(10);
/// How long a stop waits for the record to catch up. What it lacks then, it reads at the next start.
const FINISH_MAX: Duration = Duration::from_secs(10);
/// The lowest priority of a thread.
const NICE: i32 = 19;

/// Where the record is, and what it belongs to.
pub(crate) struct FollowerSetup {
    pub folder: PathBuf,
    pub store: StorePosition,
    pub feed: Arc<Feed>,
    pub following: Arc<Following>,
    pub readers: Arc<RecordReaders>,
    pub source: RecordSource,
    /// The time when the store was opened.
    pub now: Timestamp,
}

/// Starts the thread. It ends after the feed was closed. A record that cannot be opened does not prevent it: the thread tries
/// again.
pub(crate) fn start(setup: FollowerSetup) -> Result<JoinHandle<()>, StoreError> {
    let folder = setup.folder.clone();
    let mut follower = Follower::new(setup);
    let opened = follower.open_record();
    follower.note(&opened);
    std::thread::Builder::new()
        .name("hermod-record".to_owned())
        .spawn(move || follower.run())
        .map_err(|error| StoreError::File { path: folder, error })
}

struct Follower {
    folder: PathBuf,
    store: StorePosition,
    feed: Arc<Feed>,
    following: Arc<Following>,
    readers: Arc<RecordReaders>,
    /// The store's tables.
    source: RecordSource,
    /// None until it is opened, and while it cannot be.
    record: Option<RecordConnection>,
    /// Runs until the record may be read.
    check: Option<RecordCheck>,
    meters: Meters,
    opened: (Timestamp, Instant),
    /// Where the record is.
    position: RecordPosition,
    /// The last batch that was taken from the feed.
    taken: u64,
    /// The store's tables must have this batch before they are read.
    needed: u64,
    /// The last batch that the feed dropped, until catching up has begun.
    dropped: Option<u64>,
    pending: PendingMessages,
    requests: Vec<RequestEntry>,
    /// What to erase, after what was committed before.
    erased: Vec<RecordErasure>,
    /// Erasures that may cover lines of the request log which other nodes still send.
    erased_recently: Vec<KeptErasure>,
    /// The last request to complete the record.
    requested: u64,
    answered: u64,
    folded_at: Instant,
    /// Messages that are still to be read from the store, about.
    left: u64,
    has_failed: bool,
    /// The record was damaged, and a new one is filled from the store.
    is_replaced: bool,
    is_closed: bool,
}

impl Follower {
    fn new(setup: FollowerSetup) -> Follower {
        let FollowerSetup { folder, store, feed, following, readers, source, now } = setup;
        Follower {
            folder,
            store,
            feed,
            following,
            readers,
            source,
            record: None,
            check: None,
            meters: Meters::register(),
            opened: (now, real_time()),
            taken: store.sequence,
            needed: 0,
            dropped: None,
            pending: PendingMessages::default(),
            requests: Vec::new(),
            erased: Vec::new(),
            erased_recently: Vec::new(),
            requested: 0,
            answered: 0,
            folded_at: real_time(),
            left: 0,
            has_failed: false,
            is_replaced: false,
            is_closed: false,
            position: RecordPosition::default(),
        }
    }

    fn run(mut self) {
        // Of this thread only. Without it the follower competes with the writer.
        if let Err(error) = rustix::process::setpriority_process(None, NICE) {
            tracing::info!(%error, "The thread of the record keeps its priority");
        }
        let mut fed = Fed::default();
        loop {
            if self.has_backlog() {
                self.wait_for_retry();
            } else {
                self.take(self.pause(), self.answered, &mut fed);
            }
            let worked = self.work();
            self.note(&worked);
            if self.is_closed {
                break self.finish();
            }
            if let Err(error) = worked {
                self.repair(&error);
            }
        }
    }

    /// Returns how long to wait for the feed.
    fn pause(&self) -> Duration {
        let is_busy = self.record.is_some() && !self.position.is_caught_up() && !self.has_failed;
        match &self.check {
            _ if is_busy => self.catching_up_pause(),
            Some(_) => CHECK_POLL,
            None => FLUSH_EVERY,
        }
    }

    /// Whether something was taken and could not be written.
    fn has_backlog(&self) -> bool {
        !self.pending.is_empty() || !self.requests.is_empty() || self.dropped.is_some()
    }

    #[expect(clippy::disallowed_methods, reason = "no event says that a full disk has room again")]
    fn wait_for_retry(&mut self) {
        if !self.feed.is_closed() {
            std::thread::sleep(RETRY_PAUSE);
        }
        self.is_closed = self.feed.is_closed();
    }

    /// Takes everything from the feed. Requests after the number `answered` end the pause.
    fn take(&mut self, pause: Duration, answered: u64, fed: &mut Fed) {
        fed.clear();
        self.feed.take(pause, answered, fed);
        self.following.set_behind(fed.since);
        self.meters.batches_dropped.increment(fed.batches_dropped);
        self.meters.requests_dropped.increment(fed.requests_dropped);
        self.taken = fed.sequence.max(self.taken);
        self.requested = fed.requested;
        self.is_closed = fed.closed;
        if fed.dropped.is_some() {
            self.dropped = fed.dropped;
        }
        self.pending.merge(fed, self.following.hub.is_watched());
        erasing::erase_in_lines(&mut fed.requests, &self.erased_recently);
        self.requests.append(&mut fed.requests);
        self.erased.append(&mut fed.erased);
        self.erased.dedup();
    }

    /// Writes what was taken, and catches up a little.
    fn work(&mut self) -> Result<(), StoreError> {
        if self.following.takes_rebuild() {
            tracing::info!("Deleting the record, to fill it again from the store");
            self.replace(Discard::Delete)?;
        }
        if self.record.is_none() {
            self.open_record()?;
        }
        self.end_check()?;
        self.write_taken()?;
        if !self.position.is_caught_up() {
            self.catch_up()?;
        }
        // Before that, a message may have ended that the record has as open, and keeps its number.
        while self.position.is_caught_up()
            && let Some(erased) = self.erased.first().cloned()
        {
            self.erase(&erased)?;
            self.erased.remove(0);
        }
        for Erasure { erased, reply } in self.following.take_erasures() {
            // The caller may be gone.
            drop(reply.send(self.erase(&erased)));
        }
        if self.position.is_caught_up()
            && let Some(keep) = self.following.purge_wanted()
            && !self.record()?.purge(keep)?
        {
            self.following.purged();
        }
        let is_due = self.folded_at.elapsed() >= FOLD_EVERY;
        if is_due || self.following.collected.lock().len() > FIGURES_MAX {
            self.fold()?;
        }
        Ok(())
    }

    /// Writes what was taken from the feed, and begins to catch up if the feed dropped something.
    fn write_taken(&mut self) -> Result<(), StoreError> {
        let mut changed = Vec::new();
        let is_watched = self.following.hub.is_watched();
        while !self.pending.is_empty() || !self.requests.is_empty() {
            let messages = self.pending.sorted();
            let count = messages.len().min(MESSAGES_PER_TRANSACTION_MAX);
            let is_last = count == messages.len();
            let mut position = self.position;
            if is_last && self.dropped.is_none() {
                position.sequence = self.taken;
            }
            let requests = if is_last { &self.requests[..] } else { &[] };
            let flush = Flush { messages: &messages[..count], requests, position, is_watched };
            let record = self.record.as_ref().ok_or(StoreError::RecordUnavailable)?;
            let flushed = record.flush(&flush)?;
            self.position = position;
            self.pending.remove_first(count);
            if is_last {
                self.requests.clear();
            } else {
                // Behind: the other threads first.
                std::thread::yield_now();
            }
            self.following.collected.add(&flushed.counts);
            self.meters.messages.increment(flushed.added);
            changed.extend(flushed.changed);
            self.record()?.checkpoint_if_due()?;
        }
        let now = self.now();
        self.following.hub.publish(changed.iter().map(|(message, step)| (message, step.as_ref())), now);
        if let Some(dropped) = self.dropped {
            self.begin_catching_up(dropped)?;
            self.dropped = None;
        }
        Ok(())
    }

    /// Returns the record. Fails with [`StoreError::RecordUnavailable`] while it is not open.
    fn record(&self) -> Result<&RecordConnection, StoreError> {
        self.record.as_ref().ok_or(StoreError::RecordUnavailable)
    }

    /// Erases in the record, and deletes one that was moved aside. Returns in how many rows.
    fn erase(&mut self, erased: &RecordErasure) -> Result<u64, StoreError> {
        schema::delete_unusable(&self.folder)?;
        if let RecordErasure::Requests(erasures) = erased {
            self.erased_recently.extend_from_slice(erasures);
            let since = self.now().minus(LATE_LINES_MAX);
            self.erased_recently.retain(|erasure| erasure.at >= since);
        }
        Ok(self.record()?.erase(erased)?)
    }

    /// Moves the collected figures to the tables.
    fn fold(&mut self) -> Result<(), StoreError> {
        self.folded_at = real_time();
        self.record()?.fold(&self.following.collected, self.now())?;
        self.put_position(RecordPosition { sequence: self.taken, ..self.position })
    }

    /// Writes the position alone, if it has changed.
    fn put_position(&mut self, position: RecordPosition) -> Result<(), StoreError> {
        if position != self.position {
            self.record()?.flush(&Flush { messages: &[], requests: &[], position, is_watched: false })?;
            self.position = position;
        }
        Ok(())
    }

    /// Returns the current time: that of the store's opening, and what has passed since.
    fn now(&self) -> Timestamp {
        let (opened, at) = self.opened;
        opened.plus(at.elapsed())
    }

    /// Publishes how far the record is, and answers those who wait for it.
    fn note(&mut self, worked: &Result<(), StoreError>) {
        if let Err(error) = worked
            && !self.has_failed
        {
            tracing::warn!(%error, "The record cannot be written; messages are not affected, and it catches up later");
        }
        if worked.is_ok() && self.has_failed {
            tracing::info!("The record is written again");
        }
        self.has_failed = worked.is_err();
        let is_complete =
            worked.is_ok() && !self.has_backlog() && self.position.is_caught_up() && self.check.is_none();
        // As long as what was just written took to be here.
        let lag = self.following.status(&self.feed).lag;
        if is_complete {
            (self.left, self.is_replaced) = (0, false);
            self.following.set_complete();
        }
        self.following.set_trouble(self.trouble());
        self.following.set_catching_up(if self.position.is_caught_up() { 0 } else { self.left.max(1) });
        self.meters.set(RecordStatus { lag, ..self.following.status(&self.feed) });
        if self.requested > self.answered && (is_complete || self.has_failed) {
            self.answered = self.requested;
            self.following.answer(self.requested, self.has_failed);
        }
    }

    /// Catches up after the feed was closed, for a limited time.
    fn catch_up_last(&mut self) -> Result<(), StoreError> {
        let until = real_time() + FINISH_MAX;
        while !self.has_backlog() && !self.position.is_caught_up() && real_time() < until {
            let before = self.position;
            self.work()?;
            if self.position == before {
                // The store cannot be read any more.
                break;
            }
        }
        Ok(())
    }

    /// Completes the file, after the feed was closed.
    fn finish(mut self) {
        if let Err(error) = self.catch_up_last() {
            tracing::warn!(%error, "The record could not catch up before the stop");
        }
        if !self.position.is_caught_up() {
            tracing::info!(
                messages = self.left,
                "The record lacks messages; it reads them at the next start"
            );
        }
        let position = RecordPosition { sequence: self.taken, ..self.position };
        self.check = None;
        let finished = if self.has_backlog() || self.record.is_none() {
            Ok(())
        } else {
            self.put_position(position).and_then(|()| Ok(self.record()?.finish()?))
        };
        if let Err(error) = finished {
            tracing::warn!(%error, "The record is not complete; it catches up at the next start");
        }
        self.following.close();
    }
}

/// The metrics of the record.
struct Meters {
    messages: Counter,
    batches_dropped: Counter,
    requests_dropped: Counter,
    lag: Gauge,
    catching_up: Gauge,
}

impl Meters {
    fn register() -> Meters {
        Meters {
            messages: counter!("hermod_record_messages_total"),
            batches_dropped: counter!("hermod_record_batches_dropped_total"),
            requests_dropped: counter!("hermod_record_requests_dropped_total"),
            lag: gauge!("hermod_record_lag_seconds"),
            catching_up: gauge!("hermod_record_catching_up_messages"),
        }
    }

    #[expect(clippy::cast_precision_loss, reason = "a metric, exact up to 2^53")]
    fn set(&self, status: RecordStatus) {
        self.lag.set(status.lag.as_secs_f64());
        self.catching_up.set(status.catching_up as f64);
    }
}
