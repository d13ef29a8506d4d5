//! How many submissions the writer gathers before it begins a batch. A commit costs much the same for one message as for ten,
//! so at some thousand messages per second a wait of half a millisecond saves most commits. It must not slow down a customer
//! with a small window, who sends the next message after the answer to the last one: waiting for more than can come would be
//! lost time. So the number is learned: it falls to what came in time, and rises by trying.

use std::time::Duration;

/// How long a submission waits for others at most.
pub(super) const GATHER_TIME: Duration = Duration::from_micros(500);
/// Maximum number of submissions that are waited for.
const TARGET_MAX: usize = 64;
/// After this many batches that reached the target a higher one is tried.
const TRY_AFTER: u32 = 8;
/// Each failed try doubles the number of batches until the next, up to this one. At a constant window the failed tries are
/// then too few to be noticed.
const TRY_AFTER_MAX: u32 = 256;

/// The learned number of submissions per batch.
pub(super) struct Gather {
    target: usize,
    /// The present target was not reached yet.
    trying: bool,
    try_after: u32,
    /// Batches that reached the target since it was changed.
    reached: u32,
}

impl Default for Gather {
    fn default() -> Gather {
        Gather { target: 1, trying: false, try_after: TRY_AFTER, reached: 0 }
    }
}

impl Gather {
    /// Returns whether so many submissions are worth a batch, without waiting for more.
    pub(super) fn is_enough(&self, submissions: usize) -> bool {
        submissions >= self.target
    }

    /// Learns from a batch with this many submissions. `waited` says whether the first of them has waited for
    /// [`GATHER_TIME`]; otherwise something else began the batch.
    pub(super) fn learn(&mut self, submissions: usize, waited: bool) {
        if submissions >= self.target {
            if std::mem::take(&mut self.trying) {
                self.try_after = TRY_AFTER;
            }
            self.reached += 1;
            if self.reached >= self.try_after && self.target < TARGET_MAX {
                *self = Gather { target: self.target + 1, trying: true, reached: 0, ..*self };
            }
        } else if waited {
            if self.trying {
                self.try_after = (self.try_after * 2).min(TRY_AFTER_MAX);
            } else if submissions <= self.target / 2 {
                // The load has changed, and may soon again.
                self.try_after = TRY_AFTER;
            }
            *self = Gather { target: submissions.max(1), trying: false, reached: 0, ..*self };
        }
    }
}

#[cfg(test)]
#[path = "gather_tests.rs"]
mod tests;
