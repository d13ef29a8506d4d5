//! `validity_period`: how long a message may wait for delivery.

use hermod_domain::time::Timestamp;
use hermod_smpp::time::{Absolute, Relative, SmppTime};
use hermod_smpp::{CommandStatus, time};
use std::time::Duration;

const HALF_A_CENTURY: Duration = Duration::from_secs(50 * 365 * 86_400);

/// How long it may wait. What is in the past, or no time at all, is refused; too long is cut short by whoever knows the
/// limit.
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
        // So far away that no calendar has it.
        None => Ok(Some(Duration::MAX)),
    }
}

/// A year has two digits, which SMPP reads as 1938 to 2037. What that makes older than half a century is of the next.
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
