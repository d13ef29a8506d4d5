//! Counts the messages that a filter finds: whole days and hours from the statistics where they count the same, and messages one
//! by one otherwise.

use crate::record::database::Budget;
use crate::record::database::intervals::{DAY, HOUR, Intervals, ceil, floor, minutes};
use crate::record::database::search::{SearchWalk, Walked, ids_of};
use crate::record::database::zones::{count_of, first_id, minute_of};
use crate::record::tally::Collected;
use crate::record::{Count, Dimension, MessageFilter, Resolution, Scope, Value};
use crate::sql::{Connection, params};
use hermod_domain::lifecycle::MessageState;
use hermod_engine::tables::TableError;
use std::ops::Range;

/// Counts the messages that a filter finds.
pub(crate) fn count(
    connection: &Connection,
    collected: &Collected,
    scope: Scope,
    filter: &MessageFilter,
) -> Result<Count, TableError> {
    let ids = ids_of(filter);
    let mut counting = Counting {
        walk: SearchWalk::new(connection, collected, scope, filter)?,
        budget: Budget::new(),
        count: 0,
        is_exact: true,
    };
    match counted_by(scope, filter) {
        None => counting.count_rows(ids)?,
        Some((dimension, value)) => {
            let Some(ids) = existing(connection, scope, ids)? else { return Ok(Count::Exactly(0)) };
            let intervals = Intervals::new(connection, collected, scope)?;
            counting.count_range(&intervals, (dimension, &value), filter.state, ids)?;
        }
    }
    let Counting { count, is_exact, .. } = counting;
    Ok(if is_exact { Count::Exactly(count) } else { Count::AtLeast(count) })
}

/// Returns the dimension and value whose figures count what a filter finds; none if no figures do.
///
/// Not by country and network: the figures also have messages whose number was erased. Not by carrier: the figures have
/// messages at their first carrier.
fn counted_by(scope: Scope, filter: &MessageFilter) -> Option<(Dimension, Value)> {
    let MessageFilter {
        id: None,
        recipient: None,
        sender,
        state,
        country: None,
        network: None,
        carrier: None,
        connection,
        carrier_id: None,
        request: None,
        key: None,
        event: None,
        from: _,
        until: _,
    } = filter
    else {
        return None;
    };
    if state.is_some_and(|state| !state.is_final()) {
        return None;
    }
    match (sender, connection, scope) {
        (None, None, _) => Some((Dimension::All, Value::None)),
        (Some(sender), None, _) => Some((Dimension::Sender, Value::Text(sender.address().into()))),
        (None, Some(connection), Scope::Account(_)) => {
            Some((Dimension::Connection, Value::Id(connection.get())))
        }
        _ => None,
    }
}

/// Fits a range of ids to the messages that exist; none if there are none. It begins with the oldest one, because messages may
/// be purged while the figures of their day are kept, and ends with the day of the newest one.
fn existing(
    connection: &Connection,
    scope: Scope,
    ids: Range<i64>,
) -> Result<Option<Range<i64>>, TableError> {
    let read = |row: &crate::sql::Row<'_>| Ok([row.get::<Option<i64>>(0)?, row.get(1)?, row.get(2)?]);
    let [first, last, newest] = match scope {
        Scope::All => connection
            .prepare_cached(
                "SELECT (SELECT min(id) FROM message WHERE id >= ?1), (SELECT max(id) FROM message WHERE id < ?2),
                     (SELECT max(id) FROM message)",
            )?
            .query_row(params![ids.start, ids.end], read)?,
        Scope::Account(account) => connection
            .prepare_cached(
                "SELECT (SELECT min(id) FROM by_account WHERE account = ?3 AND id >= ?1),
                     (SELECT max(id) FROM by_account WHERE account = ?3 AND id < ?2),
                     (SELECT max(id) FROM by_account WHERE account = ?3)",
            )?
            .query_row(params![ids.start, ids.end, account.get()], read)?,
    };
    Ok(match (first, last) {
        (Some(first), Some(last)) if first <= last => {
            let is_newest = newest.is_some_and(|newest| newest < ids.end);
            let end = if is_newest { first_id(ceil(minute_of(last) + 1, DAY)) } else { ids.end };
            Some(first..end)
        }
        _ => None,
    })
}

struct Counting<'c> {
    walk: SearchWalk<'c>,
    budget: Budget,
    count: u64,
    is_exact: bool,
}

impl Counting<'_> {
    /// Counts messages one by one.
    fn count_rows(&mut self, ids: Range<i64>) -> Result<(), TableError> {
        let count = &mut self.count;
        let walked = self.walk.run(ids, &mut self.budget, &mut |_| {
            *count += 1;
            Ok(true)
        })?;
        self.is_exact &= walked == Walked::End;
        Ok(())
    }

    /// Counts whole days by their figures, the hours at both ends by theirs, and messages one by one within the hours at
    /// both ends.
    fn count_range(
        &mut self,
        intervals: &Intervals<'_>,
        by: (Dimension, &Value),
        state: Option<MessageState>,
        ids: Range<i64>,
    ) -> Result<(), TableError> {
        let (hours, days) = (whole(&ids, HOUR), whole(&ids, DAY));
        let first_hour = intervals.first_hour;
        let (left, right) = if !days.is_empty() {
            let left = if hours.start >= first_hour { hours.start } else { days.start };
            let right = if days.end >= first_hour { hours.end } else { days.end };
            (left..days.start, days.end..right)
        } else if !hours.is_empty() && hours.start >= first_hour {
            (hours.clone(), hours.end..hours.end)
        } else {
            return self.count_rows(ids);
        };
        self.count_figures(intervals, by, state, (Resolution::Hour, left.clone()))?;
        self.count_figures(intervals, by, state, (Resolution::Day, days))?;
        self.count_figures(intervals, by, state, (Resolution::Hour, right.clone()))?;
        self.count_rows(ids.start..first_id(left.start))?;
        self.count_rows(first_id(right.end)..ids.end)
    }

    fn count_figures(
        &mut self,
        intervals: &Intervals<'_>,
        (dimension, value): (Dimension, &Value),
        state: Option<MessageState>,
        (resolution, range): (Resolution, Range<i64>),
    ) -> Result<(), TableError> {
        let mut start = range.start;
        while start < range.end {
            let figures = intervals.figures(dimension, value, resolution, start)?;
            self.count += state.map_or(figures.accepted, |state| count_of(state, &figures));
            start += minutes(resolution);
        }
        Ok(())
    }
}

/// Returns the range of whole intervals of this length that the ids cover.
fn whole(ids: &Range<i64>, length: i64) -> Range<i64> {
    let from = minute_of(ids.start);
    let begins_with_minute = first_id(from) == ids.start;
    let start = ceil(if begins_with_minute { from } else { from + 1 }, length);
    start..floor(minute_of(ids.end), length).max(start)
}
