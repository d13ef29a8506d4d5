//! How many stored parts a batch may claim for each carrier. When a carrier returns, its whole window is free, and claims, responses and
//! receipts of a backlog could fill every batch: customers would wait for batches of many messages. So the writer learns how many
//! claims keep a batch short, and the rest is claimed in the batches that follow at once.

use std::time::Duration;

/// How long a batch may take while customers submit. A submission waits for the rest of one batch, and for its own.
const BATCH_TIME: Duration = Duration::from_millis(5);
/// How long a batch may take while nobody does. A first submission waits for it.
const BATCH_TIME_ALONE: Duration = Duration::from_millis(20);
/// Claims that are always allowed: a commit for fewer costs more than it saves.
const CLAIMS_MIN: u64 = 32;
const CLAIMS_MAX: u64 = 2_000;

/// The learned number of claims per batch and carrier.
pub(super) struct ClaimPace {
    allowed: u64,
}

impl Default for ClaimPace {
    fn default() -> ClaimPace {
        ClaimPace { allowed: 4 * CLAIMS_MIN }
    }
}

impl ClaimPace {
    pub(super) fn allowed(&self) -> u64 {
        self.allowed
    }

    /// Returns how many results a batch may take while a backlog drains: more than its claims lead to.
    pub(super) fn results_max(&self) -> usize {
        usize::try_from(3 * self.allowed).unwrap_or(usize::MAX)
    }

    /// Learns from a batch that claimed stored parts and took so long. `limited`: it would have claimed more. `submitting`:
    /// customers submit at the moment.
    pub(super) fn learn(&mut self, limited: bool, took: Duration, submitting: bool) {
        let time = if submitting { BATCH_TIME } else { BATCH_TIME_ALONE };
        if took > time {
            // As many as fit by this batch, but one that was held up does not tell how much fits.
            let fitting = u128::from(self.allowed) * time.as_micros() / took.as_micros().max(1);
            let fitting = u64::try_from(fitting).unwrap_or(CLAIMS_MAX);
            self.allowed = fitting.max(self.allowed / 4).max(CLAIMS_MIN);
        } else if limited {
            self.allowed = (self.allowed + self.allowed / 8).min(CLAIMS_MAX);
        }
    }
}

#[cfg(test)]
#[path = "pace_tests.rs"]
mod tests;
