//! How the rate sheets of a carrier are read.

use crate::cost::{CostBasis, SenderClass};
use crate::ids::CarrierId;
use crate::money::Currency;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::time::Duration;

/// The order of the numbers in a date such as `01/02/2027`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DateOrder {
    DayMonthYear,
    MonthDayYear,
    Iso,
}

/// What stands between the units and the decimals of a price.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DecimalSign {
    Point,
    Comma,
}

/// What a price of 1 means.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PriceUnit {
    /// One unit of the currency for a part.
    #[default]
    Units,
    /// One hundredth of it.
    Cents,
    /// One unit of the currency for a thousand parts.
    PerThousand,
}

/// What a sheet says about destinations that it does not list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SheetMode {
    /// Nothing.
    #[default]
    Partial,
    /// The carrier does not deliver there any more.
    Full,
}

/// The time zone of a sheet's dates: minutes east of UTC.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct UtcOffset(i16);

/// Why a text is not an offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("an offset from UTC is written +01:00 or -05:30")]
pub struct OffsetRefusal;

/// The hours of the largest offset, that of Kiribati.
const HOURS_MAX: i16 = 14;

impl UtcOffset {
    pub fn parse(text: &str) -> Result<UtcOffset, OffsetRefusal> {
        let (sign, rest) = match text.strip_prefix('-') {
            Some(rest) => (-1, rest),
            None => (1, text.strip_prefix('+').ok_or(OffsetRefusal)?),
        };
        let number = |digits: &str| {
            let is_number = digits.len() == 2 && digits.bytes().all(|digit| digit.is_ascii_digit());
            if is_number { digits.parse::<i16>().ok() } else { None }
        };
        let (hours, minutes) = rest.split_once(':').ok_or(OffsetRefusal)?;
        let hours = number(hours).filter(|hours| *hours <= HOURS_MAX).ok_or(OffsetRefusal)?;
        let minutes = number(minutes).filter(|minutes| *minutes < 60).ok_or(OffsetRefusal)?;
        Ok(UtcOffset(sign * (hours * 60 + minutes)))
    }

    /// Returns the milliseconds by which its midnight is before that of UTC.
    pub fn as_millis(self) -> i64 {
        i64::from(self.0) * 60_000
    }
}

impl fmt::Display for UtcOffset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.0 < 0 { '-' } else { '+' };
        let minutes = self.0.unsigned_abs();
        write!(f, "{sign}{:02}:{:02}", minutes / 60, minutes % 60)
    }
}

text_form!(UtcOffset: OffsetRefusal);
debug_as_text!(UtcOffset);

/// The columns of a sheet: a header or a position from 1; `None` if a well-known header names it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SheetColumns {
    pub country: Option<String>,
    pub mcc: Option<String>,
    pub mnc: Option<String>,
    pub mccmnc: Option<String>,
    pub prefix: Option<String>,
    pub price: Option<String>,
    pub currency: Option<String>,
    pub from: Option<String>,
    pub until: Option<String>,
    pub change: Option<String>,
    pub sender_kind: Option<String>,
}

/// How the sheets of a carrier are read. What is `None` is recognised in each sheet, or the sheet is refused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RateProfile {
    pub carrier: CarrierId,
    pub columns: SheetColumns,
    pub dates: Option<DateOrder>,
    pub decimal: Option<DecimalSign>,
    pub unit: PriceUnit,
    pub mode: SheetMode,
    /// Of rows that name none.
    pub currency: Option<Currency>,
    pub basis: CostBasis,
    /// Of rows that name none; `None`: for any sender ID.
    pub sender_kind: Option<SenderClass>,
    pub utc_offset: UtcOffset,
    /// How many days before it a higher price has to be announced.
    pub notice_days: Option<u16>,
    /// Codes of six digits have an MNC that is filled up with zeros: 262001 is 262-01.
    pub six_digits: bool,
    /// The sheet of a workbook; `None`: its only one.
    pub sheet: Option<String>,
}

impl RateProfile {
    /// Returns a profile that says nothing.
    pub fn of(carrier: CarrierId) -> RateProfile {
        RateProfile {
            carrier,
            columns: SheetColumns::default(),
            dates: None,
            decimal: None,
            unit: PriceUnit::default(),
            mode: SheetMode::default(),
            currency: None,
            basis: CostBasis::default(),
            sender_kind: None,
            utc_offset: UtcOffset::default(),
            notice_days: None,
            six_digits: false,
            sheet: None,
        }
    }

    pub fn notice(&self) -> Option<Duration> {
        self.notice_days.map(|days| Duration::from_secs(u64::from(days) * 86_400))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offset_is_signed_hours_and_minutes() {
        for (text, minutes) in [("+00:00", 0), ("+01:00", 60), ("-05:30", -330), ("+14:00", 840)] {
            let offset = UtcOffset::parse(text);
            assert_eq!(offset, Ok(UtcOffset(minutes)));
            assert_eq!(offset.map(|offset| offset.to_string()), Ok(text.to_owned()));
        }
        for text in ["", "01:00", "+1:00", "+15:00", "+01:60", "+0100", "+01:0x", "UTC"] {
            assert_eq!(UtcOffset::parse(text), Err(OffsetRefusal), "{text}");
        }
    }
}
