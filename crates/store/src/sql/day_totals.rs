//! SQL for the messages and spend of each account per day.

use crate::sql::SqlTables;
use crate::sql::{Connection, Row, params};
use hermod_domain::ids::AccountId;
use hermod_domain::money::Money;
use hermod_domain::time::Day;
use hermod_engine::ops::DayTotals;
use hermod_engine::state::day_totals::DAYS_PER_READ_MAX;
use hermod_engine::tables::{DayTotalRows, TableError};

impl DayTotalRows for SqlTables<'_> {
    fn day_totals_on(&self, day: Day) -> Result<Vec<(AccountId, DayTotals)>, TableError> {
        // One seek per account that has a balance, which all accounts that ever sent have, instead of a scan of all days.
        let mut statement = self.connection.prepare(
            "SELECT d.day, d.messages, d.spend, d.account FROM balance b
             JOIN daily d ON d.account = b.account AND d.day = ?1",
        )?;
        let rows = statement.query_map([day.get()], |row| Ok((AccountId::new(row.get(3)?), read(row)?)))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }
}

/// Returns an account's totals from one day to another, both included, in order; at most [`DAYS_PER_READ_MAX`].
pub(crate) fn between(
    connection: &Connection,
    account: AccountId,
    (from, to): (Day, Day),
) -> Result<Vec<DayTotals>, TableError> {
    let mut statement = connection.prepare_cached(
        "SELECT day, messages, spend FROM daily WHERE account = ?1 AND day BETWEEN ?2 AND ?3 ORDER BY day LIMIT ?4",
    )?;
    let rows = statement.query_map(params![account.get(), from.get(), to.get(), DAYS_PER_READ_MAX], read)?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Returns the spend of an account since the beginning of a day.
pub(crate) fn spent_since(
    connection: &Connection,
    account: AccountId,
    from: Day,
) -> Result<Money, TableError> {
    let spent = connection
        .prepare_cached("SELECT ifnull(sum(spend), 0) FROM daily WHERE account = ?1 AND day >= ?2")?
        .query_row(params![account.get(), from.get()], |row| row.get(0))?;
    Ok(Money::from_micros(spent))
}

fn read(row: &Row<'_>) -> crate::sql::Result<DayTotals> {
    Ok(DayTotals {
        day: Day::new(row.get(0)?),
        messages: row.get::<i64>(1)?.cast_unsigned(),
        spend: Money::from_micros(row.get(2)?),
    })
}

#[cfg(test)]
#[path = "day_totals_tests.rs"]
mod tests;
