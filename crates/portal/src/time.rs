//! Points in time: written as `<time>` in UTC, which the script turns into the reader's time zone.

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

const MS_PER_DAY: i64 = 86_400_000;

/// A time as fields of the Gregorian calendar, in UTC.
struct Calendar {
    year: i64,
    /// 1 to 12.
    month: usize,
    day: i64,
    hour: i64,
    minute: i64,
    second: i64,
    milli: i64,
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
        let Calendar { hour, minute, .. } = self.calendar();
        format!("{hour:02}:{minute:02}")
    }

    /// Returns the time in ISO 8601, in UTC with milliseconds.
    pub fn iso(self) -> String {
        let Calendar { year, month, day, hour, minute, second, milli } = self.calendar();
        format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{milli:03}Z")
    }

    /// Splits the time by the algorithm `civil_from_days` of Howard Hinnant, which counts years from March.
    fn calendar(self) -> Calendar {
        let days = self.0.div_euclid(MS_PER_DAY) + 719_468;
        let ms = self.0.rem_euclid(MS_PER_DAY);
        let era = days.div_euclid(146_097);
        let day_of_era = days.rem_euclid(146_097);
        let year_of_era =
            (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
        let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let month_from_march = (5 * day_of_year + 2) / 153;
        let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
        Calendar {
            year: year_of_era + era * 400 + i64::from(month <= 2),
            month: usize::try_from(month).unwrap_or(1),
            day: day_of_year - (153 * month_from_march + 2) / 5 + 1,
            hour: ms / 3_600_000,
            minute: ms / 60_000 % 60,
            second: ms / 1_000 % 60,
            milli: ms % 1_000,
        }
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
        let Calendar { year, month, day, hour, minute, second, milli } = self.time.calendar();
        let month = MONTHS.get(month - 1).copied().unwrap_or_default();
        let (name, text) = match self.precision {
            Precision::Minute => ("minute", format!("{day} {month} {year}, {hour:02}:{minute:02}")),
            Precision::Second => ("second", format!("{day} {month}, {hour:02}:{minute:02}:{second:02}")),
            Precision::Day => ("day", format!("{day} {month} {year}")),
            Precision::Clock => ("clock", format!("{hour:02}:{minute:02}:{second:02}")),
            Precision::Millisecond => {
                ("millisecond", format!("{hour:02}:{minute:02}:{second:02}.{milli:03}"))
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
