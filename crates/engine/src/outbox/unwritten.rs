//! Reports that are done with while the tables may still have their rows: what the writer has not written yet. Whoever
//! reads the tables passes over them.

use super::refill::Reading;
use crate::maps::HashSet;
use crate::ops::ReportId;

#[derive(Default)]
pub(super) struct Unwritten {
    done_with: HashSet<ReportId>,
    /// Of those, the ones whose rows went while the tables were being read: the read may have been before that.
    gone: Vec<ReportId>,
}

impl Unwritten {
    pub(super) fn len(&self) -> usize {
        self.done_with.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.done_with.is_empty()
    }

    pub(super) fn has(&self, id: ReportId) -> bool {
        self.done_with.contains(&id)
    }

    pub(super) fn add(&mut self, id: ReportId) {
        self.done_with.insert(id);
    }

    /// Its row is gone.
    pub(super) fn written(&mut self, id: ReportId, reading: Reading) {
        match reading {
            Reading::Underway => self.gone.push(id),
            Reading::Idle | Reading::Paused => {
                self.done_with.remove(&id);
            }
        }
    }

    pub(super) fn read_ended(&mut self) {
        for id in self.gone.drain(..) {
            self.done_with.remove(&id);
        }
    }
}
