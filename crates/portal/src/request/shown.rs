//! Values of views as pages show them: amounts of money and how long they last, times, countries, how current the record is.

use super::member::Member;
use crate::elements::Freshness;
use crate::numbers::{amount, duration};
use crate::time::Time;
use hermod_domain::money::Money;
use hermod_domain::numbers::Country;
use hermod_domain::time::{Day, Timestamp};
use hermod_gateway::clock::Clock;
use hermod_operator::money::use_cases::list_days;
use hermod_operator::money::views::DaysQuery;
use hermod_operator::record::RecordView;
use hermod_operator::refusal::OperatorRefusal;
use hermod_operator::views::amount::Amount;

/// Whole days whose spend is the usual one.
const USUAL_DAYS: i64 = 7;
const LONG_DAYS: i64 = 365;

/// Returns a change of a balance with its sign.
pub(crate) fn signed(change: Amount) -> String {
    let text = amount(&change.to_string());
    match text.strip_prefix('-') {
        Some(digits) => format!("−{digits}"),
        None if change.0 == Money::ZERO => text,
        None => format!("+{text}"),
    }
}

/// Returns for how many days the available amount lasts at the spend of the last week; none without spend.
pub(crate) async fn runway_days(member: &Member, available: Money) -> Result<Option<i64>, OperatorRefusal> {
    let gateway = member.gateway();
    let today = gateway.clock.now().day().get();
    let (from, to) = (Day::new(today - USUAL_DAYS).to_string(), Day::new(today - 1).to_string());
    let days = list_days(gateway, &member.account_name, &DaysQuery { from, to }).await?;
    let spent: i64 = days.items.iter().map(|day| day.spend.0.as_micros()).sum();
    Ok(lasts(available.as_micros(), spent))
}

fn lasts(available: i64, spent: i64) -> Option<i64> {
    let days = i128::from(available.max(0)) * i128::from(USUAL_DAYS) / i128::from(spent.max(1));
    (spent > 0).then(|| i64::try_from(days).unwrap_or(i64::MAX))
}

/// Says for how many days an amount lasts.
pub(crate) fn runway_words(days: i64) -> String {
    let how_long = match days {
        ..=0 => "Less than a day".to_owned(),
        1 => "About a day".to_owned(),
        LONG_DAYS.. => "More than a year".to_owned(),
        days => format!("About {days} days"),
    };
    format!("{how_long} at the rate of the last week")
}

/// From this lag on, pages say that the record is behind.
const LAG_SHOWN_MS: u64 = 2_000;

/// Returns the time of a view.
pub(crate) fn time(iso: &str) -> Option<Time> {
    Timestamp::parse(iso).map(Time::from)
}

/// Returns the time of a view that always has one.
pub(crate) fn time_of(iso: &str) -> Time {
    time(iso).unwrap_or(Time(0))
}

pub(crate) fn freshness(clock: &Clock, record: RecordView) -> Freshness {
    let lag = (record.lag_ms >= LAG_SHOWN_MS).then(|| duration(record.lag_ms));
    Freshness { as_of: Time::from(clock.now()), lag }
}

/// Returns the name of a country by its code.
pub(crate) fn country_name(code: &str) -> String {
    match code.parse::<Country>() {
        Ok(country) => country.name().to_owned(),
        Err(_) if code.is_empty() => "Unknown".to_owned(),
        Err(_) => code.to_owned(),
    }
}

#[cfg(test)]
#[path = "shown_tests.rs"]
mod tests;
