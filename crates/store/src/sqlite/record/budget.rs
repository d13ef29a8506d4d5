//! The budget of a search: how much it may look at before it returns what it has.

/// What reading one message costs while messages of all accounts are read in order.
pub(super) const ROW: u32 = 1;
/// What reading one message costs that is found by its account or key: it is on a page of its own.
pub(super) const FOUND_ROW: u32 = 4;
/// The most rows of [`ROW`] that one search looks at: about 5 ms with the pages in memory, 20 without.
pub(crate) const SCAN_ROWS_MAX: u32 = 6_000;

/// What is left of a search's budget.
pub(super) struct Budget {
    left: u32,
}

impl Budget {
    pub(super) fn new() -> Budget {
        Budget { left: SCAN_ROWS_MAX }
    }

    /// Takes a cost. Returns false if the budget is used up.
    pub(super) fn take(&mut self, cost: u32) -> bool {
        let is_left = self.left > 0;
        self.left = self.left.saturating_sub(cost);
        is_left
    }
}
