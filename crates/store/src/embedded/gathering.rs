//! Whether a batch waits a moment for more operations to share its transaction. That pays when they come by themselves:
//! a batch of fifty costs little more than one of ten. It does not when everyone waits for an answer before the next
//! operation, as a bind with a small window does: then a pause only slows them down. Which of the two it is shows in
//! what comes during a pause, so now and then one is tried.

use std::time::Duration;

const PAUSE: Duration = Duration::from_millis(3);
/// Smaller batches are written at once: there is no load to speak of.
const WORTH_A_PAUSE: usize = 4;
/// This many at once are under load for certain; nobody's window is that small.
const SURELY_LOAD: usize = 64;
/// Batches that are written at once after a pause that did not pay.
const PATIENCE: u32 = 100;

#[derive(Default)]
pub(crate) struct Gathering {
    /// Batches until a pause is tried again.
    not_before: u32,
}

impl Gathering {
    /// How long a batch that has so many operations should wait for more.
    pub(crate) fn pause(&mut self, operations: usize) -> Option<Duration> {
        if operations < WORTH_A_PAUSE {
            return None;
        }
        if operations < SURELY_LOAD && self.not_before > 0 {
            self.not_before -= 1;
            return None;
        }
        Some(PAUSE)
    }

    /// So many came during the pause. It paid if they were at least as many as there were.
    pub(crate) fn came(&mut self, before: usize, during: usize) {
        self.not_before = if during >= before || before >= SURELY_LOAD { 0 } else { PATIENCE };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pauses taken in so many batches of a size, of which `more` come during each pause.
    fn pauses(batches: u32, size: usize, more: usize) -> u32 {
        let mut gathering = Gathering::default();
        let mut taken = 0;
        for _ in 0..batches {
            if gathering.pause(size).is_some() {
                taken += 1;
                gathering.came(size, more);
            }
        }
        taken
    }

    #[test]
    fn a_pause_is_taken_where_it_pays() {
        assert_eq!(pauses(1_000, 1, 0), 0, "a single submission is written at once");
        assert_eq!(
            pauses(1_000, 10, 0),
            10,
            "a bind with a window of ten is tried once in a hundred batches"
        );
        assert_eq!(pauses(1_000, 10, 9), 10);
        assert_eq!(pauses(1_000, 10, 30), 1_000, "arrivals on their own account share their commits");
        assert_eq!(pauses(1_000, 200, 50), 1_000, "so does everything under load");
    }
}
