//! The rules of an outbox: who is told what next. Pure: times and rows are told to it.
//!
//! Reports go out in the order they came to be, and no message's later report while an earlier one is out. One that could
//! not be taken waits for its time, and for nothing else: should its message have something newer to say by then, it is
//! dropped in favour of that.

use crate::store::outbox::PortNo;
use crate::store::outbox::reading::{Aside, Reading, Refill};
use crate::store::outbox::shelf::Shelf;
use crate::store::outbox::unwritten::Unwritten;
use hermod_domain::ids::MessageId;
use hermod_domain::origin::Told;
use hermod_domain::receipt::DlrCode;
use hermod_domain::retry::Schedule;
use hermod_domain::time::Timestamp;
use hermod_engine::ops::{Delivery, MessageNews, News, REPORTS_IN_MEMORY_MAX, Report, ReportId};
use std::collections::{BTreeMap, HashMap};

/// Those that wait for a time in memory. Further ones wait in the tables, so that there is always room for what was not
/// tried yet.
pub(super) const DEFERRED_IN_MEMORY_MAX: usize = REPORTS_IN_MEMORY_MAX / 4 * 3;

/// A report, how often it could not be taken, and who had it last.
pub(super) struct Entry {
    pub report: Report,
    failures: u32,
    had_by: Option<PortNo>,
}

impl Entry {
    pub(super) fn new(report: Report) -> Entry {
        Entry { report, failures: 0, had_by: None }
    }
}

pub(super) struct Out {
    port: PortNo,
    entry: Entry,
    /// Nobody waits for it any more: it has no row.
    is_given_up: bool,
}

pub(super) struct Port {
    number: PortNo,
    out: usize,
    waits: bool,
}

pub(crate) struct State {
    /// To be told, in order.
    pub(super) ready: BTreeMap<ReportId, Entry>,
    /// Those that wait for a time.
    pub(super) deferred: Shelf,
    pub(super) out: HashMap<ReportId, Out>,
    /// Later reports of messages of which an earlier one is out.
    pub(super) behind: BTreeMap<ReportId, Entry>,
    /// Reports that are out or deferred and have not said the last of their message.
    open_ended: HashMap<MessageId, ReportId>,
    pub(super) ports: Vec<Port>,
    /// Everything up to here is in memory or done with, but for what is aside.
    pub(super) read_to: ReportId,
    /// Up to here there may be rows.
    pub(super) stored_to: ReportId,
    /// Those that wait for a time and had no room.
    pub(super) aside: Option<Aside>,
    pub(super) is_aside_due: bool,
    pub(super) reading: Reading,
    /// The other outboxes leave hardly any room.
    pub(super) is_crowded: bool,
    /// Dropped in favour of something newer, and the writer does not know yet. It hears of them no later than of that.
    pub(super) superseded: Vec<ReportId>,
    /// Done with, and perhaps still in the tables.
    pub(super) unwritten: Unwritten,
}

/// What a port got.
pub(crate) enum Took {
    Reports(Vec<Report>),
    /// Read on from the tables first.
    Read(Refill),
    Nothing,
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
            aside: None,
            is_aside_due: false,
            reading: Reading::Idle,
            is_crowded: false,
            superseded: Vec::new(),
            unwritten: Unwritten::default(),
        }
    }

    pub(super) fn in_memory(&self) -> usize {
        let told = self.out.len() + self.unwritten.len();
        self.ready.len() + self.deferred.len() + self.behind.len() + told
    }

    /// Nobody would miss it.
    pub(super) fn is_idle(&self) -> bool {
        self.ports.is_empty() && self.in_memory() == 0
    }

    pub(super) fn open(&mut self, number: PortNo) {
        self.ports.push(Port { number, out: 0, waits: false });
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
        self.ready.insert(id, Entry::new(report));
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
        self.begin_reading(room_in_all).map_or(Took::Nothing, Took::Read)
    }

    fn take_ready(&mut self, port: PortNo, most: usize) -> Vec<Report> {
        // Others who wait get their share, however much this one could take.
        let others = self.ports.iter().filter(|open| open.waits && open.number != port).count();
        let most = most.min(self.ready.len().div_ceil(others + 1));
        let mut taken = Vec::with_capacity(most);
        while taken.len() < most
            && let Some((id, entry)) = self.ready.pop_first()
        {
            if let Some(mut entry) = self.unless_behind(id, entry) {
                taken.push(entry.report.clone());
                if is_open_ended(&entry.report) {
                    self.open_ended.insert(entry.report.message, id);
                }
                entry.had_by = Some(port);
                self.out.insert(id, Out { port, entry, is_given_up: false });
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
        self.supersede(earlier);
        self.open_ended.remove(&message);
        Some(entry)
    }

    /// There is something newer to tell.
    pub(super) fn supersede(&mut self, id: ReportId) {
        self.superseded.push(id);
        self.unwritten.add(id);
    }

    pub(crate) fn settle(
        &mut self,
        port: PortNo,
        outcomes: Vec<(ReportId, Delivery)>,
        now: Timestamp,
    ) -> Settled {
        let mut settled = Settled::default();
        for (id, delivery) in outcomes {
            let Some(out) = self.hand_back(port, id, delivery) else { continue };
            let open_ended = is_open_ended(&out.entry.report).then_some(out.entry.report.message);
            match delivery {
                Delivery::Done => settled.taken.push(id),
                Delivery::Refused(status) => settled.refused.push((id, status)),
                Delivery::NotSent | Delivery::Later if out.is_given_up => {}
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
        let refused = settled.refused.iter().map(|(id, _)| *id);
        settled.taken.iter().copied().chain(refused).for_each(|id| self.unwritten.add(id));
        settled.taken.append(&mut self.superseded);
        settled.taken.sort_unstable();
        settled
    }

    /// What became of a report is told by the port that has it, or by the one that had it last and is only now answered.
    fn hand_back(&mut self, port: PortNo, id: ReportId, delivery: Delivery) -> Option<Out> {
        if let Some(out) = self.out.get(&id) {
            if out.port != port {
                return None;
            }
            if let Some(open) = self.ports.iter_mut().find(|open| open.number == port) {
                open.out = open.out.saturating_sub(1);
            }
            return self.out.remove(&id);
        }
        let is_an_end = match delivery {
            Delivery::Done | Delivery::Refused(_) => true,
            Delivery::NotSent | Delivery::Later => false,
        };
        let waiting = self.deferred.get(id).or_else(|| self.ready.get(&id));
        if !is_an_end || waiting?.had_by != Some(port) {
            return None;
        }
        let entry = self.deferred.remove(id).or_else(|| self.ready.remove(&id))?;
        Some(Out { port, entry, is_given_up: false })
    }

    /// It could not be taken. If its message has something newer to say, that is told instead.
    fn defer(&mut self, mut entry: Entry, now: Timestamp) {
        let (id, message) = (entry.report.id, entry.report.message);
        if is_open_ended(&entry.report) && self.behind.values().any(|later| later.report.message == message) {
            self.supersede(id);
            return self.go_on(message);
        }
        entry.failures = entry.failures.saturating_add(1);
        let wait = Schedule::after_untaken_report().wait(entry.failures, 0);
        let due = now.plus(wait.expect("reports are offered again until they are given up"));
        if self.deferred.len() < DEFERRED_IN_MEMORY_MAX {
            return self.deferred.put(due, entry);
        }
        self.put_aside(id, due);
        if is_open_ended(&entry.report) {
            self.go_on(message);
        }
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
        self.release_aside(now);
    }

    pub(crate) fn next_due(&self) -> Option<Timestamp> {
        let aside = self.aside.filter(|_| !self.is_aside_due);
        self.deferred.next_at().into_iter().chain(aside.map(|aside| aside.at)).min()
    }

    /// The bind is gone. What it had taken may have been told; it is told again after a while.
    pub(super) fn close(&mut self, port: PortNo, now: Timestamp) {
        let mut held: Vec<ReportId> =
            self.out.iter().filter(|(_, out)| out.port == port).map(|(id, _)| *id).collect();
        held.sort_unstable();
        for id in held {
            match self.out.remove(&id) {
                Some(out) if out.is_given_up && is_open_ended(&out.entry.report) => {
                    self.go_on(out.entry.report.message);
                }
                Some(out) if out.is_given_up => {}
                Some(out) => self.defer(out.entry, now),
                None => {}
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
            self.unread_aside();
        }
    }

    pub(crate) fn no_longer_waits(&mut self, port: PortNo) {
        if let Some(open) = self.ports.iter_mut().find(|open| open.number == port) {
            open.waits = false;
        }
    }

    /// It has no row any more. Should it be out, its port can still say that it was taken, and nothing else.
    pub(super) fn forget(&mut self, id: ReportId) {
        if self.reading == Reading::Underway {
            // It may have been read before it went.
            self.unwritten.add(id);
            self.unwritten.written(id, self.reading);
        }
        if let Some(out) = self.out.get_mut(&id) {
            out.is_given_up = true;
            return;
        }
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

    /// The tables know how these ended.
    pub(super) fn written(&mut self, ids: impl Iterator<Item = ReportId>) {
        ids.for_each(|id| self.unwritten.written(id, self.reading));
    }

    /// If there is something to do: of those who wait, the one who has the least to do.
    pub(super) fn next_to_wake(&self) -> Option<PortNo> {
        if self.ready.is_empty() && !self.can_read() && !self.can_look_aside() {
            return None;
        }
        let waiting = self.ports.iter().filter(|open| open.waits);
        waiting.min_by_key(|open| open.out).map(|open| open.number)
    }
}

/// Its message may have more to say: it is on its way, or nobody knows how it ended.
pub(super) fn is_open_ended(report: &Report) -> bool {
    match &report.news {
        News::Inbound(_) => false,
        News::Message(MessageNews { told, .. }) => match told {
            Told::Enroute | Told::Accepted | Told::Final(DlrCode::Unknown) => true,
            Told::Final(
                DlrCode::Delivrd | DlrCode::Acceptd | DlrCode::Undeliv | DlrCode::Rejectd | DlrCode::Expired,
            ) => false,
        },
    }
}
