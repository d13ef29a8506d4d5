//! The rules of an outbox: which bind gets what next, and what becomes of it.
//!
//! Reports go out in the order they came to be, and no message's later report while an earlier one is out. One that could
//! not be taken waits for its time, and for nothing else: should its message have something newer to say by then, it is
//! dropped in favour of that.

use super::entry::{Entry, Out, Port, PortNo, is_open_ended};
use super::refill::Reading;
use super::state::{DEFERRED_IN_MEMORY_MAX, FinishedIds, NextReports, Outbox};
use crate::ops::{REPORTS_IN_MEMORY_MAX, Report, ReportId, ReportOutcome};
use hermod_domain::ids::MessageId;
use hermod_domain::retry::Schedule;
use hermod_domain::time::Timestamp;

impl Outbox {
    /// Adds a port: a bind that takes reports.
    pub fn open(&mut self, number: PortNo) {
        self.ports.push(Port { number, out: 0, waits: false });
    }

    /// Puts in a report that was just committed. If earlier ones are in the tables only, it is read after them.
    pub fn put(&mut self, report: Report, room_in_all: usize) {
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

    /// Gives a port the next reports, or says that the tables have to be read first. `room_in_all`: how many more reports
    /// all outboxes together may hold.
    pub fn take(&mut self, port: PortNo, most: usize, room_in_all: usize, now: Timestamp) -> NextReports {
        self.release_due(now);
        let taken = self.take_ready(port, most);
        let Some(place) = self.ports.iter().position(|open| open.number == port) else {
            return NextReports::Nothing;
        };
        self.ports[place].waits = taken.is_empty();
        self.ports[place].out += taken.len();
        if !taken.is_empty() {
            return NextReports::Reports(taken);
        }
        self.begin_reading(room_in_all).map_or(NextReports::Nothing, NextReports::Read)
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

    /// Records what became of reports that a port took. Returns those whose end the writer has to write, with those that
    /// they supersede.
    pub fn settle(
        &mut self,
        port: PortNo,
        outcomes: Vec<(ReportId, ReportOutcome)>,
        now: Timestamp,
    ) -> FinishedIds {
        let mut settled = FinishedIds::default();
        for (id, delivery) in outcomes {
            let Some(out) = self.hand_back(port, id, delivery) else { continue };
            let open_ended = is_open_ended(&out.entry.report).then_some(out.entry.report.message);
            match delivery {
                ReportOutcome::Accepted => settled.accepted.push(id),
                ReportOutcome::Refused(status) => settled.refused.push((id, status)),
                ReportOutcome::NotSent | ReportOutcome::RetryLater if out.is_given_up => {}
                ReportOutcome::NotSent => {
                    self.ready.insert(id, out.entry);
                }
                ReportOutcome::RetryLater => {
                    self.defer(out.entry, now);
                    continue;
                }
            }
            if let Some(message) = open_ended {
                self.go_on(message);
            }
        }
        let refused = settled.refused.iter().map(|(id, _)| *id);
        settled.accepted.iter().copied().chain(refused).for_each(|id| self.unwritten.add(id));
        settled.accepted.append(&mut self.superseded);
        settled.accepted.sort_unstable();
        settled
    }

    /// What became of a report is told by the port that has it, or by the one that had it last and is only now answered.
    fn hand_back(&mut self, port: PortNo, id: ReportId, delivery: ReportOutcome) -> Option<Out> {
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
            ReportOutcome::Accepted | ReportOutcome::Refused(_) => true,
            ReportOutcome::NotSent | ReportOutcome::RetryLater => false,
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
        let wait = Schedule::after_failed_report().wait(entry.failures, 0);
        let due = now.plus(wait.expect("reports are offered again until they are given up"));
        if self.deferred.len() < DEFERRED_IN_MEMORY_MAX {
            return self.deferred.put(due, entry);
        }
        self.put_overflow(id, due);
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

    /// Makes reports ready whose waiting time is over.
    pub fn release_due(&mut self, now: Timestamp) {
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
        self.release_overflow(now);
    }

    /// When the next report has waited long enough.
    pub fn next_due(&self) -> Option<Timestamp> {
        let overflow = self.overflow.filter(|_| !self.is_overflow_due);
        self.deferred.next_at().into_iter().chain(overflow.map(|overflow| overflow.at)).min()
    }

    /// Removes a port whose bind is gone. The reports it had taken may have reached the customer; they are sent again after a
    /// wait.
    pub fn close(&mut self, port: PortNo, now: Timestamp) {
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
            self.unread_overflow();
        }
    }

    /// The port is not to be woken any more.
    pub fn no_longer_waits(&mut self, port: PortNo) {
        if let Some(open) = self.ports.iter_mut().find(|open| open.number == port) {
            open.waits = false;
        }
    }

    /// Drops a report that has no row any more. If it is out, its port can still say that it was taken, and nothing else.
    pub fn forget(&mut self, id: ReportId) {
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

    /// Whether [`Outbox::take_superseded`] would return something.
    pub fn has_superseded(&self) -> bool {
        !self.superseded.is_empty()
    }

    /// Takes the reports that were dropped in favour of newer ones and that the writer does not know of.
    pub fn take_superseded(&mut self) -> Vec<ReportId> {
        std::mem::take(&mut self.superseded)
    }

    /// The ends of these reports are written, or will never be.
    pub fn written(&mut self, ids: impl Iterator<Item = ReportId>) {
        ids.for_each(|id| self.unwritten.written(id, self.reading));
    }

    /// Returns the port to wake if there is something to do: of those that wait, the one with the fewest reports out.
    pub fn next_to_wake(&self) -> Option<PortNo> {
        if self.ready.is_empty() && !self.can_read() && !self.can_read_overflow() {
            return None;
        }
        let waiting = self.ports.iter().filter(|open| open.waits);
        waiting.min_by_key(|open| open.out).map(|open| open.number)
    }
}
