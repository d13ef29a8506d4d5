//! The totals of every account for the current day, compared with its limits in the transaction that accepts a message.
//! Like balances they are in memory, and each row is written once per batch.
//!
//! A message belongs to the UTC day of its id. Ids only grow, so an account's day never goes back, and only its newest
//! day is kept here; the rows of past days stay for statements.

use crate::ops::{DailyLimit, DailyLimits, DayTotals};
use crate::state::overlay::Overlay;
use crate::tables::{DayTotalsChange, TableError, Tables};
use hermod_domain::ids::AccountId;
use hermod_domain::money::Money;
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
        changed.for_each(|(account, totals)| tables.write(DayTotalsChange::Put { account, totals }));
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

/// Returns the totals with one more message, or the limit that it would exceed.
pub fn count(before: DayTotals, cost: Money, limits: DailyLimits) -> Result<DayTotals, DailyLimit> {
    let messages = before.messages + 1;
    if limits.messages_max.is_some_and(|messages_max| messages > messages_max) {
        return Err(DailyLimit::Messages);
    }
    // A sum that overflows exceeds any limit.
    let spend = before.spend.checked_add(cost).ok_or(DailyLimit::Spend)?;
    if limits.spend_max.is_some_and(|spend_max| spend > spend_max) {
        return Err(DailyLimit::Spend);
    }
    Ok(DayTotals { day: before.day, messages, spend })
}

#[cfg(test)]
mod tests {
    use super::*;

    const MONDAY: Day = Day::new(20_771);

    #[test]
    fn message_is_counted_up_to_each_limit_and_not_beyond() {
        let before = DayTotals { day: MONDAY, messages: 9, spend: Money::from_micros(900) };
        let limits = |messages_max, spend_max: Option<i64>| DailyLimits {
            messages_max,
            spend_max: spend_max.map(Money::from_micros),
        };
        let counted = Ok(DayTotals { day: MONDAY, messages: 10, spend: Money::from_micros(1_000) });
        let cases = [
            (limits(None, None), counted),
            (limits(Some(10), Some(1_000)), counted),
            (limits(Some(9), None), Err(DailyLimit::Messages)),
            (limits(Some(0), Some(0)), Err(DailyLimit::Messages)),
            (limits(None, Some(999)), Err(DailyLimit::Spend)),
            (limits(Some(10), Some(0)), Err(DailyLimit::Spend)),
        ];
        for (limits, expect) in cases {
            assert_eq!(count(before, Money::from_micros(100), limits), expect, "{limits:?}");
        }
        let full = DayTotals { spend: Money::from_micros(i64::MAX), ..before };
        assert_eq!(count(full, Money::from_micros(1), limits(None, None)), Err(DailyLimit::Spend));
    }
}
