//! The home page of an account.

use super::State;
use super::member::Member;
use super::reply::{Reply, page};
use super::shown::{country_name, freshness, time};
use crate::chart::{
    CountryBar, HourCount, HourStates, horizontal_bars, sparkline, states_by_hour, volume_by_hour,
};
use crate::elements::{Notice, Tone};
use crate::layout::Entry;
use crate::numbers::{amount, duration, grouped, percent};
use crate::pages::home::{FirstStep, Home, Money};
use crate::time::Time;
use hermod_domain::permission::Permission;
use hermod_gateway::app::operator::{self, OperatorRefusal};
use hermod_gateway::views::record::{StatisticView, StatisticsQuery, StatisticsView};
use hermod_gateway::world::World;
use std::collections::HashMap;

const HOUR_MS: i64 = 3_600_000;
/// Countries in the chart.
const COUNTRIES_SHOWN: usize = 8;

/// `GET /accounts/{account}`.
pub(super) async fn show(axum::extract::State(portal): State, member: Member) -> Reply {
    member.require(Permission::ReadMessages)?;
    let world = &*portal.world;
    let account = &member.account_name;
    let by_hour = statistics(world, account, ("24h", Some("hour"), "all")).await?;
    let by_day = statistics(world, account, ("14d", Some("day"), "all")).await?;
    let total = statistics(world, account, ("24h", None, "all")).await?.items.into_iter().next();
    let by_country = countries(world, account).await?;
    let hours = whole_day(world, &by_hour.items);
    let today = world.clock.now().day().to_string();
    let is_today = |row: &&StatisticView| row.start.as_deref().is_some_and(|start| start.starts_with(&today));
    let accepted_today: u64 = by_day.items.iter().filter(is_today).map(|row| row.accepted).sum();
    let days: Vec<u64> = by_day.items.iter().map(|row| row.accepted).collect();
    let has_traffic = by_day.items.iter().any(|row| row.accepted > 0);
    let was_delivered = by_day.items.iter().any(|row| row.delivered > 0);
    let money = match member.may(Permission::ReadMoney) {
        true => Some(money(world, account).await?),
        false => None,
    };
    let shell = member.shell(Entry::Home);
    Ok(page(&Home {
        attention: attention(money.as_ref()),
        money,
        today: grouped(accepted_today),
        today_note: None,
        trend: (days.len() > 1).then(|| sparkline("Messages by day, last two weeks", &days)),
        delivery_rate: total
            .as_ref()
            .and_then(|all| percent(all.delivered, all.accepted - all.open.min(all.accepted))),
        delivery_note: None,
        p50: total.as_ref().and_then(|all| all.p50_ms).map(duration),
        p95: total.as_ref().and_then(|all| all.p95_ms).map(duration),
        has_traffic,
        volume: volume_by_hour("Messages by hour", &hours.iter().map(volume).collect::<Vec<_>>()),
        states: states_by_hour("Outcomes by hour", &hours),
        countries: horizontal_bars("Countries", &by_country, "Delivered"),
        first_steps: if was_delivered { Vec::new() } else { first_steps(has_traffic) },
        freshness: freshness(&world.clock, by_hour.record),
        shell,
    }))
}

/// Reads statistics, per interval or added up.
async fn statistics(
    world: &World,
    account: &str,
    (since, per, by): (&str, Option<&str>, &str),
) -> Result<StatisticsView, OperatorRefusal> {
    let text = |text: &str| Some(text.to_owned());
    let query = StatisticsQuery {
        account: text(account),
        by: text(by),
        per: per.map(str::to_owned),
        sum: Some(per.is_none()),
        since: text(since),
        ..StatisticsQuery::default()
    };
    operator::read_statistics(world, query).await
}

async fn countries(world: &World, account: &str) -> Result<Vec<CountryBar>, OperatorRefusal> {
    let found = statistics(world, account, ("24h", None, "country")).await?;
    let bar = |row: &StatisticView| CountryBar {
        label: country_name(row.value.as_deref().unwrap_or_default()),
        count: row.accepted,
        note: percent(row.delivered, row.accepted - row.open.min(row.accepted)).unwrap_or_default(),
    };
    Ok(found.items.iter().filter(|row| row.accepted > 0).take(COUNTRIES_SHOWN).map(bar).collect())
}

/// Returns 24 hours up to now, also those without messages.
fn whole_day(world: &World, rows: &[StatisticView]) -> Vec<HourStates> {
    let found: HashMap<i64, &StatisticView> =
        rows.iter().filter_map(|row| Some((time(row.start.as_deref()?)?.0, row))).collect();
    let last = world.clock.now().as_millis().div_euclid(HOUR_MS) * HOUR_MS;
    let hour = |index: i64| {
        let start = last - (23 - index) * HOUR_MS;
        let row = found.get(&start);
        let count = |of: fn(&StatisticView) -> u64| row.map_or(0, |row| of(row));
        HourStates {
            start: Time(start),
            delivered: count(|row| row.delivered),
            open: count(|row| row.open),
            expired: count(|row| row.expired),
            undeliverable: count(|row| row.undeliverable),
            rejected: count(|row| row.rejected),
        }
    };
    (0..24).map(hour).collect()
}

fn volume(hour: &HourStates) -> HourCount {
    let HourStates { start, delivered, open, expired, undeliverable, rejected } = hour;
    HourCount { start: *start, count: delivered + open + expired + undeliverable + rejected, usual: None }
}

async fn money(world: &World, account: &str) -> Result<Money, OperatorRefusal> {
    let balance = operator::show_balance(world, account).await?;
    Ok(Money {
        is_low: balance.available.0 <= hermod_domain::money::Money::ZERO,
        available: amount(&balance.available.to_string()),
        currency: balance.currency,
        runway: super::money::runway(world, account, balance.available.0).await?,
    })
}

fn attention(money: Option<&Money>) -> Vec<Notice> {
    let is_empty = money.is_some_and(|money| money.is_low);
    let text = "Nothing is left to spend: messages are rejected with INSUFFICIENT_BALANCE until the account is topped up.";
    is_empty.then(|| Notice::new(Tone::Bad, text)).into_iter().collect()
}

fn first_steps(has_sent: bool) -> Vec<FirstStep> {
    let step = |title: &str, text: &str, href: &str, action: &str, is_done| FirstStep {
        title: title.to_owned(),
        text: text.to_owned(),
        href: href.to_owned(),
        action: action.to_owned(),
        is_done,
    };
    vec![
        step(
            "Read how to send",
            "The API takes a POST with a recipient, a sender and a text.",
            "/docs",
            "API documentation",
            false,
        ),
        step("Send the first message", "With curl, or with any SMPP client.", "/docs", "Examples", has_sent),
    ]
}
