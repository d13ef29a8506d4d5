//! Parses the `validity_period` of a submit_sm into the time at which the message expires.

use hermod_domain::time::Timestamp;
use hermod_smpp::time::{Absolute, Relative, SmppTime};
use hermod_smpp::{CommandStatus, time};
use std::time::Duration;

const HALF_A_CENTURY: Duration = Duration::from_secs(50 * 365 * 86_400);

/// Returns how long the message is valid. Rejects malformed and past times. Does not apply an upper limit.
pub(super) fn read(field: &[u8], now: Timestamp) -> Result<Option<Duration>, CommandStatus> {
    let time = time::parse(field).map_err(|_| CommandStatus::INVEXPIRY)?;
    let Some(time) = time else { return Ok(None) };
    let at = match time {
        SmppTime::Absolute(at) => moment_of(at, now),
        SmppTime::Relative(span) => later(now, span),
    };
    match at {
        Some(at) if at > now => Ok(Some(at.since(now))),
        Some(_) => Err(CommandStatus::INVEXPIRY),
        // Beyond the calendar's range.
        None => Ok(Some(Duration::MAX)),
    }
}

/// Converts an absolute time. SMPP reads a two-digit year as 1938 to 2037; a result more than 50 years in the past
/// means the next century.
fn moment_of(at: Absolute, now: Timestamp) -> Option<Timestamp> {
    let Absolute { year, month, day, hour, minute, second, tenths: _, utc_quarters } = at;
    let (year, month, day) = (i16::try_from(year).ok()?, i8::try_from(month).ok()?, i8::try_from(day).ok()?);
    let clock = (i8::try_from(hour).ok()?, i8::try_from(minute).ok()?, i8::try_from(second).ok()?);
    let local = Timestamp::from_utc((year, month, day), clock)?;
    let local = if now.since(local) > HALF_A_CENTURY {
        Timestamp::from_utc((year.checked_add(100)?, month, day), clock)?
    } else {
        local
    };
    let offset = Duration::from_secs(15 * 60 * u64::from(utc_quarters.unsigned_abs()));
    Some(if utc_quarters < 0 { local.plus(offset) } else { local.minus(offset) })
}

fn later(now: Timestamp, span: Relative) -> Option<Timestamp> {
    let Relative { years, months, days, hours, minutes, seconds } = span;
    let of = |count: u8, unit: u64| u64::from(count) * unit;
    let rest = of(days, 86_400) + of(hours, 3_600) + of(minutes, 60) + of(seconds, 1);
    Some(now.plus_months(12 * u32::from(years) + u32::from(months))?.plus(Duration::from_secs(rest)))
}
