//! What a receiver of webhooks has seen.

use std::collections::VecDeque;

use super::caught::Caught;
use super::delays::Delays;

/// Posts whose contents are kept; of older ones only the count is.
pub const CAUGHT_MAX: usize = 200_000;

/// Everything seen so far.
#[derive(Debug, Default)]
pub struct Record {
    pub caught: VecDeque<Caught>,
    pub count: u64,
    pub connections: u64,
    pub delays: Delays,
}

impl Record {
    pub(super) fn catch(&mut self, caught: Caught) {
        self.count += 1;
        self.delays.note(&caught);
        if self.caught.len() == CAUGHT_MAX {
            self.caught.pop_front();
        }
        self.caught.push_back(caught);
    }
}
