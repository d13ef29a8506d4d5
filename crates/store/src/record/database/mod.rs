//! The database of the record: a SQLite file of its own in the data folder, `record.db`.

pub(crate) mod checking;
pub(crate) mod comparing;
pub(crate) mod counting;
pub(crate) mod erasing;
pub(crate) mod figures;
#[cfg(any(test, feature = "fill"))]
#[path = "tests/filling.rs"]
pub(crate) mod filling;
mod intervals;
mod keys;
mod log;
mod matching;
pub(crate) mod purging;
pub(crate) mod reading;
mod request_log;
pub(crate) mod requests;
pub(crate) mod rows;
pub(crate) mod schema;
pub(crate) mod search;
pub(crate) mod source;
pub(crate) mod statistics;
#[cfg(test)]
mod tests;
pub(crate) mod text;
pub(crate) mod timeline;
pub(crate) mod writing;
mod zones;

pub(crate) use crate::sql::read_results::StorePosition;

/// What reading one message costs while messages of all accounts are read in order.
const ROW: u32 = 1;
/// What reading one message costs that is found by its account or key: it is on a page of its own.
const FOUND_ROW: u32 = 4;
/// The most rows of [`ROW`] that one search looks at: about 5 ms with the pages in memory, 20 without.
pub(crate) const SCAN_ROWS_MAX: u32 = 6_000;

/// What is left of a search's budget.
struct Budget {
    left: u32,
}

impl Budget {
    fn new() -> Budget {
        Budget { left: SCAN_ROWS_MAX }
    }

    /// Takes a cost. Returns false if the budget is used up.
    fn take(&mut self, cost: u32) -> bool {
        let is_left = self.left > 0;
        self.left = self.left.saturating_sub(cost);
        is_left
    }
}
