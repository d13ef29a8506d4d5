//! The outboxes of all connections with a bound receiver, shared by the writer and the ports. The writer adds reports after
//! the commit that created them; the ports of live binds take them. A connection without a bind has no outbox: its
//! reports are only in the tables, and are read when a customer binds. The rules are in `hermod_engine::outbox`.

mod receivers;
#[cfg(test)]
mod tests;

pub(crate) use receivers::Receivers;

use hermod_domain::ids::ConnectionId;
use hermod_domain::time::Timestamp;
use hermod_engine::batch::EngineState;
use hermod_engine::ops::{FinishedReports, Report, ReportId};
use hermod_engine::outbox::{NextReports, Outbox, PortNo, REPORTS_IN_ALL_MAX, ReportCounts};
use hermod_engine::tables::{TableError, Tables};
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::{Notify, watch};

/// Pause before a failed read is retried.
const READ_RETRY_PAUSE: Duration = Duration::from_secs(1);
const NOTHING_DUE: i64 = i64::MAX;

pub(crate) struct Outboxes {
    boxes: Mutex<Boxes>,
    /// The id of the newest durable report.
    last: AtomicU64,
    /// The latest time that a caller passed in.
    clock_ms: AtomicI64,
    next_due_ms: AtomicI64,
    ports_opened: AtomicU64,
    /// An outbox has superseded reports that the writer has not deleted yet.
    has_superseded: AtomicBool,
    /// Reports in memory, over all outboxes.
    in_all: Arc<AtomicUsize>,
    receivers: Arc<Receivers>,
    /// False while ports of other nodes may have reports that this engine does not know of.
    served: watch::Sender<bool>,
}

#[derive(Default)]
struct Boxes {
    open: HashMap<ConnectionId, Arc<SharedOutbox>>,
    /// Reports per connection, in memory or only in the tables.
    waiting: ReportCounts,
}

/// One connection's outbox, and the notifiers of its ports.
pub(crate) struct SharedOutbox {
    inner: Mutex<Inner>,
    in_all: Arc<AtomicUsize>,
}

struct Inner {
    state: Outbox,
    /// One notifier per open port.
    wakes: Vec<(PortNo, Arc<Notify>)>,
}

impl Inner {
    /// Wakes the port whose turn it is, if there is a report to take or a page to read.
    fn wake_next(&self) {
        let Some(next) = self.state.next_to_wake() else { return };
        if let Some((_, wake)) = self.wakes.iter().find(|(port, _)| *port == next) {
            wake.notify_one();
        }
    }
}

impl SharedOutbox {
    /// Runs `work` on the outbox. Afterwards counts the reports it holds, and wakes the port whose turn it is.
    pub(crate) fn with<T>(&self, work: impl FnOnce(&mut Outbox) -> T) -> T {
        self.with_inner(|inner| work(&mut inner.state))
    }

    fn with_inner<T>(&self, work: impl FnOnce(&mut Inner) -> T) -> T {
        let mut inner = lock(&self.inner);
        let before = inner.state.in_memory();
        let done = work(&mut inner);
        let after = inner.state.in_memory();
        if after > before {
            self.in_all.fetch_add(after - before, Ordering::Relaxed);
        } else if before > after {
            self.in_all.fetch_sub(before - after, Ordering::Relaxed);
        }
        inner.wake_next();
        done
    }

    fn open(&self, port: PortNo, wake: Arc<Notify>) {
        self.with_inner(|Inner { state, wakes }| {
            state.open(port);
            wakes.push((port, wake));
        });
    }

    /// Takes at most `most` reports for a port; the engine's [`Outbox::take`] has the rules.
    pub(crate) fn take(&self, port: PortNo, most: usize, now: Timestamp) -> NextReports {
        let room = self.room_in_all();
        self.with(|state| state.take(port, most, room, now))
    }

    /// How many more reports all outboxes together may hold.
    fn room_in_all(&self) -> usize {
        REPORTS_IN_ALL_MAX.saturating_sub(self.in_all.load(Ordering::Relaxed))
    }
}

impl Outboxes {
    /// Returns outboxes for an engine that is not here yet.
    pub(crate) fn empty(receivers: Arc<Receivers>, now: Timestamp) -> Outboxes {
        Outboxes::new(ReportCounts::default(), 0, receivers, now)
    }

    /// Begins with what the tables say: none is open, and some connections have reports.
    pub(crate) fn begin(
        &self,
        tables: &Tables<'_>,
        state: &EngineState,
        now: Timestamp,
    ) -> Result<(), TableError> {
        let waiting = ReportCounts::in_tables(tables.read()?.connections_with_reports()?);
        self.receivers.begin(now);
        self.last.store(state.last_report, Ordering::Release);
        self.advance_clock(now);
        self.boxes().waiting = waiting;
        Ok(())
    }

    /// `last`: the highest report id that was ever given.
    fn new(waiting: ReportCounts, last: u64, receivers: Arc<Receivers>, now: Timestamp) -> Outboxes {
        Outboxes {
            boxes: Mutex::new(Boxes { open: HashMap::new(), waiting }),
            last: AtomicU64::new(last),
            clock_ms: AtomicI64::new(now.as_millis()),
            next_due_ms: AtomicI64::new(NOTHING_DUE),
            ports_opened: AtomicU64::new(0),
            has_superseded: AtomicBool::new(false),
            in_all: Arc::default(),
            receivers,
            served: watch::Sender::new(true),
        }
    }

    /// Hands out reports, or none until the other nodes have said which ones their binds have.
    pub(crate) fn set_served(&self, served: bool) {
        self.served.send_replace(served);
    }

    /// Waits until reports are handed out.
    pub(crate) async fn wait_until_served(&self) {
        // The sender is here.
        let _ = self.served.subscribe().wait_for(|served| *served).await;
    }

    /// Adds the reports of a durable commit to the open outboxes. `deleted`: how many rows the commit deleted, per
    /// connection.
    pub(crate) fn add_committed(&self, reports: Vec<Report>, deleted: &[(ConnectionId, u64)]) {
        if reports.is_empty() && deleted.is_empty() {
            return;
        }
        if let Some(last) = reports.last() {
            // Before the outboxes are looked up: one that opens now reads these reports from the tables.
            self.last.store(last.id.0, Ordering::Release);
        }
        let mut boxes = self.boxes();
        let Boxes { open, waiting } = &mut *boxes;
        deleted.iter().for_each(|(connection, rows)| waiting.subtract(*connection, *rows));
        let mut reports = reports.into_iter().peekable();
        while let Some(first) = reports.next() {
            let connection = first.connection;
            let same = std::iter::once(first)
                .chain(std::iter::from_fn(|| reports.next_if(|next| next.connection == connection)));
            let mut count = 0;
            match open.get(&connection) {
                Some(outbox) => {
                    let room = outbox.room_in_all();
                    outbox.with(|state| {
                        same.for_each(|report| {
                            count += 1;
                            state.put(report, room);
                        })
                    });
                }
                None => count += u64::try_from(same.count()).unwrap_or(0),
            }
            waiting.add(connection, count);
        }
    }

    /// Forgets reports whose deletion is durable, or will not be tried again. Closes the outbox if it is idle.
    pub(crate) fn forget_settled(&self, finished: &FinishedReports) {
        let mut boxes = self.boxes();
        let Some(outbox) = boxes.open.get(&finished.connection) else { return };
        let refused = finished.refused.iter().map(|(id, _)| *id);
        let idle = outbox.with(|state| {
            state.written(finished.accepted.iter().copied().chain(refused));
            state.is_idle()
        });
        if idle {
            boxes.open.remove(&finished.connection);
        }
    }

    /// Returns how many reports a connection has; `None` if only the tables know.
    pub(crate) fn waiting(&self, connection: ConnectionId) -> Option<u64> {
        self.boxes().waiting.of(connection)
    }

    /// Returns the newest durable report. All before it are durable too.
    pub(crate) fn newest(&self) -> ReportId {
        ReportId(self.last.load(Ordering::Acquire))
    }

    pub(crate) fn receivers(&self) -> &Receivers {
        &self.receivers
    }

    /// Returns the connections that have reports.
    pub(crate) fn connections_with_reports(&self) -> Vec<ConnectionId> {
        self.boxes().waiting.connections()
    }

    /// Removes reports whose rows are deleted: given up, or moved to a webhook.
    pub(crate) fn remove(&self, connection: ConnectionId, deleted: &[ReportId]) {
        if deleted.is_empty() {
            return;
        }
        let outbox = self.boxes().open.get(&connection).cloned();
        if let Some(outbox) = outbox {
            outbox.with(|state| deleted.iter().for_each(|id| state.drop_report(*id)));
        }
    }

    /// Opens a port to the connection's outbox, and the outbox itself if this is its first port.
    pub(crate) fn open(&self, connection: ConnectionId, wake: Arc<Notify>) -> (Arc<SharedOutbox>, PortNo) {
        let number = PortNo(self.ports_opened.fetch_add(1, Ordering::Relaxed));
        let mut boxes = self.boxes();
        let outbox = boxes.open.entry(connection).or_insert_with(|| {
            Arc::new(SharedOutbox {
                inner: Mutex::new(Inner { state: Outbox::with_rows_up_to(self.newest()), wakes: Vec::new() }),
                in_all: self.in_all.clone(),
            })
        });
        outbox.open(number, wake);
        self.receivers.add(connection);
        (outbox.clone(), number)
    }

    /// Closes a port. Reports that it took and did not settle are sent again later. Returns the superseded reports, which the
    /// caller must have the writer delete. If `can_delete` is false they stay in the outbox, for the next settlement or
    /// [`Outboxes::take_superseded`]: they must not be deleted after the report that supersedes them.
    pub(crate) fn close(
        &self,
        connection: ConnectionId,
        outbox: &SharedOutbox,
        port: PortNo,
        can_delete: bool,
    ) -> Vec<ReportId> {
        let now = self.now();
        let mut boxes = self.boxes();
        let (due, idle, superseded) = outbox.with_inner(|Inner { state, wakes }| {
            state.close(port, now);
            wakes.retain(|(open, _)| *open != port);
            let superseded = if can_delete { state.take_superseded() } else { Vec::new() };
            if state.has_superseded() {
                self.has_superseded.store(true, Ordering::Release);
            }
            (state.next_due(), state.is_idle(), superseded)
        });
        self.set_due(due);
        self.receivers.remove(connection, now);
        if idle {
            boxes.open.remove(&connection);
        }
        superseded
    }

    /// Whether an outbox may have superseded reports that the writer was not yet asked to delete.
    pub(crate) fn has_superseded(&self) -> bool {
        self.has_superseded.load(Ordering::Acquire)
    }

    /// Takes the superseded reports of one connection, for the writer to delete. `None` if there are none left.
    pub(crate) fn take_superseded(&self) -> Option<FinishedReports> {
        let boxes = self.boxes();
        let found = boxes.open.iter().find_map(|(connection, outbox)| {
            let taken = outbox.with(Outbox::take_superseded);
            (!taken.is_empty()).then_some((*connection, taken))
        });
        let Some((connection, taken)) = found else {
            self.has_superseded.store(false, Ordering::Release);
            return None;
        };
        Some(FinishedReports::superseded(connection, taken, self.now()))
    }

    /// Releases deferred reports that are due, and allows failed reads to be retried.
    pub(crate) fn tick(&self, now: Timestamp) {
        self.advance_clock(now);
        if self.next_due_ms.load(Ordering::Acquire) > now.as_millis() {
            return;
        }
        // Before the outboxes are visited, so that a report that is deferred meanwhile is not missed.
        self.next_due_ms.store(NOTHING_DUE, Ordering::Release);
        self.boxes().open.retain(|_, outbox| {
            let (due, idle) = outbox.with(|state| {
                state.release_due(now);
                state.read_again();
                (state.next_due(), state.is_idle())
            });
            self.set_due(due);
            !idle
        });
    }

    /// Sets the time. It never goes back.
    pub(crate) fn advance_clock(&self, now: Timestamp) {
        self.clock_ms.fetch_max(now.as_millis(), Ordering::Relaxed);
    }

    pub(crate) fn now(&self) -> Timestamp {
        Timestamp::from_millis(self.clock_ms.load(Ordering::Relaxed))
    }

    /// Makes the next [`Outboxes::tick`] at or after this time visit the outboxes.
    pub(crate) fn set_due(&self, at: Option<Timestamp>) {
        if let Some(at) = at {
            self.next_due_ms.fetch_min(at.as_millis(), Ordering::AcqRel);
        }
    }

    /// Schedules another attempt after a failed read.
    pub(crate) fn retry_read_later(&self, outbox: &SharedOutbox) {
        outbox.with(Outbox::read_failed);
        self.set_due(Some(self.now().plus(READ_RETRY_PAUSE)));
    }

    fn boxes(&self) -> MutexGuard<'_, Boxes> {
        lock(&self.boxes)
    }
}

/// Locks it, also after a panic elsewhere: the worst consequence is a report that is sent twice.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
