//! The outboxes of all connections that a customer is bound to, shared by the writer and the ports. The writer puts reports
//! in after the commit that made them; ports of live binds take them out. A connection without a bind has none: its reports
//! stand in the tables and are read when a customer binds. The rules are in `hermod_engine::outbox`.

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
use tokio::sync::Notify;

/// How long to wait before reading again after a read failed.
const PAUSE_AFTER_FAULT: Duration = Duration::from_secs(1);
const NOTHING_DUE: i64 = i64::MAX;

pub(crate) struct Outboxes {
    boxes: Mutex<Boxes>,
    /// The last report that is durable.
    last: AtomicU64,
    /// The latest time anyone has told.
    clock_ms: AtomicI64,
    next_due_ms: AtomicI64,
    ports_opened: AtomicU64,
    /// Somewhere there is something that the writer is still to be told.
    left_over: AtomicBool,
    in_all: Arc<AtomicUsize>,
    receivers: Arc<Receivers>,
}

#[derive(Default)]
struct Boxes {
    open: HashMap<ConnectionId, Arc<SharedOutbox>>,
    waiting: ReportCounts,
}

/// One connection's outbox, and how its ports are woken.
pub(crate) struct SharedOutbox {
    inner: Mutex<Inner>,
    in_all: Arc<AtomicUsize>,
}

struct Inner {
    state: Outbox,
    /// What wakes each port. A few at most.
    wakes: Vec<(PortNo, Arc<Notify>)>,
}

impl Inner {
    /// Wakes the port that should come next, if there is something to do.
    fn wake_next(&self) {
        let Some(next) = self.state.next_to_wake() else { return };
        if let Some((_, wake)) = self.wakes.iter().find(|(port, _)| *port == next) {
            wake.notify_one();
        }
    }
}

impl SharedOutbox {
    /// The only way to its state: what it holds is counted, and whoever should come next is called.
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

    pub(crate) fn take(&self, port: PortNo, most: usize, now: Timestamp) -> NextReports {
        let room = self.room_in_all();
        self.with(|state| state.take(port, most, room, now))
    }

    fn room_in_all(&self) -> usize {
        REPORTS_IN_ALL_MAX.saturating_sub(self.in_all.load(Ordering::Relaxed))
    }
}

impl Outboxes {
    pub(crate) fn load(
        tables: &Tables<'_>,
        state: &EngineState,
        receivers: Arc<Receivers>,
        now: Timestamp,
    ) -> Result<Outboxes, TableError> {
        let waiting = ReportCounts::in_tables(tables.read()?.connections_with_reports()?);
        Ok(Outboxes::new(waiting, state.last_report, receivers, now))
    }

    #[cfg(test)]
    fn empty() -> Outboxes {
        let receivers = Arc::new(Receivers::new(Timestamp::EPOCH));
        Outboxes::new(ReportCounts::default(), 0, receivers, Timestamp::EPOCH)
    }

    /// `last`: the highest id ever given.
    fn new(waiting: ReportCounts, last: u64, receivers: Arc<Receivers>, now: Timestamp) -> Outboxes {
        Outboxes {
            boxes: Mutex::new(Boxes { open: HashMap::new(), waiting }),
            last: AtomicU64::new(last),
            clock_ms: AtomicI64::new(now.as_millis()),
            next_due_ms: AtomicI64::new(NOTHING_DUE),
            ports_opened: AtomicU64::new(0),
            left_over: AtomicBool::new(false),
            in_all: Arc::default(),
            receivers,
        }
    }

    /// A commit is durable: these reports are new, so many rows of these connections are gone.
    pub(crate) fn committed(&self, reports: Vec<Report>, gone: &[(ConnectionId, u64)]) {
        if reports.is_empty() && gone.is_empty() {
            return;
        }
        if let Some(last) = reports.last() {
            // Before anybody is looked for: who opens an outbox now reads it from the tables.
            self.last.store(last.id.0, Ordering::Release);
        }
        let mut boxes = self.boxes();
        let Boxes { open, waiting } = &mut *boxes;
        gone.iter().for_each(|(connection, rows)| waiting.subtract(*connection, *rows));
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

    /// What a connection's customers answered is durable, or will never be.
    pub(crate) fn written(&self, ends: &FinishedReports) {
        let mut boxes = self.boxes();
        let Some(outbox) = boxes.open.get(&ends.connection) else { return };
        let refused = ends.refused.iter().map(|(id, _)| *id);
        let idle = outbox.with(|state| {
            state.written(ends.accepted.iter().copied().chain(refused));
            state.is_idle()
        });
        if idle {
            boxes.open.remove(&ends.connection);
        }
    }

    /// How many rows a connection has; nothing if only the tables know.
    pub(crate) fn waiting(&self, connection: ConnectionId) -> Option<u64> {
        self.boxes().waiting.of(connection)
    }

    /// Up to here every report is durable.
    pub(crate) fn newest(&self) -> ReportId {
        ReportId(self.last.load(Ordering::Acquire))
    }

    pub(crate) fn receivers(&self) -> &Receivers {
        &self.receivers
    }

    pub(crate) fn with_reports(&self) -> Vec<ConnectionId> {
        self.boxes().waiting.connections()
    }

    /// These have no rows any more.
    pub(crate) fn forget(&self, connection: ConnectionId, given_up: &[ReportId]) {
        if given_up.is_empty() {
            return;
        }
        let outbox = self.boxes().open.get(&connection).cloned();
        if let Some(outbox) = outbox {
            outbox.with(|state| given_up.iter().for_each(|id| state.forget(*id)));
        }
    }

    pub(crate) fn open(&self, connection: ConnectionId, wake: Arc<Notify>) -> (Arc<SharedOutbox>, PortNo) {
        let number = PortNo(self.ports_opened.fetch_add(1, Ordering::Relaxed));
        let mut boxes = self.boxes();
        let outbox = boxes.open.entry(connection).or_insert_with(|| {
            Arc::new(SharedOutbox {
                inner: Mutex::new(Inner { state: Outbox::behind(self.newest()), wakes: Vec::new() }),
                in_all: self.in_all.clone(),
            })
        });
        outbox.open(number, wake);
        self.receivers.came(connection);
        (outbox.clone(), number)
    }

    /// Says which reports need not be told any more, if there is a way to tell the writer. Otherwise they are left over,
    /// and whatever is answered next brings them along: it must not be written before them.
    pub(crate) fn close(
        &self,
        connection: ConnectionId,
        outbox: &SharedOutbox,
        port: PortNo,
        can_tell: bool,
    ) -> Vec<ReportId> {
        let now = self.now();
        let mut boxes = self.boxes();
        let (due, idle, superseded) = outbox.with_inner(|Inner { state, wakes }| {
            state.close(port, now);
            wakes.retain(|(open, _)| *open != port);
            let superseded = if can_tell { state.take_superseded() } else { Vec::new() };
            if state.has_superseded() {
                self.left_over.store(true, Ordering::Release);
            }
            (state.next_due(), state.is_idle(), superseded)
        });
        self.due_at(due);
        self.receivers.left(connection, now);
        if idle {
            boxes.open.remove(&connection);
        }
        superseded
    }

    pub(crate) fn has_left_over(&self) -> bool {
        self.left_over.load(Ordering::Acquire)
    }

    /// Something that the writer was to be told when there was no way to.
    pub(crate) fn left_over(&self) -> Option<FinishedReports> {
        let boxes = self.boxes();
        let found = boxes.open.iter().find_map(|(connection, outbox)| {
            let taken = outbox.with(Outbox::take_superseded);
            (!taken.is_empty()).then_some((*connection, taken))
        });
        let Some((connection, taken)) = found else {
            self.left_over.store(false, Ordering::Release);
            return None;
        };
        Some(FinishedReports { connection, accepted: taken, refused: Vec::new(), now: self.now() })
    }

    /// What waited for a time goes on.
    pub(crate) fn tick(&self, now: Timestamp) {
        self.clock_is(now);
        if self.next_due_ms.load(Ordering::Acquire) > now.as_millis() {
            return;
        }
        // First, so that what is deferred meanwhile is not missed.
        self.next_due_ms.store(NOTHING_DUE, Ordering::Release);
        self.boxes().open.retain(|_, outbox| {
            let (due, idle) = outbox.with(|state| {
                state.release_due(now);
                state.read_again();
                (state.next_due(), state.is_idle())
            });
            self.due_at(due);
            !idle
        });
    }

    pub(crate) fn clock_is(&self, now: Timestamp) {
        self.clock_ms.fetch_max(now.as_millis(), Ordering::Relaxed);
    }

    pub(crate) fn now(&self) -> Timestamp {
        Timestamp::from_millis(self.clock_ms.load(Ordering::Relaxed))
    }

    pub(crate) fn due_at(&self, at: Option<Timestamp>) {
        if let Some(at) = at {
            self.next_due_ms.fetch_min(at.as_millis(), Ordering::AcqRel);
        }
    }

    /// A read failed: somebody tries again soon.
    pub(crate) fn pause(&self, outbox: &SharedOutbox) {
        outbox.with(Outbox::read_failed);
        self.due_at(Some(self.now().plus(PAUSE_AFTER_FAULT)));
    }

    fn boxes(&self) -> MutexGuard<'_, Boxes> {
        lock(&self.boxes)
    }
}

/// A panic elsewhere leaves nothing half done in here that could be worse than a report told twice.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
