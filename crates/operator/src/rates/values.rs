//! Prices and dates as sheets write them. A text that can mean two things has no value until the rate profile or the other rows of
//! the sheet decide.

use crate::rates::sheet::{SheetCell, refused};
use crate::refusal::ProvisionResult;
use hermod_domain::money::Money;
use hermod_domain::price::PRICE_MAX;
use hermod_domain::rate_profile::{DateOrder, DecimalSign, PriceUnit, UtcOffset};
use hermod_domain::time::Timestamp;

/// Day numbers of workbooks that can be dates of a sheet: 1982 to 2036 from 1900.
const DAY_NUMBERS: std::ops::Range<f64> = 30_000.0..80_000.0;
/// Days between the beginnings of the two calendars of workbooks.
const DAYS_FROM_1900_TO_1904: f64 = 1_462.0;
/// The day number of 1970-01-01.
const DAY_OF_1970: f64 = 25_569.0;
const DAY_SECONDS: f64 = 86_400.0;
const DECIMALS_MAX: usize = 6;

/// Words for "from now on".
const AT_ONCE: [&str; 6] = ["immediately", "immediate", "now", "asap", "at once", "with immediate effect"];
const MONTHS: [&str; 12] =
    ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];

/// Finds the decimal sign of all prices of a sheet.
pub(crate) fn decimal_sign<'c>(prices: impl Iterator<Item = &'c SheetCell>) -> ProvisionResult<DecimalSign> {
    let (mut found, mut unclear) = (None, None);
    for cell in prices.filter(|cell| !cell.is_number) {
        match sign_of(&cell.text) {
            Sign::None => {}
            Sign::Unclear => unclear = Some(&cell.text),
            Sign::Is(sign) if found.is_none_or(|found| found == sign) => found = Some(sign),
            Sign::Is(_) => {
                return Err(refused("has prices with a decimal point and with a decimal comma: correct it"));
            }
        }
    }
    match (found, unclear) {
        (Some(sign), _) => Ok(sign),
        (None, None) => Ok(DecimalSign::Point),
        (None, Some(text)) => Err(refused(format!(
            "has prices such as \"{text}\", which can have a decimal sign or a separator of thousands: say in the rate profile \
             which it is (decimal)"
        ))),
    }
}

enum Sign {
    /// There is neither a point nor a comma, or it is no price.
    None,
    /// `1,234`
    Unclear,
    Is(DecimalSign),
}

fn sign_of(text: &str) -> Sign {
    let number: String =
        text.chars().filter(|character| character.is_ascii_digit() || ".,".contains(*character)).collect();
    let sign = |character: char| if character == ',' { DecimalSign::Comma } else { DecimalSign::Point };
    let other = |sign| if sign == DecimalSign::Comma { DecimalSign::Point } else { DecimalSign::Comma };
    let marks: Vec<(usize, char)> =
        number.char_indices().filter(|(_, character)| ".,".contains(*character)).collect();
    match marks.as_slice() {
        [] => Sign::None,
        [(at, mark)] => {
            let (whole, decimals) = (&number[..*at], number.len() - at - 1);
            // 0,065 and 12,5 have decimals; 1,234 and 12,345 can have thousands.
            if decimals == 3 && (1..=3).contains(&whole.len()) && !whole.starts_with('0') {
                Sign::Unclear
            } else {
                Sign::Is(sign(*mark))
            }
        }
        [(_, first), .., (_, last)] if first != last => Sign::Is(sign(*last)),
        // Several of one kind separate thousands.
        [(_, mark), ..] => Sign::Is(other(sign(*mark))),
    }
}

/// A price, with the currency that its cell names.
pub(crate) type ReadPrice = (Money, Option<&'static str>);

/// Reads a price for one part. Fails with what is wrong about it.
pub(crate) fn price(cell: &SheetCell, decimal: DecimalSign, unit: PriceUnit) -> Result<ReadPrice, String> {
    let text = cell.text.as_str();
    let wrong = || format!("\"{text}\" is not a price");
    let (number, currency) = without_currency(text);
    let decimal = if cell.is_number { DecimalSign::Point } else { decimal };
    let (point, group) = match decimal {
        DecimalSign::Point => ('.', ','),
        DecimalSign::Comma => (',', '.'),
    };
    let compact: String =
        number.chars().filter(|character| !character.is_whitespace() && !"'’".contains(*character)).collect();
    let (whole, fraction) = match compact.split_once(point) {
        Some((_, "")) => return Err(wrong()),
        Some(halves) => halves,
        None => (compact.as_str(), ""),
    };
    let mut groups = whole.split(group);
    let first = groups.next().unwrap_or_default();
    let is_grouped = whole.contains(group);
    let groups_fit = !is_grouped
        || (1..=3).contains(&first.len()) && !first.starts_with('0') && groups.all(|group| group.len() == 3);
    let whole = whole.replace(group, "");
    let is_number = |digits: &str| digits.bytes().all(|digit| digit.is_ascii_digit());
    if !groups_fit || whole.len() + fraction.len() == 0 || !is_number(&whole) || !is_number(fraction) {
        return Err(wrong());
    }
    let decimals = match unit {
        PriceUnit::Units => 0,
        PriceUnit::Cents => 2,
        PriceUnit::PerThousand => 3,
    };
    let money = shifted(&whole, fraction, decimals)
        .ok_or_else(|| format!("\"{text}\" has more than six decimals"))?;
    let money = Money::parse(&money).ok().filter(|money| *money <= PRICE_MAX);
    Ok((money.ok_or_else(|| format!("\"{text}\" is more than the highest price, {PRICE_MAX}"))?, currency))
}

/// Returns digits with the point moved to the left; none with more than six decimals.
fn shifted(whole: &str, fraction: &str, places: usize) -> Option<String> {
    let whole = format!("{whole:0>width$}", width = places + 1);
    let (whole, moved) = whole.split_at(whole.len() - places);
    let decimals = format!("{moved}{fraction}");
    let decimals = decimals.trim_end_matches('0');
    let text = if decimals.is_empty() { whole.to_owned() } else { format!("{whole}.{decimals}") };
    (decimals.len() <= DECIMALS_MAX).then_some(text)
}

/// Takes a currency away that stands before or behind a price. A sign that several currencies have says nothing.
fn without_currency(text: &str) -> (&str, Option<&'static str>) {
    const SIGNS: [(&str, Option<&str>); 8] = [
        ("€", Some("EUR")),
        ("£", Some("GBP")),
        ("$", None),
        ("EUR", Some("EUR")),
        ("USD", Some("USD")),
        ("GBP", Some("GBP")),
        ("CHF", Some("CHF")),
        ("US$", Some("USD")),
    ];
    let text = text.trim();
    // The longest sign first: US$ ends with $.
    for (sign, currency) in SIGNS.iter().rev() {
        if let Some(rest) = text.strip_prefix(sign).or_else(|| text.strip_suffix(sign)) {
            return (rest.trim(), *currency);
        }
    }
    (text, None)
}

/// A date of a sheet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SheetDate {
    /// From now on.
    AtOnce,
    At(Timestamp),
}

/// Finds the order of day and month from all dates of a sheet; none if none of them needs it.
pub(crate) fn date_order<'c>(
    dates: impl Iterator<Item = &'c SheetCell>,
) -> ProvisionResult<Option<DateOrder>> {
    let (mut found, mut unclear) = (None, None);
    for cell in dates.filter(|cell| !cell.is_number) {
        let Some([first, second, _]) = three_numbers(&cell.text) else { continue };
        let order = match (first > 12, second > 12) {
            (true, _) => DateOrder::DayMonthYear,
            (false, true) => DateOrder::MonthDayYear,
            (false, false) => {
                unclear = unclear.or((first != second).then_some(&cell.text));
                continue;
            }
        };
        if found.is_some_and(|found| found != order) {
            return Err(refused("has dates with the day first and with the month first: correct it"));
        }
        found = Some(order);
    }
    match (found, unclear) {
        (Some(order), _) => Ok(Some(order)),
        (None, None) => Ok(None),
        (None, Some(text)) => Err(refused(format!(
            "has dates such as \"{text}\", in which the day or the month can be first: say in the rate profile which (dates)"
        ))),
    }
}

/// Returns the numbers of a date such as `12/31/2026`, with slashes or hyphens; with points the day is first everywhere.
fn three_numbers(text: &str) -> Option<[u16; 3]> {
    let (day, _) = text.split_once(' ').unwrap_or((text, ""));
    let mut numbers = day.split(['/', '-']).map(|number| number.parse::<u16>().ok());
    let all = [numbers.next()??, numbers.next()??, numbers.next()??];
    // A year in front is ISO 8601.
    (numbers.next().is_none() && all[0] <= 31).then_some(all)
}

/// How the dates of a sheet are read.
#[derive(Clone, Copy)]
pub(crate) struct DateForm {
    pub(crate) order: Option<DateOrder>,
    pub(crate) offset: UtcOffset,
    pub(crate) is_from_1904: bool,
}

impl DateForm {
    /// Reads a date. Days begin in the time zone of the sheet. Fails with what is wrong about it.
    pub(crate) fn read(&self, cell: &SheetCell) -> Result<SheetDate, String> {
        let text = cell.text.as_str();
        if text.is_empty() || AT_ONCE.contains(&text.to_lowercase().as_str()) {
            return Ok(SheetDate::AtOnce);
        }
        let at = self.day_number(cell).or_else(|| self.written(text));
        let at = at.filter(|at| at.as_millis() % 1_000 == 0 && *at > Timestamp::EPOCH);
        at.map(SheetDate::At).ok_or_else(|| format!("\"{text}\" is not a date"))
    }

    /// Returns the time that a workbook means by a number of days.
    fn day_number(&self, cell: &SheetCell) -> Option<Timestamp> {
        let is_written_so = cell.is_number || cell.text.len() == 5;
        let days = cell.text.parse::<f64>().ok().filter(|_| is_written_so)?;
        let days = if self.is_from_1904 && cell.is_number { days + DAYS_FROM_1900_TO_1904 } else { days };
        let days = Some(days).filter(|days| DAY_NUMBERS.contains(days))?;
        // Below 2^53 milliseconds; a day number has no more than seconds.
        let seconds = ((days - DAY_OF_1970) * DAY_SECONDS).round();
        Some(self.local(seconds as i64))
    }

    fn local(&self, seconds: i64) -> Timestamp {
        Timestamp::from_millis(seconds * 1_000 - self.offset.as_millis())
    }

    fn written(&self, text: &str) -> Option<Timestamp> {
        if text.contains('T')
            && let Some(at) = Timestamp::parse(text)
        {
            return Some(at);
        }
        let (day, time) = text
            .split_once('T')
            .filter(|(_, time)| time.contains(':'))
            .or_else(|| split_time(text))
            .unwrap_or((text, ""));
        let date = self.date(day.trim())?;
        let midnight = Timestamp::from_utc(date, clock(time.trim())?)?;
        Some(self.local(midnight.as_millis() / 1_000))
    }

    /// Returns year, month and day.
    fn date(&self, day: &str) -> Option<(i16, i8, i8)> {
        let words: Vec<&str> = day
            .split(|character: char| !character.is_alphanumeric())
            .filter(|word| !word.is_empty())
            .collect();
        if let [compact] = words.as_slice() {
            let is_compact = compact.len() == 8 && compact.bytes().all(|digit| digit.is_ascii_digit());
            let part = |range: std::ops::Range<usize>| compact.get(range);
            let parts = if is_compact { Some((part(0..4)?, part(4..6)?, part(6..8)?)) } else { None };
            let (year, month, day) = parts?;
            return Some((year.parse().ok()?, month.parse().ok()?, day.parse().ok()?));
        }
        let [first, second, third] = words.as_slice() else { return None };
        let (year, month, day) = match (month_of(first), month_of(second)) {
            (Some(month), None) => (third, month, *second),
            (None, Some(month)) => (third, month, *first),
            (None, None) if first.len() == 4 => {
                return Some((first.parse().ok()?, second.parse().ok()?, third.parse().ok()?));
            }
            (None, None) => match self.order {
                Some(DateOrder::MonthDayYear) if !day.contains('.') => (third, first.parse().ok()?, *second),
                Some(DateOrder::Iso) => return None,
                _ if day.contains('.') || self.order.is_some() || first == second => {
                    (third, second.parse().ok()?, *first)
                }
                _ => return None,
            },
            (Some(_), Some(_)) => return None,
        };
        let year: i16 = year.parse().ok()?;
        let year = if (0..100).contains(&year) { year + 2_000 } else { year };
        Some((year, month, day.parse().ok()?))
    }
}

/// Cuts a time of day off that follows a blank.
fn split_time(text: &str) -> Option<(&str, &str)> {
    let (day, time) = text.rsplit_once(' ')?;
    time.contains(':').then_some((day, time))
}

/// Returns the month with an English name.
fn month_of(word: &str) -> Option<i8> {
    let word = word.to_lowercase();
    let named = MONTHS.iter().position(|month| word.starts_with(month))?;
    i8::try_from(named + 1).ok()
}

/// Reads a time of day; midnight if there is none.
fn clock(text: &str) -> Option<(i8, i8, i8)> {
    if text.is_empty() {
        return Some((0, 0, 0));
    }
    let mut numbers = text.split(':').map(|number| number.parse::<i8>().ok());
    let (hour, minute) = (numbers.next()??, numbers.next()??);
    let second = match numbers.next() {
        Some(second) => second?,
        None => 0,
    };
    numbers.next().is_none().then_some((hour, minute, second))
}

#[cfg(test)]
#[path = "values_tests.rs"]
mod tests;
