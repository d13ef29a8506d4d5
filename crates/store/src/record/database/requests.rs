//! Reads the request log: pages, newest first, and rejected requests grouped by code.

use crate::record::database::rows::{
    REQUEST_COLUMNS, dimension_to_stored, kind_to_stored, read_request, start_to_stored, stored_start,
};
use crate::record::database::search::PAGE_ROWS_MAX;
use crate::record::database::statistics::statistics;
use crate::record::database::{Budget, FOUND_ROW, ROW};
use crate::record::tally::Collected;
use crate::record::{
    Dimension, RequestEntry, RequestFilter, RequestGroup, Resolution, Scope, StatisticsQuery, Value,
};
use crate::sql::{Connection, OptionalExtension, Row, params};
use hermod_domain::erasure::ShortDigest;
use hermod_domain::time::Timestamp;
use hermod_engine::tables::TableError;
use std::collections::HashMap;
use std::time::Duration;

/// Lines are numbered in the order in which they were written, which differs from that of their times by less than this.
const DISORDER: Duration = Duration::from_secs(60);
/// The most codes that are grouped.
const GROUPS_MAX: usize = 200;

/// A page of the request log.
#[derive(Debug, Default)]
pub(crate) struct FoundRequests {
    /// Newest first.
    pub rows: Vec<(u64, RequestEntry)>,
    /// Where the next page begins.
    pub next: Option<u64>,
}

/// Returns the lines that a filter finds, with numbers below `before`.
pub(crate) fn search(
    connection: &Connection,
    scope: Scope,
    filter: &RequestFilter,
    before: Option<u64>,
    rows: u32,
) -> Result<FoundRequests, TableError> {
    let wanted = rows.clamp(1, PAGE_ROWS_MAX) as usize;
    let (statement, account, cost) = statement_of(scope, filter);
    let first = filter.from.map_or(Ok(0), |from| number_at(connection, from.minus(DISORDER)))?;
    let mut end = before.map_or(i64::MAX, u64::cast_signed);
    if let Some(until) = filter.until {
        end = end.min(number_at(connection, until.plus(DISORDER))?);
    }
    let mut statement = connection.prepare_cached(&statement)?;
    let recipient = filter.recipient.map(ShortDigest::to_stored);
    let mut lines = statement.query(params![first, end, account, filter.code, recipient])?;
    let (mut found, mut budget) = (FoundRequests::default(), Budget::new());
    while let Some(line) = lines.next()? {
        if !budget.take(cost) {
            found.next = Some(end.cast_unsigned());
            break;
        }
        end = line.get(0)?;
        if !matches(&line, filter)? {
            continue;
        }
        if found.rows.len() == wanted {
            found.next = found.rows.last().map(|(number, _)| *number);
            break;
        }
        found.rows.push(read_request(&line)?);
    }
    Ok(found)
}

/// Returns the statement that reads the lines of a scope, newest first, the account, and what a line costs.
fn statement_of(scope: Scope, filter: &RequestFilter) -> (String, Option<u32>, u32) {
    let account = match scope {
        Scope::Account(account) => Some(account.get()),
        Scope::All => None,
    };
    let has_code = filter.code.is_some();
    let index = match (filter.recipient, account) {
        (Some(_), _) => "INDEXED BY request_by_recipient",
        (None, Some(_)) if has_code => "INDEXED BY request_by_account_and_code",
        (None, Some(_)) => "INDEXED BY request_by_account",
        (None, None) if has_code => "INDEXED BY request_by_code",
        (None, None) => "NOT INDEXED",
    };
    let of_account = if account.is_some() { "account = ?3" } else { "?3 IS NULL" };
    let code = if has_code { "code = ?4 AND code IS NOT NULL" } else { "?4 IS NULL" };
    let recipient =
        if filter.recipient.is_some() { "recipient = ?5 AND recipient IS NOT NULL" } else { "?5 IS NULL" };
    let cost = if index == "NOT INDEXED" { ROW } else { FOUND_ROW };
    let statement = format!(
        "SELECT {REQUEST_COLUMNS} FROM request {index}
         WHERE {of_account} AND {code} AND {recipient} AND no >= ?1 AND no < ?2 ORDER BY no DESC"
    );
    (statement, account, cost)
}

fn matches(line: &Row<'_>, filter: &RequestFilter) -> Result<bool, TableError> {
    // The statement has the recipient.
    let RequestFilter { who, code, kind, request, recipient: _, rejected, from, until } = filter;
    let at = Timestamp::from_millis(line.get(1)?);
    if from.is_some_and(|from| at < from) || until.is_some_and(|until| at >= until) {
        return Ok(false);
    }
    if kind.is_some_and(|kind| line.get::<u8>(4).ok() != Some(kind_to_stored(kind))) {
        return Ok(false);
    }
    if who.as_deref().is_some_and(|who| line.get_ref(6).ok().and_then(|own| own.as_str().ok()) != Some(who)) {
        return Ok(false);
    }
    let own_code = line.get_ref(9)?.as_str_or_null()?;
    if code.as_deref().is_some_and(|code| own_code != Some(code)) || (*rejected && own_code.is_none()) {
        return Ok(false);
    }
    let own_request = line.get_ref(12)?.as_str_or_null()?;
    Ok(request.as_deref().is_none_or(|request| own_request == Some(request)))
}

/// Returns the number of the first line at a time or later, about: found by halving, as times rise with the numbers.
fn number_at(connection: &Connection, at: Timestamp) -> Result<i64, TableError> {
    let bounds = "SELECT (SELECT min(no) FROM request), (SELECT max(no) FROM request)";
    let read = |row: &Row<'_>| Ok((row.get::<Option<i64>>(0)?, row.get::<Option<i64>>(1)?));
    let (Some(mut low), Some(high)) = connection.prepare_cached(bounds)?.query_row([], read)? else {
        return Ok(0);
    };
    let mut find = connection.prepare_cached("SELECT at FROM request WHERE no >= ?1 ORDER BY no LIMIT 1")?;
    let mut high = high + 1;
    while low < high {
        let middle = low + (high - low) / 2;
        let line: Option<i64> = find.query_row([middle], |row| row.get(0)).optional()?;
        if line.is_some_and(|line| line < at.as_millis()) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    Ok(low)
}

/// Returns the rejected requests of a time range by code, the most frequent first. The range is extended to whole minutes, or to
/// whole hours where minutes are not kept any more.
pub(crate) fn groups(
    connection: &Connection,
    collected: &Collected,
    scope: Scope,
    from: Timestamp,
    until: Timestamp,
) -> Result<Vec<RequestGroup>, TableError> {
    let mut counts: HashMap<Box<str>, u64> = HashMap::new();
    for (resolution, from, until) in ranges(connection, from, until)? {
        let query = StatisticsQuery { resolution, by: Dimension::Refusal, value: None, from, until };
        for row in statistics(connection, collected, scope, &query)? {
            if let Value::Text(code) = row.value {
                *counts.entry(code).or_default() += row.figures.refused;
            }
        }
    }
    let mut groups = Vec::new();
    for (code, count) in counts {
        let filter =
            RequestFilter { code: Some(code.to_string()), until: Some(until), ..RequestFilter::default() };
        let last = search(connection, scope, &filter, None, 1)?.rows.pop();
        groups.push(RequestGroup { code, count, last: last.map(|(_, entry)| entry) });
    }
    groups.sort_by(|a, b| b.count.cmp(&a.count).then_with(|| a.code.cmp(&b.code)));
    groups.truncate(GROUPS_MAX);
    Ok(groups)
}

/// Divides a time range: whole hours, and minutes before and after them as far as minutes are kept.
fn ranges(
    connection: &Connection,
    from: Timestamp,
    until: Timestamp,
) -> Result<Vec<(Resolution, Timestamp, Timestamp)>, TableError> {
    let first_minute: Option<i64> = connection
        .prepare_cached(
            "SELECT min(start) FROM statistic WHERE resolution = 0 AND scope = 0 AND dimension = ?1",
        )?
        .query_row([dimension_to_stored(Dimension::All)], |row| row.get(0))?;
    let first_hour: Option<i64> = connection
        .prepare_cached(
            "SELECT min(start) FROM statistic WHERE resolution = 1 AND scope = 0 AND dimension = ?1",
        )?
        .query_row([dimension_to_stored(Dimension::All)], |row| row.get(0))?;
    let hour_of = |at| Resolution::Hour.start_of(at);
    let up = |at: Timestamp, resolution: Resolution| {
        resolution.start_of(at.plus(resolution.length()).minus(Duration::from_millis(1)))
    };
    // Where minutes are not kept any more, whole hours are counted.
    let has_minutes = |at: Timestamp| match (first_minute, first_hour) {
        (Some(first), Some(hour)) => {
            start_to_stored(at) >= first || hour_of(stored_start(first)) <= stored_start(hour)
        }
        _ => true,
    };
    let from = if has_minutes(from) { Resolution::Minute.start_of(from) } else { hour_of(from) };
    let until = if has_minutes(until) { up(until, Resolution::Minute) } else { up(until, Resolution::Hour) };
    let (first, last) = (up(from, Resolution::Hour), hour_of(until));
    if first >= last {
        let resolution = if has_minutes(from) { Resolution::Minute } else { Resolution::Hour };
        return Ok(vec![(resolution, from, until)]);
    }
    let mut ranges = vec![(Resolution::Hour, first, last)];
    if from < first {
        ranges.push((Resolution::Minute, from, first));
    }
    if last < until {
        ranges.push((Resolution::Minute, last, until));
    }
    Ok(ranges)
}
