//! Delivers reports: which port sends which report next, and what follows from the customer's response.
//!
//! Reports are sent in the order of their ids. A message has at most one report in flight. A report that the customer
//! did not accept is deferred; if a later report of its message exists when its time comes, it is dropped in favour of
//! that.

use super::entry::{Entry, InFlight, Port, PortNo, is_open_ended};
use super::read_state::Reading;
use super::{DEFERRED_IN_MEMORY_MAX, FinishedIds, NextReports, Outbox};
use crate::ops::{AnsweredReport, REPORTS_IN_MEMORY_MAX, Report, ReportId, ReportOutcome};
use hermod_domain::ids::MessageId;
use hermod_domain::retry::Schedule;
use hermod_domain::time::Timestamp;

impl Outbox {
    /// Adds a port: a bind that receives reports.
    pub fn open(&mut self, number: PortNo) {
        self.ports.push(Port { number, in_flight: 0, waits: false });
    }

    /// Gives a port the reports that its bind took from an earlier engine and has not answered: they are in flight, and not
    /// sent again unless the port says so.
    pub fn adopt(&mut self, port: PortNo, reports: Vec<Report>) {
        for report in reports {
            let id = report.id;
            if self.in_flight.contains_key(&id) || self.unwritten.has(id) {
                continue;
            }
            let waiting = self.ready.remove(&id).or_else(|| self.held_back.remove(&id));
            let waiting = waiting.or_else(|| self.deferred.remove(id));
            let mut entry = waiting.unwrap_or_else(|| Entry::new(report));
            if is_open_ended(&entry.report) {
                self.open_ended.insert(entry.report.message, id);
            }
            entry.had_by = Some(port);
            self.in_flight.insert(id, InFlight { port, entry, is_given_up: false });
            if let Some(open) = self.ports.iter_mut().find(|open| open.number == port) {
                open.in_flight += 1;
            }
        }
    }

    /// Adds a report that was just committed. If earlier reports are only in the tables, it is read after them.
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

    /// Returns the next reports for a port, at most `most`, or a read of the tables that must come first.
    /// `room_in_all`: how many more reports all outboxes together may hold.
    pub fn take(&mut self, port: PortNo, most: usize, room_in_all: usize, now: Timestamp) -> NextReports {
        self.release_due(now);
        let taken = self.take_ready(port, most);
        let Some(index) = self.ports.iter().position(|open| open.number == port) else {
            return NextReports::Nothing;
        };
        self.ports[index].waits = taken.is_empty();
        self.ports[index].in_flight += taken.len();
        if !taken.is_empty() {
            return NextReports::Reports(taken);
        }
        self.begin_reading(room_in_all).map_or(NextReports::Nothing, NextReports::Read)
    }

    /// Takes ready reports for a port.
    fn take_ready(&mut self, port: PortNo, most: usize) -> Vec<Report> {
        // Other waiting ports get their share.
        let others = self.ports.iter().filter(|open| open.waits && open.number != port).count();
        let most = most.min(self.ready.len().div_ceil(others + 1));
        let mut taken = Vec::with_capacity(most);
        while taken.len() < most
            && let Some((id, entry)) = self.ready.pop_first()
        {
            if let Some(mut entry) = self.hold_back(id, entry) {
                taken.push(entry.report.clone());
                if is_open_ended(&entry.report) {
                    self.open_ended.insert(entry.report.message, id);
                }
                entry.had_by = Some(port);
                self.in_flight.insert(id, InFlight { port, entry, is_given_up: false });
            }
        }
        taken
    }

    /// Returns a report, unless an earlier one of its message is in flight; then holds it back. Drops an earlier report
    /// of its message that is deferred.
    fn hold_back(&mut self, id: ReportId, entry: Entry) -> Option<Entry> {
        if self.open_ended.is_empty() {
            return Some(entry);
        }
        let message = entry.report.message;
        let Some(earlier) = self.open_ended.get(&message).copied() else { return Some(entry) };
        if self.in_flight.contains_key(&earlier) {
            self.held_back.insert(id, entry);
            return None;
        }
        self.deferred.remove(earlier);
        self.supersede(earlier);
        self.open_ended.remove(&message);
        Some(entry)
    }

    /// Notes that a report was dropped in favour of a later one.
    pub(super) fn supersede(&mut self, id: ReportId) {
        self.superseded.push(id);
        self.unwritten.add(id);
    }

    /// Records the outcomes of reports that a port sent. Returns the reports whose end the writer must write, including
    /// those that were dropped in favour of later ones.
    pub fn settle(
        &mut self,
        port: PortNo,
        outcomes: Vec<(ReportId, ReportOutcome)>,
        now: Timestamp,
    ) -> FinishedIds {
        let mut settled = FinishedIds::default();
        for (id, delivery) in outcomes {
            let Some(out) = self.take_back(port, id, delivery) else { continue };
            let open_ended = is_open_ended(&out.entry.report).then_some(out.entry.report.message);
            let answer = |status| {
                let Report { message, .. } = out.entry.report;
                out.entry.report.dlr().map(|_| AnsweredReport { report: id, message, status })
            };
            match delivery {
                ReportOutcome::Accepted => {
                    settled.answered.extend(answer(0));
                    settled.accepted.push(id);
                }
                ReportOutcome::Refused(status) => {
                    settled.answered.extend(answer(status));
                    settled.refused.push((id, status));
                }
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
                self.release_held_back(message);
            }
        }
        let refused = settled.refused.iter().map(|(id, _)| *id);
        settled.accepted.iter().copied().chain(refused).for_each(|id| self.unwritten.add(id));
        settled.accepted.append(&mut self.superseded);
        settled.accepted.sort_unstable();
        settled
    }

    /// Takes a report from the port that has it. A final outcome is accepted also from the port that sent it last, if
    /// its response arrived late. Returns none if the port has no say about the report.
    fn take_back(&mut self, port: PortNo, id: ReportId, delivery: ReportOutcome) -> Option<InFlight> {
        if let Some(out) = self.in_flight.get(&id) {
            if out.port != port {
                return None;
            }
            if let Some(open) = self.ports.iter_mut().find(|open| open.number == port) {
                open.in_flight = open.in_flight.saturating_sub(1);
            }
            return self.in_flight.remove(&id);
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
        Some(InFlight { port, entry, is_given_up: false })
    }

    /// Defers a report that the customer did not accept, or drops it if a later one of its message is held back.
    fn defer(&mut self, mut entry: Entry, now: Timestamp) {
        let (id, message) = (entry.report.id, entry.report.message);
        if is_open_ended(&entry.report)
            && self.held_back.values().any(|later| later.report.message == message)
        {
            self.supersede(id);
            return self.release_held_back(message);
        }
        entry.failures = entry.failures.saturating_add(1);
        let wait = Schedule::after_failed_report().wait(entry.failures, 0);
        let due = now.plus(wait.expect("reports are offered again until they are given up"));
        if self.deferred.len() < DEFERRED_IN_MEMORY_MAX {
            return self.deferred.put(due, entry);
        }
        self.put_overflow(id, due);
        if is_open_ended(&entry.report) {
            self.release_held_back(message);
        }
    }

    /// Makes the held-back reports of a message ready, because none of it is in flight or deferred any more.
    fn release_held_back(&mut self, message: MessageId) {
        self.open_ended.remove(&message);
        let later: Vec<ReportId> = self
            .held_back
            .iter()
            .filter(|(_, entry)| entry.report.message == message)
            .map(|(id, _)| *id)
            .collect();
        for id in later {
            if let Some(entry) = self.held_back.remove(&id) {
                self.ready.insert(id, entry);
            }
        }
    }

    /// Makes deferred reports ready whose time has come.
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

    /// Returns when the next deferred report is due.
    pub fn next_due(&self) -> Option<Timestamp> {
        let overflow = self.overflow.filter(|_| !self.is_overflow_due);
        self.deferred.next_at().into_iter().chain(overflow.map(|overflow| overflow.at)).min()
    }

    /// Removes a port whose bind has ended. Its reports in flight may have reached the customer; they are deferred and
    /// sent again.
    pub fn close(&mut self, port: PortNo, now: Timestamp) {
        let mut held: Vec<ReportId> =
            self.in_flight.iter().filter(|(_, out)| out.port == port).map(|(id, _)| *id).collect();
        held.sort_unstable();
        for id in held {
            match self.in_flight.remove(&id) {
                Some(out) if out.is_given_up && is_open_ended(&out.entry.report) => {
                    self.release_held_back(out.entry.report.message);
                }
                Some(out) if out.is_given_up => {}
                Some(out) => self.defer(out.entry, now),
                None => {}
            }
        }
        self.ports.retain(|open| open.number != port);
        if self.ports.is_empty() {
            // The next port reads them from the tables.
            let first = [self.ready.first_key_value(), self.held_back.first_key_value()];
            if let Some(first) = first.into_iter().flatten().map(|(id, _)| *id).min() {
                self.unread(first);
            }
            self.ready.clear();
            self.held_back.clear();
            self.unread_overflow();
        }
    }

    /// Notes that a port does not wait for reports any more.
    pub fn stop_waiting(&mut self, port: PortNo) {
        if let Some(open) = self.ports.iter_mut().find(|open| open.number == port) {
            open.waits = false;
        }
    }

    /// Drops a report whose row is deleted. If it is in flight, its port can still report that it was accepted, nothing
    /// else.
    pub fn drop_report(&mut self, id: ReportId) {
        if self.reading == Reading::Underway {
            // The current read may have seen its row.
            self.unwritten.add(id);
            self.unwritten.written(id, self.reading);
        }
        if let Some(out) = self.in_flight.get_mut(&id) {
            out.is_given_up = true;
            return;
        }
        let gone = self.ready.remove(&id).or_else(|| self.held_back.remove(&id));
        let gone = gone.or_else(|| self.deferred.remove(id));
        if let Some(entry) = gone
            && self.open_ended.get(&entry.report.message) == Some(&id)
        {
            self.open_ended.remove(&entry.report.message);
        }
    }

    /// Whether [`Outbox::take_superseded`] would return any report.
    pub fn has_superseded(&self) -> bool {
        !self.superseded.is_empty()
    }

    /// Takes the reports that were dropped in favour of later ones and that the writer does not know of.
    pub fn take_superseded(&mut self) -> Vec<ReportId> {
        std::mem::take(&mut self.superseded)
    }

    /// Notes that the ends of these reports are written, or never will be.
    pub fn written(&mut self, ids: impl Iterator<Item = ReportId>) {
        ids.for_each(|id| self.unwritten.written(id, self.reading));
    }

    /// Returns the port to wake, if there is something to send or read: the waiting one with the fewest reports in
    /// flight.
    pub fn next_to_wake(&self) -> Option<PortNo> {
        if self.ready.is_empty() && !self.can_read() && !self.can_read_overflow() {
            return None;
        }
        let waiting = self.ports.iter().filter(|open| open.waits);
        waiting.min_by_key(|open| open.in_flight).map(|open| open.number)
    }
}
