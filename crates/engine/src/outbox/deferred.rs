//! Reports that wait for a time, found by their id and by their time.

use super::entry::Entry;
use crate::maps::HashMap;
use crate::ops::ReportId;
use hermod_domain::time::Timestamp;
use std::collections::BTreeSet;

#[derive(Default)]
pub(super) struct DeferredReports {
    entries: HashMap<ReportId, (Timestamp, Entry)>,
    due: BTreeSet<(Timestamp, ReportId)>,
}

impl DeferredReports {
    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(super) fn get(&self, id: ReportId) -> Option<&Entry> {
        self.entries.get(&id).map(|(_, entry)| entry)
    }

    pub(super) fn put(&mut self, at: Timestamp, entry: Entry) {
        self.due.insert((at, entry.report.id));
        self.entries.insert(entry.report.id, (at, entry));
    }

    pub(super) fn remove(&mut self, id: ReportId) -> Option<Entry> {
        let (at, entry) = self.entries.remove(&id)?;
        self.due.remove(&(at, id));
        Some(entry)
    }

    pub(super) fn next_at(&self) -> Option<Timestamp> {
        self.due.first().map(|(at, _)| *at)
    }

    pub(super) fn pop_due(&mut self, now: Timestamp) -> Option<Entry> {
        let (_, id) = self.due.first().filter(|(at, _)| *at <= now).copied()?;
        self.remove(id)
    }
}
