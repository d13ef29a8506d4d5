//! The rules of an outbox: who is told what next. Pure: times and rows are told to it.
//!
//! Reports go out in the order they came to be, and no message's later report while an earlier one is out. One that could
//! not be taken waits for its time, and for nothing else: should its message have something newer to say by then, it is
//! dropped in favour of that.

use crate::embedded::outbox::PortNo;
use crate::embedded::outbox::shelf::Shelf;
use crate::ops::{Delivery, REPORTS_IN_MEMORY_MAX, Report, ReportId};
use hermod_domain::ids::MessageId;
use hermod_domain::origin::Told;
use hermod_domain::receipt::DlrCode;
use hermod_domain::retry::Schedule;
use hermod_domain::time::Timestamp;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use tokio::sync::Notify;

/// Rows read at once.
const REFILL_ROWS: usize = 1_024;
/// However much the other outboxes hold, nobody gets fewer.
const REFILL_ROWS_MIN: usize = 64;

/// A report, and how often it could not be taken.
pub(super) struct Entry {
    pub report: Report,
    failures: u32,
}

struct Out {
    port: PortNo,
    entry: Entry,
}

struct Port {
    number: PortNo,
    out: usize,
    waits: bool,
    wake: Arc<Notify>,
}

pub(crate) struct State {
    /// To be told, in order.
    ready: BTreeMap<ReportId, Entry>,
    /// Those that wait for a time.
    deferred: Shelf,
    out: HashMap<ReportId, Out>,
    /// Later reports of messages of which an earlier one is out.
    behind: BTreeMap<ReportId, Entry>,
    /// Reports that are out or deferred and have not said the last of their message.
    open_ended: HashMap<MessageId, ReportId>,
    ports: Vec<Port>,
    /// Everything up to here is in memory or done with.
    read_to: ReportId,
    /// Up to here there may be rows.
    stored_to: ReportId,
    /// What is read next may have been in memory before, and answered.
    looked_back: bool,
    reading: Reading,
    superseded: Vec<ReportId>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Reading {
    Idle,
    Underway,
    /// The last one failed.
    Paused,
}

/// What a port got.
pub(crate) enum Took {
    Reports(Vec<Report>),
    /// Read on from the tables first.
    Read(Refill),
    Nothing,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Refill {
    pub after: ReportId,
    /// Rows up to here are there to be seen.
    until: ReportId,
    pub limit: usize,
    /// What was answered must be written before it is read.
    pub answers_first: bool,
}

/// What answers came to.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Settled {
    pub taken: Vec<ReportId>,
    pub refused: Vec<(ReportId, u32)>,
}

impl State {
    /// Everything up to a report stands in the tables.
    pub(super) fn behind(last: ReportId) -> State {
        State {
            ready: BTreeMap::new(),
            deferred: Shelf::default(),
            out: HashMap::new(),
            behind: BTreeMap::new(),
            open_ended: HashMap::new(),
            ports: Vec::new(),
            read_to: ReportId(0),
            stored_to: last,
            looked_back: true,
            reading: Reading::Idle,
            superseded: Vec::new(),
        }
    }

    pub(super) fn in_memory(&self) -> usize {
        self.ready.len() + self.deferred.len() + self.out.len() + self.behind.len()
    }

    /// Nobody would miss it.
    pub(super) fn is_idle(&self) -> bool {
        self.ports.is_empty() && self.in_memory() == 0
    }

    pub(super) fn open(&mut self, number: PortNo, wake: Arc<Notify>) {
        self.ports.push(Port { number, out: 0, waits: false, wake });
    }

    /// A new report, just committed. Whatever is in the tables only is read first.
    pub(super) fn put(&mut self, report: Report, room_in_all: usize) {
        let id = report.id;
        if id <= self.read_to {
            return;
        }
        let spilled = self.stored_to > self.read_to;
        self.stored_to = id;
        if spilled || self.ports.is_empty() || room_in_all == 0 || self.in_memory() >= REPORTS_IN_MEMORY_MAX {
            return;
        }
        self.read_to = id;
        self.ready.insert(id, Entry { report, failures: 0 });
    }

    pub(crate) fn take(&mut self, port: PortNo, most: usize, room_in_all: usize, now: Timestamp) -> Took {
        self.release_due(now);
        let taken = self.take_ready(port, most);
        let Some(place) = self.ports.iter().position(|open| open.number == port) else {
            return Took::Nothing;
        };
        self.ports[place].waits = taken.is_empty();
        self.ports[place].out += taken.len();
        if !taken.is_empty() {
            return Took::Reports(taken);
        }
        if !self.can_read() {
            return Took::Nothing;
        }
        self.reading = Reading::Underway;
        let limit = REFILL_ROWS.min(self.room()).min(room_in_all.max(REFILL_ROWS_MIN));
        let (after, until) = (self.read_to, self.stored_to);
        Took::Read(Refill { after, until, limit, answers_first: self.looked_back })
    }

    fn take_ready(&mut self, port: PortNo, most: usize) -> Vec<Report> {
        // Others who wait get their share, however much this one could take.
        let others = self.ports.iter().filter(|open| open.waits && open.number != port).count();
        let most = most.min(self.ready.len().div_ceil(others + 1));
        let mut taken = Vec::with_capacity(most);
        while taken.len() < most
            && let Some((id, entry)) = self.ready.pop_first()
        {
            if let Some(entry) = self.unless_behind(id, entry) {
                taken.push(entry.report.clone());
                if is_open_ended(&entry.report) {
                    self.open_ended.insert(entry.report.message, id);
                }
                self.out.insert(id, Out { port, entry });
            }
        }
        taken
    }

    /// Gives it back unless an earlier report of its message is out; then it is put behind that.
    fn unless_behind(&mut self, id: ReportId, entry: Entry) -> Option<Entry> {
        if self.open_ended.is_empty() {
            return Some(entry);
        }
        let message = entry.report.message;
        let Some(earlier) = self.open_ended.get(&message).copied() else { return Some(entry) };
        if self.out.contains_key(&earlier) {
            self.behind.insert(id, entry);
            return None;
        }
        self.deferred.remove(earlier);
        self.superseded.push(earlier);
        self.open_ended.remove(&message);
        Some(entry)
    }

    pub(crate) fn settle(
        &mut self,
        port: PortNo,
        outcomes: Vec<(ReportId, Delivery)>,
        now: Timestamp,
    ) -> Settled {
        let mut settled = Settled { taken: std::mem::take(&mut self.superseded), refused: Vec::new() };
        for (id, delivery) in outcomes {
            let Some(out) = self.out.remove(&id) else { continue };
            if out.port != port {
                self.out.insert(id, out);
                continue;
            }
            if let Some(open) = self.ports.iter_mut().find(|open| open.number == port) {
                open.out = open.out.saturating_sub(1);
            }
            let open_ended = is_open_ended(&out.entry.report).then_some(out.entry.report.message);
            match delivery {
                Delivery::Done => settled.taken.push(id),
                Delivery::Refused(status) => settled.refused.push((id, status)),
                Delivery::NotSent => {
                    self.ready.insert(id, out.entry);
                }
                Delivery::Later => {
                    self.defer(out.entry, now);
                    continue;
                }
            }
            if let Some(message) = open_ended {
                self.go_on(message);
            }
        }
        settled.taken.append(&mut self.superseded);
        settled.taken.sort_unstable();
        settled
    }

    /// It could not be taken. If its message has something newer to say, that is told instead.
    fn defer(&mut self, mut entry: Entry, now: Timestamp) {
        let message = entry.report.message;
        if is_open_ended(&entry.report) && self.behind.values().any(|later| later.report.message == message) {
            self.superseded.push(entry.report.id);
            return self.go_on(message);
        }
        entry.failures = entry.failures.saturating_add(1);
        let wait = Schedule::after_untaken_report().wait(entry.failures, 0);
        self.deferred.put(now.plus(wait.expect("reports are offered again until they are given up")), entry);
    }

    /// No report of the message is out or deferred any more.
    fn go_on(&mut self, message: MessageId) {
        self.open_ended.remove(&message);
        let later: Vec<ReportId> = self
            .behind
            .iter()
            .filter(|(_, entry)| entry.report.message == message)
            .map(|(id, _)| *id)
            .collect();
        for id in later {
            if let Some(entry) = self.behind.remove(&id) {
                self.ready.insert(id, entry);
            }
        }
    }

    pub(super) fn release_due(&mut self, now: Timestamp) {
        while let Some(entry) = self.deferred.pop_due(now) {
            let (id, message) = (entry.report.id, entry.report.message);
            if is_open_ended(&entry.report) {
                self.open_ended.remove(&message);
            }
            if self.ports.is_empty() {
                self.unread(id);
            } else {
                self.ready.insert(id, entry);
            }
        }
    }

    pub(crate) fn next_due(&self) -> Option<Timestamp> {
        self.deferred.next_at()
    }

    /// From this report on everything that is not in memory is in the tables, and only there.
    fn unread(&mut self, from: ReportId) {
        let before = ReportId(from.0.saturating_sub(1));
        if before < self.read_to {
            self.stored_to = self.stored_to.max(self.read_to);
            self.read_to = before;
            self.looked_back = true;
        }
    }

    /// The bind is gone. What it had taken may have been told; it is told again after a while.
    pub(super) fn close(&mut self, port: PortNo, now: Timestamp) {
        let mut held: Vec<ReportId> =
            self.out.iter().filter(|(_, out)| out.port == port).map(|(id, _)| *id).collect();
        held.sort_unstable();
        for id in held {
            if let Some(out) = self.out.remove(&id) {
                self.defer(out.entry, now);
            }
        }
        self.ports.retain(|open| open.number != port);
        if self.ports.is_empty() {
            // Nobody is there to take them, and whoever comes can read them.
            let first = [self.ready.first_key_value(), self.behind.first_key_value()];
            if let Some(first) = first.into_iter().flatten().map(|(id, _)| *id).min() {
                self.unread(first);
            }
            self.ready.clear();
            self.behind.clear();
        }
    }

    pub(crate) fn no_longer_waits(&mut self, port: PortNo) {
        if let Some(open) = self.ports.iter_mut().find(|open| open.number == port) {
            open.waits = false;
        }
    }

    pub(super) fn forget(&mut self, id: ReportId) {
        let gone = self.ready.remove(&id).or_else(|| self.behind.remove(&id));
        let gone = gone.or_else(|| self.deferred.remove(id));
        if let Some(entry) = gone
            && self.open_ended.get(&entry.report.message) == Some(&id)
        {
            self.open_ended.remove(&entry.report.message);
        }
    }

    pub(super) fn superseded(&mut self) -> Vec<ReportId> {
        std::mem::take(&mut self.superseded)
    }

    fn room(&self) -> usize {
        REPORTS_IN_MEMORY_MAX.saturating_sub(self.in_memory())
    }

    fn can_read(&self) -> bool {
        self.stored_to > self.read_to && self.reading == Reading::Idle && self.room() > 0
    }

    /// What was read. Fewer rows than asked for means there are no more up to where they were there to be seen.
    pub(crate) fn refill(
        &mut self,
        refill: Refill,
        reports: Vec<Report>,
        rows: usize,
        last: Option<ReportId>,
    ) {
        if self.read_to != refill.after || self.ports.is_empty() {
            // Everybody left meanwhile, and what was read is not wanted.
            return;
        }
        let last = last.unwrap_or(refill.after);
        self.read_to = if rows < refill.limit { last.max(refill.until) } else { last };
        self.looked_back = false;
        for report in reports {
            let id = report.id;
            if !self.deferred.has(id) && !self.out.contains_key(&id) {
                self.ready.insert(id, Entry { report, failures: 0 });
            }
        }
    }

    pub(crate) fn read_ended(&mut self) {
        if self.reading == Reading::Underway {
            self.reading = Reading::Idle;
        }
    }

    pub(super) fn read_failed(&mut self) {
        self.reading = Reading::Paused;
    }

    pub(super) fn read_again(&mut self) {
        if self.reading == Reading::Paused {
            self.reading = Reading::Idle;
        }
    }

    /// If there is something to do: of those who wait, the one who has the least to do.
    pub(super) fn next_to_wake(&self) -> Option<&Notify> {
        if self.ready.is_empty() && !self.can_read() {
            return None;
        }
        let waiting = self.ports.iter().filter(|open| open.waits);
        waiting.min_by_key(|open| open.out).map(|open| &*open.wake)
    }
}

/// Its message may have more to say: it is on its way, or nobody knows how it ended.
fn is_open_ended(report: &Report) -> bool {
    match report.told {
        Told::Enroute | Told::Accepted | Told::Final(DlrCode::Unknown) => true,
        Told::Final(
            DlrCode::Delivrd | DlrCode::Acceptd | DlrCode::Undeliv | DlrCode::Rejectd | DlrCode::Expired,
        ) => false,
    }
}
