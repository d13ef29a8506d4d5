//! Daily totals of each account.

use super::MemoryTables;
use hermod_domain::ids::AccountId;
use hermod_domain::time::Day;
use hermod_engine::ops::DayTotals;
use hermod_engine::tables::{DayTotalRows, TableError};

impl DayTotalRows for MemoryTables {
    fn day_totals_on(&self, day: Day) -> Result<Vec<(AccountId, DayTotals)>, TableError> {
        let rows = self.read();
        let found = rows.balance.keys().filter_map(|(account,)| rows.daily.get(&(*account, day)));
        Ok(found.map(|row| (row.account, row.totals)).collect())
    }
}
