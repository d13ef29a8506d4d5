//! SMPP times (§7.1.1): sixteen characters, absolute with an offset from UTC or relative to a moment the
//! caller knows. Plain values only; nothing here asks what time it is.

use thiserror::Error;

/// Characters of a time, without its null.
pub const TIME_CHARS: usize = 16;

/// A time field that is not empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SmppTime {
    /// A point in time.
    Absolute(Absolute),
    /// A span from now; years and months count by the calendar.
    Relative(Relative),
}

/// A local time and how far it is from UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Absolute {
    /// 1938 to 2037: two digits, 00 to 37 meaning 20xx (Appendix C).
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

/// A span of time. Not all zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Relative {
    /// 0 to 99.
    pub years: u8,
    /// 0 to 99, counted by the calendar.
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

/// Why a time cannot be read or written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum TimeFault {
    /// Not empty and not sixteen characters.
    #[error("a time has 16 characters, not {0}")]
    Length(usize),
    /// A letter where a digit belongs, or an unknown last character.
    #[error("a time is digits and one of + - R")]
    Characters,
    /// No such day or hour.
    #[error("there is no such date")]
    NoSuchDate,
    /// More than twelve hours from UTC.
    #[error("the offset is more than 48 quarter hours")]
    Offset,
    /// A relative time of nothing.
    #[error("a relative time of zero")]
    Zero,
}

/// Reads a time field; `None` for an empty one, which means the default.
pub fn parse(field: &[u8]) -> Result<Option<SmppTime>, TimeFault> {
    if field.is_empty() {
        return Ok(None);
    }
    let chars: &[u8; TIME_CHARS] = field.try_into().map_err(|_| TimeFault::Length(field.len()))?;
    let [y1, y2, mo1, mo2, d1, d2, h1, h2, mi1, mi2, s1, s2, t, n1, n2, sign] = *chars;
    let pair = |tens, ones| two_digits(tens, ones).ok_or(TimeFault::Characters);
    let (year, month, day) = (pair(y1, y2)?, pair(mo1, mo2)?, pair(d1, d2)?);
    let (hour, minute, second) = (pair(h1, h2)?, pair(mi1, mi2)?, pair(s1, s2)?);
    if sign == b'R' {
        let relative =
            Relative { years: year, months: month, days: day, hours: hour, minutes: minute, seconds: second };
        // The tenths and the offset are ignored here, so they may hold anything.
        return if relative == Relative::default() {
            Err(TimeFault::Zero)
        } else {
            Ok(Some(SmppTime::Relative(relative)))
        };
    }
    let tenths = digit(t).ok_or(TimeFault::Characters)?;
    let quarters = i8::try_from(pair(n1, n2)?).map_err(|_| TimeFault::Offset)?;
    let utc_quarters = match sign {
        b'+' => quarters,
        b'-' => quarters.saturating_neg(),
        _ => return Err(TimeFault::Characters),
    };
    let absolute = Absolute { year: full_year(year), month, day, hour, minute, second, tenths, utc_quarters };
    absolute.check()?;
    Ok(Some(SmppTime::Absolute(absolute)))
}

impl SmppTime {
    /// The sixteen characters, without a null. Refuses what `parse` would.
    pub fn to_chars(self) -> Result<[u8; TIME_CHARS], TimeFault> {
        match self {
            SmppTime::Absolute(absolute) => absolute.to_chars(),
            SmppTime::Relative(relative) => relative.to_chars(),
        }
    }
}

impl Absolute {
    fn check(self) -> Result<(), TimeFault> {
        let Absolute { year, month, day, hour, minute, second, tenths, utc_quarters } = self;
        let date = is_date(year, month, day) && hour <= 23 && minute <= 59 && second <= 59 && tenths <= 9;
        if !date || !(1938..=2037).contains(&year) {
            return Err(TimeFault::NoSuchDate);
        }
        if !(-48..=48).contains(&utc_quarters) {
            return Err(TimeFault::Offset);
        }
        Ok(())
    }

    fn to_chars(self) -> Result<[u8; TIME_CHARS], TimeFault> {
        self.check()?;
        let year = u8::try_from(self.year.rem_euclid(100)).map_err(|_| TimeFault::NoSuchDate)?;
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
    /// A span in seconds as days, hours, minutes and seconds: `validity_period` is mostly made from one.
    /// Longer than 99 days stays at 99 days and the rest.
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

    fn to_chars(self) -> Result<[u8; TIME_CHARS], TimeFault> {
        let Relative { years, months, days, hours, minutes, seconds } = self;
        if self == Relative::default() {
            return Err(TimeFault::Zero);
        }
        if [years, months, days, hours, minutes, seconds].iter().any(|unit| *unit > 99) {
            return Err(TimeFault::NoSuchDate);
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

/// Two decimal characters of a value below 100.
pub(crate) fn two_chars(value: u8) -> [u8; 2] {
    let char = |digit: u8| b'0'.wrapping_add(digit);
    [char(value / 10), char(value % 10)]
}

/// Appendix C: 00 to 37 are 20xx, the rest 19xx.
pub(crate) fn full_year(two_digits: u8) -> u16 {
    let century: u16 = if two_digits <= 37 { 2000 } else { 1900 };
    century.saturating_add(u16::from(two_digits))
}

pub(crate) fn is_date(year: u16, month: u8, day: u8) -> bool {
    let leap = (year.is_multiple_of(4) && !year.is_multiple_of(100)) || year.is_multiple_of(400);
    let days = match month {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        4 | 6 | 9 | 11 => 30,
        2 if leap => 29,
        2 => 28,
        _ => 0,
    };
    (1..=days).contains(&day)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(field: &str) -> String {
        match parse(field.as_bytes()) {
            Ok(None) => "default".into(),
            Ok(Some(SmppTime::Absolute(a))) => format!(
                "{}-{:02}-{:02} {:02}:{:02}:{:02}.{} {:+}",
                a.year, a.month, a.day, a.hour, a.minute, a.second, a.tenths, a.utc_quarters
            ),
            Ok(Some(SmppTime::Relative(r))) => {
                format!("{}y {}m {}d {}h {}m {}s", r.years, r.months, r.days, r.hours, r.minutes, r.seconds)
            }
            Err(fault) => fault.to_string(),
        }
    }

    #[test]
    fn times_read_as_the_specification_says() {
        let cases = [
            ("", "default"),
            ("000001000000000R", "0y 0m 1d 0h 0m 0s"),
            // §7.1.1.2's own example: 2 years, 6 months, 10 days, 23 h 34 min 29 s.
            ("020610233429000R", "2y 6m 10d 23h 34m 29s"),
            ("0000000000010xxR", "0y 0m 0d 0h 0m 1s"),
            ("000000000000000R", "a relative time of zero"),
            ("251231235959948+", "2025-12-31 23:59:59.9 +48"),
            ("380101000000048-", "1938-01-01 00:00:00.0 -48"),
            ("370228000000000+", "2037-02-28 00:00:00.0 +0"),
            ("240229120000004+", "2024-02-29 12:00:00.0 +4"),
            ("230229120000004+", "there is no such date"),
            ("251301000000000+", "there is no such date"),
            ("250001000000000+", "there is no such date"),
            ("250100000000000+", "there is no such date"),
            ("250101240000000+", "there is no such date"),
            ("250101006000000+", "there is no such date"),
            ("250101000060000+", "there is no such date"),
            ("250101000000049+", "the offset is more than 48 quarter hours"),
            ("250101000000000Z", "a time is digits and one of + - R"),
            ("2501010000000x0+", "a time is digits and one of + - R"),
            ("25 101000000000+", "a time is digits and one of + - R"),
            ("250101", "a time has 16 characters, not 6"),
        ];
        for (field, expect) in cases {
            assert_eq!(shown(field), expect, "{field}");
        }
    }

    #[test]
    fn what_is_written_reads_back() {
        for field in ["000001000000000R", "020610233429000R", "251231235959948+", "380101000000048-"] {
            let time = parse(field.as_bytes()).unwrap().unwrap();
            assert_eq!(time.to_chars().unwrap(), *field.as_bytes());
        }
    }

    #[test]
    fn spans_are_spread_over_the_units() {
        let chars = |seconds| {
            let chars = SmppTime::Relative(Relative::from_seconds(seconds)).to_chars();
            chars.map(|chars| String::from_utf8(chars.to_vec()).unwrap())
        };
        assert_eq!(chars(86_400), Ok("000001000000000R".into()));
        assert_eq!(chars(90_061), Ok("000001010101000R".into()));
        assert_eq!(chars(u64::MAX), Ok("000099070015000R".into()));
        assert_eq!(chars(0), Err(TimeFault::Zero));
    }

    #[test]
    fn impossible_values_are_not_written() {
        let new_year = Absolute {
            year: 2025,
            month: 1,
            day: 1,
            hour: 0,
            minute: 0,
            second: 0,
            tenths: 0,
            utc_quarters: 0,
        };
        let fault = |absolute| SmppTime::Absolute(absolute).to_chars().unwrap_err();
        assert_eq!(fault(Absolute { year: 2038, ..new_year }), TimeFault::NoSuchDate);
        assert_eq!(fault(Absolute { tenths: 10, ..new_year }), TimeFault::NoSuchDate);
        assert_eq!(fault(Absolute { utc_quarters: -49, ..new_year }), TimeFault::Offset);
        let long = Relative { hours: 100, ..Relative::default() };
        assert_eq!(SmppTime::Relative(long).to_chars(), Err(TimeFault::NoSuchDate));
    }
}
