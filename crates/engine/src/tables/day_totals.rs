//! The table of what each account sent per day.

use crate::ops::DayTotals;
use crate::tables::TableError;
use hermod_domain::ids::AccountId;
use hermod_domain::time::Day;
use serde::{Deserialize, Serialize};

/// A change of the table.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum DayTotalsChange {
    Put { account: AccountId, totals: DayTotals },
}

/// Reads and writes what each account sent per day.
pub trait DayTotalRows {
    /// Applies a change.
    fn change_day_totals(&self, change: &DayTotalsChange) -> Result<(), TableError>;

    /// Returns the totals of every account that has a balance and sent on this day.
    fn day_totals_on(&self, day: Day) -> Result<Vec<(AccountId, DayTotals)>, TableError>;
}
