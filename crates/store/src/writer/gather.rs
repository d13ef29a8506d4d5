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
mod tests {
    use super::*;

    /// Runs batches for which `came` submissions come in time, and returns how many of them waited in vain.
    fn run(gather: &mut Gather, batches: u32, came: usize) -> u32 {
        let mut in_vain = 0;
        for _ in 0..batches {
            let enough = gather.is_enough(came);
            in_vain += u32::from(!enough);
            gather.learn(if enough { gather.target } else { came }, !enough);
        }
        in_vain
    }

    #[test]
    fn target_rises_to_what_comes_and_failed_tries_become_rare() {
        let mut gather = Gather::default();
        run(&mut gather, 10 * TRY_AFTER, 5);
        assert_eq!(gather.target, 5);
        run(&mut gather, 4 * TRY_AFTER_MAX, 5);
        let in_vain = run(&mut gather, 10 * TRY_AFTER_MAX, 5);
        assert!((5..=10).contains(&in_vain), "{in_vain} of {} batches waited in vain", 10 * TRY_AFTER_MAX);
    }

    #[test]
    fn target_falls_at_once_and_rises_again_soon() {
        let mut gather = Gather::default();
        run(&mut gather, 20 * TRY_AFTER, 10);
        assert_eq!(run(&mut gather, 1, 1), 1);
        assert_eq!(run(&mut gather, 1, 1), 0, "a lone customer waits once only");
        run(&mut gather, 10 * TRY_AFTER, 10);
        assert!(gather.target >= 10, "{}", gather.target);
    }

    #[test]
    fn batch_that_something_else_began_teaches_nothing() {
        let mut gather = Gather::default();
        run(&mut gather, 20 * TRY_AFTER, 10);
        gather.learn(2, false);
        assert!(!gather.is_enough(9) && gather.is_enough(11));
    }

    #[test]
    fn target_is_bounded() {
        let mut gather = Gather::default();
        run(&mut gather, 100 * TRY_AFTER, usize::MAX);
        assert_eq!(gather.target, TARGET_MAX);
    }
}
