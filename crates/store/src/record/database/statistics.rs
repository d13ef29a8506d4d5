//! Reads statistics: the figures in the tables together with those that are still in memory.

use crate::error::StoreError;
use crate::record::database::figures::stored_figures;
use crate::record::database::intervals::{floor, minutes};
use crate::record::database::rows::{
    dimension_to_stored, resolution_to_stored, scope_to_stored, start_to_stored, stored_start, stored_value,
    value_to_stored,
};
use crate::record::tally::{Collected, Minute, SeriesKey};
use crate::record::{
    Dimension, Figures, Resolution, STATISTICS_ROWS_MAX, Scope, StatisticRow, StatisticsQuery, Value,
};
use crate::sql::{Connection, OptionalExtension, params};
use hermod_domain::ids::AccountId;
use hermod_engine::tables::TableError;
use std::collections::BTreeMap;
use std::ops::Range;

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
    let length = minutes(query.resolution);
    let last = start_to_stored(query.until.minus(std::time::Duration::from_millis(1)));
    let starts = floor(start_to_stored(query.from), length)..last.saturating_add(1);
    let mut reading =
        Reading { connection, collected, resolution: query.resolution, starts, rows: BTreeMap::new() };
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

struct Reading<'c> {
    connection: &'c Connection,
    collected: &'c Collected,
    resolution: Resolution,
    /// In minutes since 1970.
    starts: Range<i64>,
    rows: BTreeMap<RowKey, Figures>,
}

impl Reading<'_> {
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

    /// Fails if there are too many rows.
    fn check_rows(&self) -> Result<(), TableError> {
        if self.rows.len() > STATISTICS_ROWS_MAX {
            return Err(StoreError::TooManyRows(STATISTICS_ROWS_MAX).into());
        }
        Ok(())
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
        accounts.extend(self.collected.all().filter_map(|(SeriesKey { scope, .. }, _)| match scope {
            Scope::Account(account) => Some(*account),
            Scope::All => None,
        }));
        accounts.sort_unstable();
        accounts.dedup();
        Ok(accounts)
    }
}
