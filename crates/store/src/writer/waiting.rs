//! A submission on its way to the writer. Whoever sent it may give up for as long as the writer has not begun with it, and
//! exactly one of the two decides: a submission that was given up is never run, one that was begun is waited for.

use hermod_engine::ops::Acceptance;
use std::sync::atomic::{AtomicU8, Ordering};

const WAITING: u8 = 0;
const BEGUN: u8 = 1;
const GIVEN_UP: u8 = 2;

pub(crate) struct Waiting {
    pub acceptance: Acceptance,
    stage: AtomicU8,
}

impl Waiting {
    pub(crate) fn new(acceptance: Acceptance) -> Waiting {
        Waiting { acceptance, stage: AtomicU8::new(WAITING) }
    }

    /// The writer takes it up, perhaps not for the first time. False if it was given up.
    pub(crate) fn begin(&self) -> bool {
        self.move_to(BEGUN) != GIVEN_UP
    }

    /// The sender does not wait any longer. False if it was begun: then it may well succeed.
    pub(crate) fn give_up(&self) -> bool {
        self.move_to(GIVEN_UP) != BEGUN
    }

    /// The stage before, which is also the one after unless it was waiting.
    fn move_to(&self, stage: u8) -> u8 {
        match self.stage.compare_exchange(WAITING, stage, Ordering::AcqRel, Ordering::Acquire) {
            Ok(before) | Err(before) => before,
        }
    }
}
