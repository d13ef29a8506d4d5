//! Daily totals of each account.

use super::MemoryTables;
use hermod_domain::ids::AccountId;
use hermod_domain::time::Day;
use hermod_engine::ops::DayTotals;
use hermod_engine::tables::{DayTotalRows, DayTotalsChange, TableError};

impl DayTotalRows for MemoryTables {
    fn change_day_totals(&self, change: &DayTotalsChange) -> Result<(), TableError> {
        match change {
            DayTotalsChange::Put { account, totals } => {
                self.write().daily.put((account.get(), totals.day.get()), *totals);
            }
        }
        Ok(())
    }

    fn day_totals_on(&self, day: Day) -> Result<Vec<(AccountId, DayTotals)>, TableError> {
        let rows = self.read();
        let found = rows.balance.keys().filter_map(|account| {
            let totals = rows.daily.get(&(*account, day.get()))?;
            Some((AccountId::new(*account), *totals))
        });
        Ok(found.collect())
    }
}
