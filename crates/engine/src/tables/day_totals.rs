//! The table of what each account sent per day.

use crate::ops::DayTotals;
use crate::tables::TableError;
use hermod_domain::ids::AccountId;
use hermod_domain::time::Day;

/// Reads and writes what each account sent per day.
pub trait DayTotalRows {
    /// Returns the totals of every account that has a balance and sent on this day.
    fn day_totals_on(&self, day: Day) -> Result<Vec<(AccountId, DayTotals)>, TableError>;

    /// Writes an account's totals of their day, new or not.
    fn put_day_totals(&self, account: AccountId, totals: DayTotals) -> Result<(), TableError>;
}
