//! Points in time: written as `<time>` in UTC, which the script turns into the reader's time zone.

use hermod_domain::time::Timestamp;
use std::fmt;

/// Milliseconds since 1970-01-01T00:00:00Z. Prints as a `<time>` element with day and time of day.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Time(pub i64);

/// How much of a time is shown. The script knows the same names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Precision {
    /// `15 Nov 2026, 09:30`
    Minute,
    /// `15 Nov, 09:30:02`
    Second,
    /// `15 Nov 2026`
    Day,
    /// `09:30:02`
    Clock,
    /// `09:30:02.481`
    Millisecond,
}

/// A time with a choice of what is shown of it. Prints as a `<time>` element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShownTime {
    time: Time,
    precision: Precision,
}

const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

impl From<Timestamp> for Time {
    fn from(at: Timestamp) -> Time {
        Time(at.as_millis())
    }
}

/// For templates, which pass references.
impl From<&Timestamp> for Time {
    fn from(at: &Timestamp) -> Time {
        Time::from(*at)
    }
}

impl Time {
    /// Shows day, month, year, hour and minute.
    pub fn to_minute(self) -> ShownTime {
        ShownTime { time: self, precision: Precision::Minute }
    }

    /// Shows day, month and year.
    pub fn to_day(self) -> ShownTime {
        ShownTime { time: self, precision: Precision::Day }
    }

    /// Shows the time of day with seconds.
    pub fn to_clock(self) -> ShownTime {
        ShownTime { time: self, precision: Precision::Clock }
    }

    /// Shows the time of day with milliseconds.
    pub fn to_millisecond(self) -> ShownTime {
        ShownTime { time: self, precision: Precision::Millisecond }
    }

    /// Returns the hour and minute in UTC, such as `09:30`, as plain text.
    pub fn hour_text(self) -> String {
        let (_, (hour, minute, _)) = self.to_utc();
        format!("{hour:02}:{minute:02}")
    }

    /// Returns the time in ISO 8601, in UTC with milliseconds.
    pub fn iso(self) -> String {
        let ((year, month, day), (hour, minute, second)) = self.to_utc();
        format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{:03}Z", self.milli())
    }

    fn to_utc(self) -> ((i16, i8, i8), (i8, i8, i8)) {
        Timestamp::from_millis(self.0).to_utc()
    }

    fn milli(self) -> i64 {
        self.0.rem_euclid(1_000)
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        ShownTime { time: *self, precision: Precision::Second }.fmt(f)
    }
}

impl fmt::Display for ShownTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let iso = self.time.iso();
        let ((year, month, day), (hour, minute, second)) = self.time.to_utc();
        let month = MONTHS[month as usize - 1];
        let (name, text) = match self.precision {
            Precision::Minute => ("minute", format!("{day} {month} {year}, {hour:02}:{minute:02}")),
            Precision::Second => ("second", format!("{day} {month}, {hour:02}:{minute:02}:{second:02}")),
            Precision::Day => ("day", format!("{day} {month} {year}")),
            Precision::Clock => ("clock", format!("{hour:02}:{minute:02}:{second:02}")),
            Precision::Millisecond => {
                ("millisecond", format!("{hour:02}:{minute:02}:{second:02}.{:03}", self.time.milli()))
            }
        };
        write!(f, r#"<time datetime="{iso}" title="{iso}" data-shows="{name}">{text}</time>"#)
    }
}

// Digits, signs and names of months need no escaping.
impl askama::filters::HtmlSafe for Time {}
impl askama::filters::HtmlSafe for ShownTime {}

#[cfg(test)]
#[path = "time_tests.rs"]
mod tests;
