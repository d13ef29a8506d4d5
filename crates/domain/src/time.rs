//! Timestamps and UTC days. Nothing in this crate reads a clock: functions get `now` as a [`Timestamp`], so that tests
//! can choose any time.

use std::fmt;
use std::time::Duration;

use jiff::civil::DateTime;
use jiff::tz::Offset;
use serde::{Deserialize, Serialize};

const DAY_MS: i64 = 24 * 60 * 60 * 1000;
/// 0001-01-01T00:00:00Z to 9998-12-31T23:59:59.999Z, the full years with four digits. Times outside are written as the
/// nearer end.
const CALENDAR_MS_MIN: i64 = -62_135_596_800_000;
const CALENDAR_MS_MAX: i64 = 253_370_764_799_999;

/// Milliseconds since 1970-01-01T00:00:00Z, the resolution of all stored times.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Timestamp(i64);

impl Timestamp {
    pub const EPOCH: Timestamp = Timestamp(0);

    pub const fn from_millis(unix_ms: i64) -> Timestamp {
        Timestamp(unix_ms)
    }

    /// Converts a UTC date and time; `None` if it does not exist.
    pub fn from_utc(date: (i16, i8, i8), time: (i8, i8, i8)) -> Option<Timestamp> {
        let ((year, month, day), (hour, minute, second)) = (date, time);
        let civil = DateTime::new(year, month, day, hour, minute, second, 0).ok()?;
        Some(Timestamp(Offset::UTC.to_timestamp(civil).ok()?.as_millisecond()))
    }

    /// Returns the UTC date and time.
    pub fn to_utc(self) -> ((i16, i8, i8), (i8, i8, i8)) {
        let t = self.civil();
        ((t.year(), t.month(), t.day()), (t.hour(), t.minute(), t.second()))
    }

    pub const fn as_millis(self) -> i64 {
        self.0
    }

    /// Adds a duration; saturates at the end of the range.
    #[must_use]
    pub fn plus(self, wait: Duration) -> Timestamp {
        Timestamp(self.0.saturating_add(whole_millis(wait)))
    }

    /// Adds calendar months; a day that the month lacks becomes its last day. `None` outside the calendar.
    pub fn plus_months(self, months: u32) -> Option<Timestamp> {
        if months == 0 {
            return Some(self);
        }
        let instant = jiff::Timestamp::from_millisecond(self.0).ok()?;
        let span = jiff::Span::new().try_months(i64::from(months)).ok()?;
        let later = Offset::UTC.to_datetime(instant).checked_add(span).ok()?;
        Some(Timestamp(Offset::UTC.to_timestamp(later).ok()?.as_millisecond()))
    }

    #[must_use]
    pub fn minus(self, back: Duration) -> Timestamp {
        Timestamp(self.0.saturating_sub(whole_millis(back)))
    }

    /// Returns the time since `earlier`; zero if it is later, which happens when a clock is set back.
    pub fn since(self, earlier: Timestamp) -> Duration {
        let ms = self.0.saturating_sub(earlier.0);
        Duration::from_millis(u64::try_from(ms).unwrap_or(0))
    }

    pub const fn day(self) -> Day {
        Day(self.0.div_euclid(DAY_MS))
    }

    /// Writes `YYYY-MM-DDThh:mm:ssZ`, the format of all times in JSON bodies. Fractions are cut off, so that a written
    /// time is never in the future.
    pub fn to_iso(self) -> String {
        let t = self.civil();
        format!(
            "{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z",
            t.year(),
            t.month(),
            t.day(),
            t.hour(),
            t.minute(),
            t.second()
        )
    }

    /// Parses a time with offset (RFC 3339), or a day, which means its midnight in UTC.
    pub fn parse(text: &str) -> Option<Timestamp> {
        if let Some(day) = Day::parse(text) {
            return Some(day.start());
        }
        let instant: jiff::Timestamp = text.parse().ok()?;
        Some(Timestamp(instant.as_millisecond()))
            .filter(|at| (CALENDAR_MS_MIN..=CALENDAR_MS_MAX).contains(&at.0))
    }

    /// Writes `YYMMDDhhmm`, the date format of SMPP receipt texts (v3.4 appendix B).
    pub fn to_receipt_minute(self) -> String {
        let t = self.civil();
        format!(
            "{:02}{:02}{:02}{:02}{:02}",
            t.year().rem_euclid(100),
            t.month(),
            t.day(),
            t.hour(),
            t.minute()
        )
    }

    fn civil(self) -> DateTime {
        let ms = self.0.clamp(CALENDAR_MS_MIN, CALENDAR_MS_MAX);
        let instant = jiff::Timestamp::from_millisecond(ms).expect("clamped to years the calendar has");
        Offset::UTC.to_datetime(instant)
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.to_iso())
    }
}

/// A UTC day, as days since 1970-01-01. Daily limits and retention use it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Day(i64);

impl Day {
    pub const fn new(days_since_1970: i64) -> Day {
        Day(days_since_1970)
    }

    pub const fn get(self) -> i64 {
        self.0
    }

    /// Parses `YYYY-MM-DD`.
    pub fn parse(text: &str) -> Option<Day> {
        if text.len() != "YYYY-MM-DD".len() {
            return None;
        }
        let date: jiff::civil::Date = text.parse().ok()?;
        let midnight = Offset::UTC.to_timestamp(date.at(0, 0, 0, 0)).ok()?;
        let day = Timestamp(midnight.as_millisecond()).day();
        // Refuses other formats that the calendar library accepts.
        (day.to_string() == text).then_some(day)
    }

    #[must_use]
    pub const fn next(self) -> Day {
        Day(self.0.saturating_add(1))
    }

    /// Returns the first millisecond of the day.
    pub const fn start(self) -> Timestamp {
        Timestamp(self.0.saturating_mul(DAY_MS))
    }
}

/// Writes `YYYY-MM-DD`.
impl fmt::Display for Day {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let date = self.start().civil();
        write!(f, "{:04}-{:02}-{:02}", date.year(), date.month(), date.day())
    }
}

fn whole_millis(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}

#[cfg(test)]
#[path = "time_tests.rs"]
mod tests;
