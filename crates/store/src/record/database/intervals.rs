//! Figures of single intervals and values: those in the tables together with those in memory. Searches use them to skip times in
//! which nothing can match.

use crate::record::database::figures::stored_figures;
use crate::record::database::rows::{
    dimension_to_stored, resolution_to_stored, scope_to_stored, value_to_stored,
};
use crate::record::tally::{Collected, Minute};
use crate::record::{Dimension, Figures, Resolution, Scope, Value};
use crate::sql::{Connection, OptionalExtension, params};
use hermod_engine::tables::TableError;
use std::ops::Range;

/// Minutes of an hour.
pub(super) const HOUR: i64 = 60;
/// Minutes of a day.
pub(super) const DAY: i64 = 24 * HOUR;
/// Days of hours that are complete: a day less than they are kept, because older rows are purged little by little.
const HOURS_COMPLETE: i64 = 89 * DAY;

/// The figures of one scope. Times are minutes since 1970.
pub(super) struct Intervals<'c> {
    connection: &'c Connection,
    collected: &'c Collected,
    pub(super) scope: Scope,
    /// From here on there are figures by hour; before only by day.
    pub(super) first_hour: i64,
}

impl<'c> Intervals<'c> {
    pub(super) fn new(
        connection: &'c Connection,
        collected: &'c Collected,
        scope: Scope,
    ) -> Result<Intervals<'c>, TableError> {
        let all = dimension_to_stored(Dimension::All);
        let hours = "SELECT min(start), max(start) FROM statistic WHERE resolution = 1 AND scope = 0 AND dimension = ?1";
        let read = |row: &crate::sql::Row<'_>| Ok((row.get::<Option<i64>>(0)?, row.get::<Option<i64>>(1)?));
        let first_hour = match connection.prepare_cached(hours)?.query_row([all], read)? {
            (Some(first), Some(last)) => first.max(last - HOURS_COMPLETE),
            _ => i64::MAX,
        };
        Ok(Intervals { connection, collected, scope, first_hour })
    }

    /// Returns the hour that a minute is in, or the part of its day that has no figures by hour.
    pub(super) fn containing(&self, minute: i64) -> Range<i64> {
        if minute >= self.first_hour {
            let hour = floor(minute, HOUR);
            return hour..hour + HOUR;
        }
        let day = floor(minute, DAY);
        day..(day + DAY).min(self.first_hour)
    }

    /// Returns the newest interval that begins at `minute` or earlier and in which the value may occur.
    pub(super) fn newest_with(
        &self,
        dimension: Dimension,
        value: &Value,
        minute: i64,
    ) -> Result<Option<Range<i64>>, TableError> {
        let series = self.collected.of_value(self.scope, dimension, value);
        let after = series.partition_point(|(at, _)| at.0 <= minute);
        let in_memory = after.checked_sub(1).map(|last| series[last].0.0);
        let mut newest = in_memory;
        if minute >= self.first_hour {
            newest = newest.max(self.newest_hour(dimension, value, minute)?);
        }
        if newest.is_none_or(|newest| newest < self.first_hour) {
            newest = newest.max(self.newest_day(
                dimension,
                value,
                minute.min(self.first_hour.saturating_sub(1)),
            )?);
        }
        Ok(newest.map(|newest| self.containing(newest)))
    }

    fn newest_hour(
        &self,
        dimension: Dimension,
        value: &Value,
        minute: i64,
    ) -> Result<Option<i64>, TableError> {
        let newest = "SELECT start FROM statistic INDEXED BY statistic_by_value
             WHERE resolution = 1 AND dimension = ?1 AND value = ?2 AND scope = ?3 AND start BETWEEN ?4 AND ?5
             ORDER BY start DESC LIMIT 1";
        let mut newest = self.connection.prepare_cached(newest)?;
        let (scope, dimension) = (scope_to_stored(self.scope), dimension_to_stored(dimension));
        let key = params![dimension, value_to_stored(value), scope, self.first_hour, minute];
        Ok(newest.query_row(key, |row| row.get(0)).optional()?)
    }

    /// There are a few hundred days, so each is looked up.
    fn newest_day(
        &self,
        dimension: Dimension,
        value: &Value,
        minute: i64,
    ) -> Result<Option<i64>, TableError> {
        let scope = scope_to_stored(self.scope);
        let bounds = "SELECT min(start), max(start) FROM statistic
             WHERE resolution = 2 AND scope = ?1 AND dimension = ?2";
        let mut bounds = self.connection.prepare_cached(bounds)?;
        let read = |row: &crate::sql::Row<'_>| Ok((row.get::<Option<i64>>(0)?, row.get::<Option<i64>>(1)?));
        let (Some(first), Some(last)) =
            bounds.query_row(params![scope, dimension_to_stored(dimension)], read)?
        else {
            return Ok(None);
        };
        let mut has = self.connection.prepare_cached(
            "SELECT 1 FROM statistic
             WHERE resolution = 2 AND scope = ?1 AND dimension = ?2 AND start = ?3 AND value = ?4",
        )?;
        let mut day = floor(minute.min(last), DAY);
        while day >= first {
            if has.exists(params![scope, dimension_to_stored(dimension), day, value_to_stored(value)])? {
                return Ok(Some(minute.min(day + DAY - 1)));
            }
            day -= DAY;
        }
        Ok(None)
    }

    /// Returns the figures of a value in the interval of a resolution that begins at `start`.
    pub(super) fn figures(
        &self,
        dimension: Dimension,
        value: &Value,
        resolution: Resolution,
        start: i64,
    ) -> Result<Figures, TableError> {
        let mut find = self.connection.prepare_cached(
            "SELECT figures FROM statistic
             WHERE resolution = ?1 AND scope = ?2 AND dimension = ?3 AND start = ?4 AND value = ?5",
        )?;
        let key = params![
            resolution_to_stored(resolution),
            scope_to_stored(self.scope),
            dimension_to_stored(dimension),
            start,
            value_to_stored(value)
        ];
        let stored = find.query_row(key, |row| Ok(stored_figures(row.get_ref(0)?.as_blob()?))).optional()?;
        let mut figures = stored.transpose()?.unwrap_or_default();
        let series = self.collected.of_value(self.scope, dimension, value);
        for (_, more) in in_range(series, start..start + minutes(resolution)) {
            figures.add(more);
        }
        Ok(figures)
    }
}

/// Returns the figures of the minutes in a range.
fn in_range(series: &[(Minute, Figures)], range: Range<i64>) -> &[(Minute, Figures)] {
    let from = series.partition_point(|(minute, _)| minute.0 < range.start);
    let until = series.partition_point(|(minute, _)| minute.0 < range.end);
    &series[from..until]
}

/// Returns the length of an interval in minutes.
pub(super) fn minutes(resolution: Resolution) -> i64 {
    match resolution {
        Resolution::Minute => 1,
        Resolution::Hour => HOUR,
        Resolution::Day => DAY,
    }
}

/// Returns the beginning of the interval of this length that a minute is in.
pub(super) fn floor(minute: i64, length: i64) -> i64 {
    minute.div_euclid(length) * length
}

/// Returns the beginning of the first interval of this length that begins at a minute or later.
pub(super) fn ceil(minute: i64, length: i64) -> i64 {
    floor(minute.saturating_add(length - 1), length)
}
