//! The home page of an account.

use super::State;
use super::home_attention::{LOW_DAYS, attention, first_steps};
use super::home_usual::{HOUR_MS, SINCE, Weeks};
use super::member::Member;
use super::reply::{Reply, page};
use super::shown::{country_name, freshness, runway_days, runway_words};
use crate::chart::{
    CountryBar, HourCount, HourStates, horizontal_bars, sparkline, states_by_hour, volume_by_hour,
};
use crate::layout::NavEntry;
use crate::numbers::{amount, duration, grouped, percent};
use crate::pages::home::{AvailableFunds, HomePage};
use crate::time::Time;
use hermod_domain::permission::Permission;
use hermod_domain::time::Timestamp;
use hermod_gateway::gateway::Gateway;
use hermod_operator::money::use_cases::show_balance;
use hermod_operator::refusal::OperatorRefusal;
use hermod_operator::statistics;
use hermod_operator::statistics::{StatisticView, StatisticsQuery, StatisticsView};

/// Countries in the chart.
const COUNTRIES_SHOWN: usize = 8;

/// `GET /accounts/{account}`.
pub(super) async fn show(axum::extract::State(portal): State, member: Member) -> Reply {
    member.require(Permission::ReadMessages)?;
    let gateway = &*portal.gateway;
    let account = &member.account_name;
    let now = gateway.clock.now();
    let by_hour = statistics(gateway, account, (SINCE, None), (Some("hour"), "all")).await?;
    let by_day = statistics(gateway, account, ("14d", None), (Some("day"), "all")).await?;
    let total = added_up(gateway, account, ("24h", None)).await?;
    let week = added_up(gateway, account, ("8d", Some("24h"))).await?;
    let by_country = countries(gateway, account).await?;
    let weeks = Weeks::of(&by_hour.items);
    let hours = whole_day(now, &weeks);
    let days: Vec<u64> = by_day.items.iter().map(|row| row.accepted).collect();
    let has_traffic = by_day.items.iter().any(|row| row.accepted > 0);
    let was_delivered = by_day.items.iter().any(|row| row.delivered > 0);
    let shell = member.shell(NavEntry::Home);
    let money = match member.may(Permission::ReadMoney) {
        true => Some(money(gateway, account).await?),
        false => None,
    };
    let known = money.as_ref().map(|(money, runway)| (money.is_empty, *runway));
    Ok(page(&HomePage {
        attention: attention(gateway, &member, &shell, known).await?,
        first_steps: match was_delivered {
            true => Vec::new(),
            false => first_steps(gateway, &member, &shell, has_traffic),
        },
        money: money.map(|(money, _)| money.shown),
        today: grouped(weeks.today(now)),
        today_note: weeks.today_note(now),
        trend: (days.len() > 1).then(|| sparkline("Messages by day, last two weeks", &days)),
        delivery_rate: total.as_ref().and_then(delivery_rate),
        delivery_note: week.as_ref().and_then(delivery_rate).map(|rate| format!("{rate} in the week before")),
        p50: total.as_ref().and_then(|all| all.p50_ms).map(duration),
        p95: total.as_ref().and_then(|all| all.p95_ms).map(duration),
        has_traffic,
        volume: volume_by_hour("Messages by hour", &volume(&hours, &weeks)),
        states: states_by_hour("Outcomes by hour", &hours),
        countries: horizontal_bars("Countries", &by_country, "Delivered"),
        freshness: freshness(&gateway.clock, by_hour.record),
        shell,
    }))
}

/// Returns the share of ended messages that were delivered.
fn delivery_rate(all: &StatisticView) -> Option<String> {
    percent(all.delivered, all.accepted - all.open.min(all.accepted))
}

/// Returns the figures of a period in one row; none without messages.
async fn added_up(
    gateway: &Gateway,
    account: &str,
    period: (&str, Option<&str>),
) -> Result<Option<StatisticView>, OperatorRefusal> {
    Ok(statistics(gateway, account, period, (None, "all")).await?.items.into_iter().next())
}

/// Reads statistics, per interval or added up.
async fn statistics(
    gateway: &Gateway,
    account: &str,
    (since, until): (&str, Option<&str>),
    (per, by): (Option<&str>, &str),
) -> Result<StatisticsView, OperatorRefusal> {
    let text = |text: &str| Some(text.to_owned());
    let query = StatisticsQuery {
        account: text(account),
        by: text(by),
        per: per.map(str::to_owned),
        sum: Some(per.is_none()),
        since: text(since),
        until: until.map(str::to_owned),
        ..StatisticsQuery::default()
    };
    statistics::read_statistics(gateway, query).await
}

async fn countries(gateway: &Gateway, account: &str) -> Result<Vec<CountryBar>, OperatorRefusal> {
    let found = statistics(gateway, account, ("24h", None), (None, "country")).await?;
    let bar = |row: &StatisticView| CountryBar {
        label: country_name(row.value.as_deref().unwrap_or_default()),
        count: row.accepted,
        note: percent(row.delivered, row.accepted - row.open.min(row.accepted)).unwrap_or_default(),
    };
    Ok(found.items.iter().filter(|row| row.accepted > 0).take(COUNTRIES_SHOWN).map(bar).collect())
}

/// Returns 24 hours up to now, also those without messages.
fn whole_day(now: Timestamp, weeks: &Weeks<'_>) -> Vec<HourStates> {
    let last = now.as_millis().div_euclid(HOUR_MS) * HOUR_MS;
    let hour = |index: i64| {
        let start = Time(last - (23 - index) * HOUR_MS);
        let row = weeks.at(start);
        let count = |of: fn(&StatisticView) -> u64| row.map_or(0, of);
        HourStates {
            start,
            delivered: count(|row| row.delivered),
            open: count(|row| row.open),
            expired: count(|row| row.expired),
            undeliverable: count(|row| row.undeliverable),
            rejected: count(|row| row.rejected),
        }
    };
    (0..24).map(hour).collect()
}

fn volume(hours: &[HourStates], weeks: &Weeks<'_>) -> Vec<HourCount> {
    let count = |hour: &HourStates| HourCount {
        start: hour.start,
        count: weeks.at(hour.start).map_or(0, |row| row.accepted),
        usual: weeks.usual(hour.start),
    };
    hours.iter().map(count).collect()
}

/// The balance as the page shows it, and whether nothing is left.
struct Funds {
    shown: AvailableFunds,
    is_empty: bool,
}

/// Returns the available money, and for how many days it lasts.
async fn money(gateway: &Gateway, account: &str) -> Result<(Funds, Option<i64>), OperatorRefusal> {
    let balance = show_balance(gateway, account).await?;
    let available = balance.available.0;
    let runway = runway_days(gateway, account, available).await?;
    let is_empty = available <= hermod_domain::money::Money::ZERO;
    let shown = AvailableFunds {
        available: amount(&balance.available.to_string()),
        currency: balance.currency,
        runway: runway.map(runway_words),
        is_low: is_empty || runway.is_some_and(|days| days < LOW_DAYS),
    };
    Ok((Funds { shown, is_empty }, runway))
}
