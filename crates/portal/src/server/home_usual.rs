//! What is usual for an account at this time of the week, and how long its balance lasts.

use super::shown::time;
use crate::numbers::grouped;
use crate::time::Time;
use hermod_domain::time::Timestamp;
use hermod_operator::statistics::StatisticView;
use std::collections::HashMap;

pub(super) const HOUR_MS: i64 = 3_600_000;
const DAY_MS: i64 = 24 * HOUR_MS;
const WEEK_MS: i64 = 7 * DAY_MS;
/// Weeks that the usual number is the average of.
const WEEKS: i64 = 4;
/// Statistics from so long ago are needed: the weeks, and the 24 hours of the chart.
pub(super) const SINCE: &str = "29d";
/// Differences up to so many percent are as usual.
const AS_USUAL_PERCENT: u64 = 5;

/// The messages of the last weeks by hour.
pub(super) struct Weeks<'a> {
    rows: HashMap<i64, &'a StatisticView>,
    /// The first hour with messages.
    first: Option<i64>,
}

impl<'a> Weeks<'a> {
    pub(super) fn of(rows: &'a [StatisticView]) -> Weeks<'a> {
        let rows: HashMap<i64, &StatisticView> =
            rows.iter().filter_map(|row| Some((time(row.start.as_deref()?)?.0, row))).collect();
        let first = rows.iter().filter(|(_, row)| row.accepted > 0).map(|(start, _)| *start).min();
        Weeks { rows, first }
    }

    /// Returns the figures of the hour that begins at this time.
    pub(super) fn at(&self, start: Time) -> Option<&'a StatisticView> {
        self.rows.get(&start.0).copied()
    }

    fn accepted(&self, start: i64) -> u64 {
        self.rows.get(&start).map_or(0, |row| row.accepted)
    }

    /// Returns the average of this hour of the week in the weeks before; none if the account is too new.
    pub(super) fn usual(&self, start: Time) -> Option<u64> {
        let first = self.first?;
        let known = (1..=WEEKS).map(|week| start.0 - week * WEEK_MS).filter(|hour| *hour >= first);
        let counts: Vec<u64> = known.map(|hour| self.accepted(hour)).collect();
        let weeks = u64::try_from(counts.len()).ok().filter(|weeks| *weeks > 0)?;
        Some(counts.iter().sum::<u64>() / weeks)
    }

    /// Returns the messages of this UTC day until now.
    pub(super) fn today(&self, now: Timestamp) -> u64 {
        hours_of_day(now).map(|hour| self.accepted(hour)).sum()
    }

    /// Compares the messages of this UTC day with the usual number until this time of day.
    pub(super) fn today_note(&self, now: Timestamp) -> Option<String> {
        let hours: Vec<i64> = hours_of_day(now).collect();
        let (current, past) = hours.split_last()?;
        let mut usual = 0;
        for hour in past {
            usual += self.usual(Time(*hour))?;
        }
        let elapsed = u64::try_from(now.as_millis() - current).unwrap_or(0);
        usual += self.usual(Time(*current))? * elapsed / HOUR_MS.unsigned_abs();
        compared(self.today(now), usual)
    }
}

/// Returns the beginning of each hour of this UTC day until now.
fn hours_of_day(now: Timestamp) -> impl Iterator<Item = i64> {
    let start = now.as_millis().div_euclid(DAY_MS) * DAY_MS;
    let hours = (now.as_millis() - start) / HOUR_MS;
    (0..=hours).map(move |hour| start + hour * HOUR_MS)
}

fn compared(count: u64, usual: u64) -> Option<String> {
    if usual == 0 {
        return (count > 0).then(|| "None usually at this time".to_owned());
    }
    let percent = count.abs_diff(usual) * 100 / usual;
    let way = if count > usual { "above" } else { "below" };
    Some(if percent <= AS_USUAL_PERCENT {
        "As usual at this time".to_owned()
    } else if percent > 300 && count > usual {
        format!("{} × the usual number", grouped(count / usual))
    } else {
        format!("{percent} % {way} usual")
    })
}

#[cfg(test)]
#[path = "home_usual_tests.rs"]
mod tests;
