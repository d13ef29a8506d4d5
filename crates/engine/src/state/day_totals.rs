//! The totals of every account for the current day, compared with its limits in the transaction that accepts a message.
//! Like balances they are in memory, and each row is written once per batch.
//!
//! A message belongs to the UTC day of its id. Ids only grow, so an account's day never goes back, and only its newest
//! day is kept here; the rows of past days stay for statements.

use crate::ops::DayTotals;
use crate::state::overlay::Overlay;
use crate::tables::{DayTotalsRow, RowChange, TableError, Tables};
use hermod_domain::ids::AccountId;
use hermod_domain::time::Day;

/// Days that one read returns: a year and its leap day.
pub const DAYS_PER_READ_MAX: i64 = 366;

pub struct Today {
    newest: Overlay<DayTotals>,
    /// Totals of days that ended within this batch: a batch around midnight changes two days of an account.
    ended: Vec<(AccountId, DayTotals)>,
}

impl Today {
    /// Loads the totals of a day, which must be that of the newest id: no later message belongs to an earlier day.
    pub fn load(tables: &Tables<'_>, day: Day) -> Result<Today, TableError> {
        let newest = Overlay::over(tables.read()?.day_totals_on(day)?.into_iter().collect());
        Ok(Today { newest, ended: Vec::new() })
    }

    /// Returns the account's totals of a day.
    pub fn of(&self, account: AccountId, day: Day) -> DayTotals {
        self.newest.get(account).filter(|totals| totals.day == day).unwrap_or(DayTotals::none(day))
    }

    pub fn set(&mut self, account: AccountId, totals: DayTotals) {
        self.ended.extend(
            self.newest
                .get(account)
                .filter(|before| before.day != totals.day)
                .map(|before| (account, before)),
        );
        self.newest.set(account, totals);
    }

    /// Writes the changed rows. They become final with [`Today::committed`].
    pub fn write(&self, tables: &Tables<'_>) {
        let changed = self.ended.iter().copied().chain(self.newest.changed());
        changed.for_each(|(account, totals)| tables.write(RowChange::Put(DayTotalsRow { account, totals })));
    }

    /// Returns the newest totals of each account, in order.
    pub fn rows(&self) -> Vec<(AccountId, DayTotals)> {
        self.newest.rows()
    }

    pub fn committed(&mut self) {
        self.ended.clear();
        self.newest.committed();
    }

    pub fn rolled_back(&mut self) {
        self.ended.clear();
        self.newest.rolled_back();
    }
}
