//! SMPP times (§7.1.1): sixteen characters, absolute with an offset from UTC, or relative.

use thiserror::Error;

/// Characters of a time, without the null.
pub const TIME_CHARS: usize = 16;

/// The value of a time field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SmppTime {
    /// A point in time.
    Absolute(Absolute),
    /// A period from now; years and months are calendar ones.
    Relative(Relative),
}

/// A local time and its offset from UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Absolute {
    /// 1938 to 2037: two digits, where 00 to 37 mean 20xx (Appendix C).
    pub year: u16,
    /// 1 to 12.
    pub month: u8,
    /// 1 to the month's last.
    pub day: u8,
    /// 0 to 23.
    pub hour: u8,
    /// 0 to 59.
    pub minute: u8,
    /// 0 to 59.
    pub second: u8,
    /// 0 to 9.
    pub tenths: u8,
    /// Quarter hours ahead of UTC, -48 to 48.
    pub utc_quarters: i8,
}

/// A period, not zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Relative {
    /// 0 to 99.
    pub years: u8,
    /// 0 to 99 calendar months.
    pub months: u8,
    /// 0 to 99.
    pub days: u8,
    /// 0 to 99.
    pub hours: u8,
    /// 0 to 99.
    pub minutes: u8,
    /// 0 to 99.
    pub seconds: u8,
}

/// Why a time cannot be parsed or written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum TimeError {
    /// Not empty and not sixteen characters.
    #[error("a time has 16 characters, not {0}")]
    Length(usize),
    /// A character is no digit, or the last one is unknown.
    #[error("a time is digits and one of + - R")]
    Characters,
    /// The date or time does not exist.
    #[error("there is no such date")]
    NoSuchDate,
    /// More than twelve hours from UTC.
    #[error("the offset is more than 48 quarter hours")]
    Offset,
    /// A relative time of zero.
    #[error("a relative time of zero")]
    Zero,
}

/// Parses a time field; `None` for an empty one, which means the default.
pub fn parse(field: &[u8]) -> Result<Option<SmppTime>, TimeError> {
    if field.is_empty() {
        return Ok(None);
    }
    let chars: &[u8; TIME_CHARS] = field.try_into().map_err(|_| TimeError::Length(field.len()))?;
    let [y1, y2, mo1, mo2, d1, d2, h1, h2, mi1, mi2, s1, s2, t, n1, n2, sign] = *chars;
    let pair = |tens, ones| two_digits(tens, ones).ok_or(TimeError::Characters);
    let (year, month, day) = (pair(y1, y2)?, pair(mo1, mo2)?, pair(d1, d2)?);
    let (hour, minute, second) = (pair(h1, h2)?, pair(mi1, mi2)?, pair(s1, s2)?);
    if sign == b'R' {
        let relative =
            Relative { years: year, months: month, days: day, hours: hour, minutes: minute, seconds: second };
        // The tenths and the offset are ignored here, so they may hold anything.
        return if relative == Relative::default() {
            Err(TimeError::Zero)
        } else {
            Ok(Some(SmppTime::Relative(relative)))
        };
    }
    let tenths = digit(t).ok_or(TimeError::Characters)?;
    let quarters = i8::try_from(pair(n1, n2)?).map_err(|_| TimeError::Offset)?;
    let utc_quarters = match sign {
        b'+' => quarters,
        b'-' => quarters.saturating_neg(),
        _ => return Err(TimeError::Characters),
    };
    let absolute = Absolute { year: full_year(year), month, day, hour, minute, second, tenths, utc_quarters };
    absolute.check()?;
    Ok(Some(SmppTime::Absolute(absolute)))
}

impl SmppTime {
    /// Returns the sixteen characters, without a null. Fails for values that `parse` refuses.
    pub fn to_chars(self) -> Result<[u8; TIME_CHARS], TimeError> {
        match self {
            SmppTime::Absolute(absolute) => absolute.to_chars(),
            SmppTime::Relative(relative) => relative.to_chars(),
        }
    }
}

/// Writes a relative time, as for `validity_period`: `000003000000000R` is three days. At least one second; see
/// [`Relative::from_seconds`] for the maximum.
pub fn relative(seconds: u64) -> Result<[u8; TIME_CHARS], TimeError> {
    Relative::from_seconds(seconds).to_chars()
}

/// Writes an absolute time in UTC: `261115093000000+`.
pub fn utc(unix_seconds: i64) -> Result<[u8; TIME_CHARS], TimeError> {
    Absolute::from_unix_seconds(unix_seconds)?.to_chars()
}

const DAY_SECONDS: i64 = 86_400;

impl Absolute {
    /// Converts a Unix time to UTC. Fails outside 1938 to 2037, the years of two digits.
    pub fn from_unix_seconds(seconds: i64) -> Result<Absolute, TimeError> {
        let (year, month, day) = date_of(seconds.div_euclid(DAY_SECONDS)).ok_or(TimeError::NoSuchDate)?;
        let of_day = seconds.rem_euclid(DAY_SECONDS);
        let unit = |value: i64| u8::try_from(value).map_err(|_| TimeError::NoSuchDate);
        Ok(Absolute {
            year,
            month,
            day,
            hour: unit(of_day / 3_600)?,
            minute: unit((of_day / 60).rem_euclid(60))?,
            second: unit(of_day.rem_euclid(60))?,
            tenths: 0,
            utc_quarters: 0,
        })
    }

    fn check(self) -> Result<(), TimeError> {
        let Absolute { year, month, day, hour, minute, second, tenths, utc_quarters } = self;
        let date = is_date(year, month, day) && hour <= 23 && minute <= 59 && second <= 59 && tenths <= 9;
        if !date || !(1938..=2037).contains(&year) {
            return Err(TimeError::NoSuchDate);
        }
        if !(-48..=48).contains(&utc_quarters) {
            return Err(TimeError::Offset);
        }
        Ok(())
    }

    fn to_chars(self) -> Result<[u8; TIME_CHARS], TimeError> {
        self.check()?;
        let year = u8::try_from(self.year.rem_euclid(100)).map_err(|_| TimeError::NoSuchDate)?;
        let [y1, y2] = two_chars(year);
        let [mo1, mo2] = two_chars(self.month);
        let [d1, d2] = two_chars(self.day);
        let [h1, h2] = two_chars(self.hour);
        let [mi1, mi2] = two_chars(self.minute);
        let [s1, s2] = two_chars(self.second);
        let [_, t] = two_chars(self.tenths);
        let [n1, n2] = two_chars(self.utc_quarters.unsigned_abs());
        let sign = if self.utc_quarters < 0 { b'-' } else { b'+' };
        Ok([y1, y2, mo1, mo2, d1, d2, h1, h2, mi1, mi2, s1, s2, t, n1, n2, sign])
    }
}

impl Relative {
    /// Converts seconds to days, hours, minutes and seconds. Days are limited to 99.
    pub fn from_seconds(seconds: u64) -> Relative {
        let unit = |count: u64| u8::try_from(count.min(99)).unwrap_or(99);
        let (minutes, hours, days) = (seconds / 60, seconds / 3_600, seconds / 86_400);
        Relative {
            years: 0,
            months: 0,
            days: unit(days),
            hours: unit(hours.rem_euclid(24)),
            minutes: unit(minutes.rem_euclid(60)),
            seconds: unit(seconds.rem_euclid(60)),
        }
    }

    fn to_chars(self) -> Result<[u8; TIME_CHARS], TimeError> {
        let Relative { years, months, days, hours, minutes, seconds } = self;
        if self == Relative::default() {
            return Err(TimeError::Zero);
        }
        if [years, months, days, hours, minutes, seconds].iter().any(|unit| *unit > 99) {
            return Err(TimeError::NoSuchDate);
        }
        let [y1, y2] = two_chars(years);
        let [mo1, mo2] = two_chars(months);
        let [d1, d2] = two_chars(days);
        let [h1, h2] = two_chars(hours);
        let [mi1, mi2] = two_chars(minutes);
        let [s1, s2] = two_chars(seconds);
        Ok([y1, y2, mo1, mo2, d1, d2, h1, h2, mi1, mi2, s1, s2, b'0', b'0', b'0', b'R'])
    }
}

pub(crate) fn digit(char: u8) -> Option<u8> {
    char.is_ascii_digit().then(|| char.wrapping_sub(b'0'))
}

pub(crate) fn two_digits(tens: u8, ones: u8) -> Option<u8> {
    digit(tens)?.checked_mul(10)?.checked_add(digit(ones)?)
}

/// Writes a value below 100 as two digits.
pub(crate) fn two_chars(value: u8) -> [u8; 2] {
    let char = |digit: u8| b'0'.wrapping_add(digit);
    [char(value / 10), char(value % 10)]
}

/// Expands a year: 00 to 37 are 20xx, others 19xx (Appendix C).
pub(crate) fn full_year(two_digits: u8) -> u16 {
    let century: u16 = if two_digits <= 37 { 2000 } else { 1900 };
    century.saturating_add(u16::from(two_digits))
}

pub(crate) fn is_date(year: u16, month: u8, day: u8) -> bool {
    (1..=month_days(year, month)).contains(&day)
}

fn month_days(year: u16, month: u8) -> u8 {
    let leap = (year.is_multiple_of(4) && !year.is_multiple_of(100)) || year.is_multiple_of(400);
    match month {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        4 | 6 | 9 | 11 => 30,
        2 if leap => 29,
        2 => 28,
        _ => 0,
    }
}

/// Converts days since 1970 to a date; `None` outside the years that an SMPP time can hold.
fn date_of(days: i64) -> Option<(u16, u8, u8)> {
    let mut rest = days.checked_sub(FIRST_DAY)?;
    if rest < 0 {
        return None;
    }
    for year in 1938..=2037u16 {
        let year_days = if month_days(year, 2) == 29 { 366 } else { 365 };
        if rest >= year_days {
            rest = rest.saturating_sub(year_days);
            continue;
        }
        for month in 1..=12 {
            let days = i64::from(month_days(year, month));
            if rest < days {
                return Some((year, month, u8::try_from(rest.saturating_add(1)).ok()?));
            }
            rest = rest.saturating_sub(days);
        }
    }
    None
}

/// The first day of 1938, in days since 1970.
const FIRST_DAY: i64 = -11_688;

#[cfg(test)]
#[path = "time_tests.rs"]
mod tests;
