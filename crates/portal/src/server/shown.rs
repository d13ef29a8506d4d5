//! Values of views as pages show them: times, countries, how current the record is.

use crate::elements::Freshness;
use crate::numbers::duration;
use crate::time::Time;
use hermod_domain::numbers::Country;
use hermod_domain::time::Timestamp;
use hermod_gateway::clock::Clock;
use hermod_gateway::views::record::RecordView;

/// From this lag on, pages say that the record is behind.
const LAG_SHOWN_MS: u64 = 2_000;

/// Returns the time of a view.
pub(super) fn time(iso: &str) -> Option<Time> {
    Timestamp::parse(iso).map(|at| Time(at.as_millis()))
}

pub(super) fn freshness(clock: &Clock, record: RecordView) -> Freshness {
    let lag = (record.lag_ms >= LAG_SHOWN_MS).then(|| duration(record.lag_ms));
    Freshness { as_of: Time(clock.now().as_millis()), lag }
}

/// Returns the name of a country by its code.
pub(super) fn country_name(code: &str) -> String {
    match code.parse::<Country>() {
        Ok(country) => country.name().to_owned(),
        Err(_) if code.is_empty() => "Unknown".to_owned(),
        Err(_) => code.to_owned(),
    }
}
