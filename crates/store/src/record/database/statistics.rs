//! Reads statistics: the figures in the tables together with those that are still in memory.

use crate::error::StoreError;
use crate::record::database::figures::stored_figures;
use crate::record::database::intervals::{floor, minutes};
use crate::record::database::rows::{
    dimension_to_stored, resolution_to_stored, scope_to_stored, start_to_stored, stored_start, stored_value,
    value_to_stored,
};
use crate::record::tally::{Collected, Minute};
use crate::record::{
    Dimension, Figures, Resolution, STATISTICS_ROWS_MAX, Scope, StatisticRow, StatisticsQuery, Value,
};
use crate::sql::{Connection, OptionalExtension, params};
use hermod_domain::ids::AccountId;
use hermod_domain::money::Currency;
use hermod_domain::time::Timestamp;
use hermod_engine::tables::TableError;
use std::collections::BTreeMap;
use std::ops::Range;

/// Figures that are read for one query: a few seconds. Only a query over the figures of many accounts comes that far.
const FIGURES_READ_MAX: usize = 2_000_000;

/// The currency of each account.
pub type Currencies = BTreeMap<AccountId, Currency>;

/// The interval, the account (0 for all) and the value of a row.
type RowKey = (i64, u32, Value);

/// Returns the figures of each interval, account and value, oldest first. Fails with [`StoreError::TooManyRows`] if there are
/// more than [`STATISTICS_ROWS_MAX`].
pub(crate) fn statistics(
    connection: &Connection,
    collected: &Collected,
    scope: Scope,
    query: &StatisticsQuery,
) -> Result<Vec<StatisticRow>, TableError> {
    let mut reading = Reading::new(connection, collected, query);
    match (query.by, scope) {
        // Within an account there is only its own value.
        (Dimension::Account, Scope::Account(account)) => {
            let own = Value::Id(account.get());
            if query.value.as_ref().is_none_or(|value| *value == own) {
                reading.read(scope, Dimension::All, Some(&Value::None), |_| own.clone())?;
            }
        }
        // Connections are counted within their accounts.
        (Dimension::Connection, Scope::All) => {
            for account in reading.accounts()? {
                reading.read(Scope::Account(account), query.by, query.value.as_ref(), Value::clone)?;
            }
        }
        (by, scope) => reading.read(scope, by, query.value.as_ref(), Value::clone)?,
    }
    let is_empty = |figures: &Figures| *figures == Figures::default();
    let rows = reading.rows.into_iter().filter(|(_, figures)| !is_empty(figures));
    Ok(rows
        .map(|((start, account, value), figures)| StatisticRow {
            start: stored_start(start),
            account: (account != 0).then(|| AccountId::new(account)),
            value,
            figures,
        })
        .collect())
}

/// Returns the figures of each interval, value and currency over all accounts, oldest first: those of the accounts of one currency
/// together, so that amounts of different currencies are never added. Without a currency are accounts that do not exist any more, and
/// rejected requests that name no account. Fails with [`StoreError::TooManyRows`] if there are more than [`STATISTICS_ROWS_MAX`], or
/// if more than [`FIGURES_READ_MAX`] must be read.
pub(crate) fn statistics_by_currency(
    connection: &Connection,
    collected: &Collected,
    query: &StatisticsQuery,
    currencies: &Currencies,
) -> Result<Vec<(StatisticRow, Option<Currency>)>, TableError> {
    let mut reading = Reading::new(connection, collected, query);
    let mut sums: BTreeMap<(i64, Value, Option<Currency>), Figures> = BTreeMap::new();
    for account in reading.accounts()? {
        reading.read(Scope::Account(account), query.by, query.value.as_ref(), Value::clone)?;
        for ((start, _, value), figures) in std::mem::take(&mut reading.rows) {
            let currency = currencies.get(&account).copied();
            sums.entry((start, value, currency)).or_default().add(&figures);
        }
        check_count(sums.len())?;
    }
    if query.by == Dimension::All {
        reading.read(Scope::All, Dimension::All, None, Value::clone)?;
        for ((start, _, value), all) in std::mem::take(&mut reading.rows) {
            let of_interval = (start, value.clone(), None)..;
            let of_accounts = sums.range(of_interval).take_while(|((other, ..), _)| *other == start);
            let refused = all.refused.saturating_sub(of_accounts.map(|(_, figures)| figures.refused).sum());
            sums.entry((start, value, None)).or_default().refused += refused;
        }
    }
    sums.retain(|_, figures| *figures != Figures::default());
    check_count(sums.len())?;
    let row = |((start, value, currency), figures)| {
        (StatisticRow { start: stored_start(start), account: None, value, figures }, currency)
    };
    Ok(sums.into_iter().map(row).collect())
}

/// Returns the figures of each of these accounts, the intervals of a time range added up.
pub(crate) fn of_accounts(
    connection: &Connection,
    collected: &Collected,
    accounts: &[AccountId],
    (resolution, from, until): (Resolution, Timestamp, Timestamp),
) -> Result<Vec<Figures>, TableError> {
    let query = StatisticsQuery { resolution, by: Dimension::Account, value: None, from, until };
    let mut reading = Reading::new(connection, collected, &query);
    let sum = |account: &AccountId| {
        reading.read(Scope::All, query.by, Some(&Value::Id(account.get())), Value::clone)?;
        let mut sum = Figures::default();
        std::mem::take(&mut reading.rows).values().for_each(|figures| sum.add(figures));
        Ok::<_, TableError>(sum)
    };
    accounts.iter().map(sum).collect()
}

/// Fails if there are too many rows.
fn check_count(rows: usize) -> Result<(), TableError> {
    if rows > STATISTICS_ROWS_MAX {
        return Err(StoreError::TooManyRows(STATISTICS_ROWS_MAX).into());
    }
    Ok(())
}

struct Reading<'c> {
    connection: &'c Connection,
    collected: &'c Collected,
    resolution: Resolution,
    /// In minutes since 1970.
    starts: Range<i64>,
    rows: BTreeMap<RowKey, Figures>,
    /// Figures that were read so far.
    read: usize,
}

impl<'c> Reading<'c> {
    fn new(connection: &'c Connection, collected: &'c Collected, query: &StatisticsQuery) -> Reading<'c> {
        let length = minutes(query.resolution);
        let last = start_to_stored(query.until.minus(std::time::Duration::from_millis(1)));
        let starts = floor(start_to_stored(query.from), length)..last.saturating_add(1);
        Reading {
            connection,
            collected,
            resolution: query.resolution,
            starts,
            rows: BTreeMap::new(),
            read: 0,
        }
    }

    /// Reads the figures of a scope and dimension. `shown` returns the value of the row for a stored value.
    fn read(
        &mut self,
        scope: Scope,
        by: Dimension,
        value: Option<&Value>,
        shown: impl Fn(&Value) -> Value,
    ) -> Result<(), TableError> {
        match value {
            Some(value) => {
                self.read_value(scope, by, value, &shown)?;
                self.add_series(scope, self.collected.of_value(scope, by, value), &shown(value));
            }
            None => {
                self.read_all(scope, by, &shown)?;
                for (value, series) in self.collected.of_dimension(scope, by) {
                    self.add_series(scope, series, &shown(&value));
                }
            }
        }
        self.check_rows()
    }

    /// Fails if there are too many rows, or too many were read for them.
    fn check_rows(&self) -> Result<(), TableError> {
        if self.read > FIGURES_READ_MAX {
            return Err(StoreError::TooManyRows(FIGURES_READ_MAX).into());
        }
        check_count(self.rows.len())
    }

    fn read_all(
        &mut self,
        scope: Scope,
        by: Dimension,
        shown: &impl Fn(&Value) -> Value,
    ) -> Result<(), TableError> {
        let mut statement = self.connection.prepare_cached(
            "SELECT start, value, figures FROM statistic
             WHERE resolution = ?1 AND scope = ?2 AND dimension = ?3 AND start >= ?4 AND start < ?5",
        )?;
        let (resolution, stored_scope) = (resolution_to_stored(self.resolution), scope_to_stored(scope));
        let key =
            params![resolution, stored_scope, dimension_to_stored(by), self.starts.start, self.starts.end];
        let mut rows = statement.query(key)?;
        while let Some(row) = rows.next()? {
            let figures = stored_figures(row.get_ref(2)?.as_blob()?)?;
            self.add((row.get(0)?, stored_scope, shown(&stored_value(&row, 1)?)), &figures);
            self.check_rows()?;
        }
        Ok(())
    }

    /// Reads the figures of one value. Each interval is looked up, because the values of an interval are together.
    fn read_value(
        &mut self,
        scope: Scope,
        by: Dimension,
        value: &Value,
        shown: &impl Fn(&Value) -> Value,
    ) -> Result<(), TableError> {
        let (resolution, stored_scope) = (resolution_to_stored(self.resolution), scope_to_stored(scope));
        let by = dimension_to_stored(by);
        let bounds = "SELECT (SELECT min(start) FROM statistic WHERE resolution = ?1 AND scope = ?2 AND dimension = ?3),
                 (SELECT max(start) FROM statistic WHERE resolution = ?1 AND scope = ?2 AND dimension = ?3)";
        let read = |row: &crate::sql::Row<'_>| Ok((row.get::<Option<i64>>(0)?, row.get::<Option<i64>>(1)?));
        let bounds =
            self.connection.prepare_cached(bounds)?.query_row(params![resolution, stored_scope, by], read)?;
        let (Some(first), Some(last)) = bounds else { return Ok(()) };
        let mut find = self.connection.prepare_cached(
            "SELECT figures FROM statistic
             WHERE resolution = ?1 AND scope = ?2 AND dimension = ?3 AND start = ?4 AND value = ?5",
        )?;
        let mut start = self.starts.start.max(first);
        while start < self.starts.end.min(last.saturating_add(1)) {
            let key = params![resolution, stored_scope, by, start, value_to_stored(value)];
            let figures =
                find.query_row(key, |row| Ok(stored_figures(row.get_ref(0)?.as_blob()?))).optional()?;
            if let Some(figures) = figures.transpose()? {
                self.add((start, stored_scope, shown(value)), &figures);
            }
            start += minutes(self.resolution);
        }
        Ok(())
    }

    fn add_series(&mut self, scope: Scope, series: &[(Minute, Figures)], value: &Value) {
        for (minute, figures) in series {
            let start = floor(minute.0, minutes(self.resolution));
            if self.starts.contains(&start) {
                self.add((start, scope_to_stored(scope), value.clone()), figures);
            }
        }
    }

    fn add(&mut self, key: RowKey, figures: &Figures) {
        self.rows.entry(key).or_default().add(figures);
        self.read += 1;
    }

    /// Returns the accounts that have figures.
    fn accounts(&self) -> Result<Vec<AccountId>, TableError> {
        let mut next = self.connection.prepare_cached(
            "SELECT scope FROM statistic WHERE resolution = ?1 AND scope > ?2 ORDER BY scope LIMIT 1",
        )?;
        let resolution = resolution_to_stored(self.resolution);
        let (mut accounts, mut last) = (Vec::new(), 0);
        while let Some(account) = next.query_row(params![resolution, last], |row| row.get(0)).optional()? {
            accounts.push(AccountId::new(account));
            last = account;
        }
        accounts.extend(self.collected.dimensions().filter_map(|(scope, _)| match scope {
            Scope::Account(account) => Some(account),
            Scope::All => None,
        }));
        accounts.sort_unstable();
        accounts.dedup();
        Ok(accounts)
    }
}
