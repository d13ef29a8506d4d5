//! The home page: money, traffic and what is usual at this time of the week, delivery, what needs attention, and the first steps of a
//! new account. Attention: only what the gateway knows without a search.

use crate::chart::{
    Chart, CountryBar, HourCount, HourStates, horizontal_bars, sparkline, states_by_hour, volume_by_hour,
};
use crate::elements::{Freshness, Notice, Tone};
use crate::layout::{NavEntry, Shell};
use crate::numbers::{amount, duration, grouped, percent};
use crate::request::member::Member;
use crate::request::reply::{Reply, page};
use crate::request::shown::{country_name, freshness, runway_days, runway_words, time};
use crate::svg::Svg;
use crate::time::Time;
use askama::Template;
use hermod_domain::catalogue::Catalogue;
use hermod_domain::permission::Permission;
use hermod_domain::time::Timestamp;
use hermod_operator::money::use_cases::show_balance;
use hermod_operator::refusal::OperatorRefusal;
use hermod_operator::statistics;
use hermod_operator::statistics::{StatisticView, StatisticsQuery, StatisticsView};
use hermod_operator::webhook::use_cases::show_webhooks;
use hermod_operator::webhook::views::EndpointView;
use std::collections::HashMap;
use std::time::Duration;

/// `GET /accounts/{account}`.
#[derive(Clone, Debug, Template)]
#[template(path = "home.html")]
pub struct HomePage {
    pub shell: Shell,
    /// What the account may still spend; `None` if the role may not see money.
    pub money: Option<AvailableFunds>,
    /// Messages accepted today, such as `12,408`.
    pub today: String,
    /// Today against the usual number at this time of day, such as `8 % above usual`.
    pub today_note: Option<String>,
    /// Messages by day of the last two weeks (`chart::sparkline`).
    pub trend: Option<Svg>,
    /// The share of ended messages of the last 24 hours that were delivered, such as `98.4 %`.
    pub delivery_rate: Option<String>,
    /// The same of the week before, such as `98.1 % last week`.
    pub delivery_note: Option<String>,
    /// Half of the messages were delivered within this time.
    pub p50: Option<String>,
    /// 95 of 100 were.
    pub p95: Option<String>,
    /// Whether the account sent anything lately; the charts are left out if not.
    pub has_traffic: bool,
    /// `chart::volume_by_hour`, last 24 hours.
    pub volume: Chart,
    /// `chart::states_by_hour`, last 24 hours.
    pub states: Chart,
    /// `chart::horizontal_bars`, last 24 hours.
    pub countries: Chart,
    /// What needs attention, the most urgent first.
    pub attention: Vec<Notice>,
    /// Shown until the first message was delivered.
    pub first_steps: Vec<FirstStep>,
    pub freshness: Freshness,
}

/// What the account may still spend.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AvailableFunds {
    /// Such as `1,204.50`.
    pub available: String,
    pub currency: String,
    /// How long it lasts, such as `About 9 days at the rate of the last week`.
    pub runway: Option<String>,
    /// Whether it is below the account's warning.
    pub is_low: bool,
}

/// A step from a new account to the first delivered message.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FirstStep {
    pub title: String,
    pub text: String,
    /// Where to do it.
    pub href: String,
    /// The words of the link.
    pub action: String,
    pub is_done: bool,
}

/// Countries in the chart.
const COUNTRIES_SHOWN: usize = 8;

/// `GET /accounts/{account}`.
pub(crate) async fn show(member: Member) -> Reply {
    member.require(Permission::ReadMessages)?;
    let gateway = member.gateway();
    let now = gateway.clock.now();
    let by_hour = statistics(&member, (SINCE, None), (Some("hour"), "all")).await?;
    let by_day = statistics(&member, ("14d", None), (Some("day"), "all")).await?;
    let total = added_up(&member, ("24h", None)).await?;
    let week = added_up(&member, ("8d", Some("24h"))).await?;
    let by_country = countries(&member).await?;
    let weeks = Weeks::of(&by_hour.items);
    let hours = whole_day(now, &weeks);
    let days: Vec<u64> = by_day.items.iter().map(|row| row.accepted).collect();
    let has_traffic = by_day.items.iter().any(|row| row.accepted > 0);
    let was_delivered = by_day.items.iter().any(|row| row.delivered > 0);
    let shell = member.shell(NavEntry::Home);
    let money = match member.may(Permission::ReadMoney) {
        true => Some(money(&member).await?),
        false => None,
    };
    let known = money.as_ref().map(|(money, runway)| (money.is_empty, *runway));
    Ok(page(&HomePage {
        attention: attention(&member, &shell, known).await?,
        first_steps: match was_delivered {
            true => Vec::new(),
            false => first_steps(&member, &shell, has_traffic),
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
    member: &Member,
    period: (&str, Option<&str>),
) -> Result<Option<StatisticView>, OperatorRefusal> {
    Ok(statistics(member, period, (None, "all")).await?.items.into_iter().next())
}

/// Reads statistics, per interval or added up.
async fn statistics(
    member: &Member,
    (since, until): (&str, Option<&str>),
    (per, by): (Option<&str>, &str),
) -> Result<StatisticsView, OperatorRefusal> {
    let text = |text: &str| Some(text.to_owned());
    let query = StatisticsQuery {
        account: text(&member.account_name),
        by: text(by),
        per: per.map(str::to_owned),
        sum: Some(per.is_none()),
        since: text(since),
        until: until.map(str::to_owned),
        ..StatisticsQuery::default()
    };
    statistics::read_statistics(member.gateway(), query).await
}

async fn countries(member: &Member) -> Result<Vec<CountryBar>, OperatorRefusal> {
    let found = statistics(member, ("24h", None), (None, "country")).await?;
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
async fn money(member: &Member) -> Result<(Funds, Option<i64>), OperatorRefusal> {
    let balance = show_balance(member.gateway(), &member.account_name).await?;
    let available = balance.available.0;
    let runway = runway_days(member, available).await?;
    let is_empty = available <= hermod_domain::money::Money::ZERO;
    let shown = AvailableFunds {
        available: amount(&balance.available.to_string()),
        currency: balance.currency,
        runway: runway.map(runway_words),
        is_low: is_empty || runway.is_some_and(|days| days < LOW_DAYS),
    };
    Ok((Funds { shown, is_empty }, runway))
}

/// An API key that expires within this time is named.
const EXPIRES_SOON: Duration = Duration::from_secs(14 * 86_400);
/// A webhook whose oldest event waits longer than this is failing: the second retry is after five minutes.
const WEBHOOK_LATE_MS: i64 = 10 * 60_000;
/// A balance that lasts less than so many days is low.
pub(crate) const LOW_DAYS: i64 = 3;

/// Returns what needs attention, the most urgent first. `runway` is how many days the balance lasts.
pub(crate) async fn attention(
    member: &Member,
    shell: &Shell,
    money: Option<(bool, Option<i64>)>,
) -> Result<Vec<Notice>, OperatorRefusal> {
    let gateway = member.gateway();
    let catalogue = gateway.catalogue();
    let now = gateway.clock.now();
    let mut notices = about_account(&catalogue, member, shell);
    notices.extend(money.and_then(|(is_empty, runway)| about_money(shell, is_empty, runway)));
    if member.may(Permission::ReadSetup) {
        let webhooks = show_webhooks(gateway, &member.account_name).await?;
        notices.extend(webhooks.endpoints.iter().filter_map(|endpoint| about_webhook(shell, endpoint, now)));
        notices.extend(about_setup(&catalogue, member, shell, now));
    }
    let held = gateway.store.reviews().count_open_of(member.account).await?;
    if held > 0 {
        let texts = if held == 1 { "text is" } else { "texts are" };
        let text = format!("{held} {texts} held for review and not sent.");
        notices.push(linked(shell, Notice::new(Tone::Waiting, text), NavEntry::Held, "Held messages"));
    }
    Ok(notices)
}

/// Adds a link to a page, if it exists for the role.
fn linked(shell: &Shell, notice: Notice, entry: NavEntry, label: &str) -> Notice {
    if shell.can_open(&entry) { notice.with_link(label, &shell.path(entry.path())) } else { notice }
}

fn about_account(catalogue: &Catalogue, member: &Member, shell: &Shell) -> Vec<Notice> {
    let Some(view) = catalogue.account(member.account) else { return Vec::new() };
    let mut notices = Vec::new();
    if view.account.closed {
        notices.push(Notice::new(Tone::Bad, "The account is closed: messages and binds are rejected."));
    }
    if let Some(reason) = &view.account.suspended {
        let text = format!(
            "The account is suspended: messages are rejected with ACCOUNT_SUSPENDED, and new binds too. The reason: {reason}"
        );
        notices.push(linked(shell, Notice::new(Tone::Bad, text), NavEntry::Requests, "Requests"));
    }
    if !view.account.verified {
        let text =
            "The identity of the account is not verified: messages are rejected with VERIFICATION_REQUIRED.";
        notices.push(linked(shell, Notice::new(Tone::Bad, text), NavEntry::Requests, "Request verification"));
    }
    if view.approved_senders().is_empty() {
        let text = "No sender is approved: messages are rejected with SENDER_NOT_APPROVED.";
        notices.push(linked(shell, Notice::new(Tone::Bad, text), NavEntry::Senders, "Senders"));
    }
    notices
}

fn about_money(shell: &Shell, is_empty: bool, runway: Option<i64>) -> Option<Notice> {
    let notice = match runway {
        _ if is_empty => {
            let text = "Nothing is left to spend: messages are rejected with INSUFFICIENT_CREDIT until the account is topped up.";
            Notice::new(Tone::Bad, text)
        }
        Some(days) if days < LOW_DAYS => {
            Notice::new(Tone::Warning, "At the rate of the last week the balance lasts less than three days.")
        }
        _ => return None,
    };
    Some(linked(shell, notice, NavEntry::Billing, "Billing"))
}

fn about_webhook(shell: &Shell, endpoint: &EndpointView, now: Timestamp) -> Option<Notice> {
    let EndpointView { kind, waiting, oldest, failed } = endpoint;
    let waited_ms = oldest.as_deref().and_then(time).map_or(0, |at| now.as_millis().saturating_sub(at.0));
    let name = if kind == "dlr" { "DLR webhook" } else { "webhook for MO messages" };
    let notice = if waited_ms > WEBHOOK_LATE_MS {
        let waited = duration(waited_ms.unsigned_abs());
        let text =
            format!("Your {name} is failing: {} events wait, the oldest for {waited}.", grouped(*waiting));
        Notice::new(Tone::Bad, text)
    } else if *failed > 0 {
        let text =
            format!("Your {name} lost {} events that were given up. They can be replayed.", grouped(*failed));
        Notice::new(Tone::Warning, text)
    } else {
        return None;
    };
    Some(linked(shell, notice, NavEntry::Webhooks, "Webhooks"))
}

/// Says what about connections and keys will lead to rejections.
fn about_setup(catalogue: &Catalogue, member: &Member, shell: &Shell, now: Timestamp) -> Vec<Notice> {
    let mut notices = Vec::new();
    let connections = catalogue.connections_of(member.account);
    let mut open = connections.iter().filter(|(_, _, connection)| !connection.closed).peekable();
    if open.peek().is_none() {
        notices.push(Notice::new(Tone::Bad, "The account has no open connection: nothing can be sent."));
    }
    for (_, name, _) in open.filter(|(_, _, connection)| connection.default_sender.is_none()) {
        let text = format!("Connection {name} has no default sender: requests without `from` are rejected.");
        notices.push(linked(shell, Notice::new(Tone::Neutral, text), NavEntry::Senders, "Choose one"));
    }
    for (public, key) in catalogue.keys_of(member.account) {
        let left = key.expires_at.filter(|at| key.is_valid_at(now) && at.since(now) < EXPIRES_SOON);
        notices.extend(left.map(|at| {
            let text = format!("API key {public} expires on {}.", at.day());
            linked(shell, Notice::new(Tone::Warning, text), NavEntry::Keys, "API keys")
        }));
    }
    notices
}

/// Returns the steps to the first delivered message.
pub(crate) fn first_steps(member: &Member, shell: &Shell, has_sent: bool) -> Vec<FirstStep> {
    let catalogue = member.gateway().catalogue();
    let now = member.gateway().clock.now();
    let has_key = catalogue.keys_of(member.account).iter().any(|(_, key)| key.is_valid_at(now));
    let has_sender =
        catalogue.account(member.account).is_some_and(|view| !view.approved_senders().is_empty());
    let step = |title: &str, text: &str, (entry, action): (NavEntry, &str), is_done| FirstStep {
        title: title.to_owned(),
        text: text.to_owned(),
        href: if shell.can_open(&entry) { shell.path(entry.path()) } else { "/docs".to_owned() },
        action: if shell.can_open(&entry) { action.to_owned() } else { "API reference".to_owned() },
        is_done,
    };
    vec![
        step(
            "Have a sender approved",
            "The name or number that recipients see.",
            (NavEntry::Senders, "Senders"),
            has_sender,
        ),
        step(
            "Create an API key",
            "Your programs send with a key and its secret.",
            (NavEntry::Keys, "API keys"),
            has_key,
        ),
        step(
            "Send the first message",
            "Here, with your own price shown first, or from code.",
            (NavEntry::Compose, "Compose"),
            has_sent,
        ),
        step(
            "See it delivered",
            "Its page shows every step until the handset has it.",
            (NavEntry::Messages, "Messages"),
            false,
        ),
    ]
}

pub(crate) const HOUR_MS: i64 = 3_600_000;
const DAY_MS: i64 = 24 * HOUR_MS;
const WEEK_MS: i64 = 7 * DAY_MS;
/// Weeks that the usual number is the average of.
const WEEKS: i64 = 4;
/// Statistics from so long ago are needed: the weeks, and the 24 hours of the chart.
pub(crate) const SINCE: &str = "29d";
/// Differences up to so many percent are as usual.
const AS_USUAL_PERCENT: u64 = 5;

/// The messages of the last weeks by hour.
pub(crate) struct Weeks<'a> {
    rows: HashMap<i64, &'a StatisticView>,
    /// The first hour with messages.
    first: Option<i64>,
}

impl<'a> Weeks<'a> {
    pub(crate) fn of(rows: &'a [StatisticView]) -> Weeks<'a> {
        let rows: HashMap<i64, &StatisticView> =
            rows.iter().filter_map(|row| Some((time(row.start.as_deref()?)?.0, row))).collect();
        let first = rows.iter().filter(|(_, row)| row.accepted > 0).map(|(start, _)| *start).min();
        Weeks { rows, first }
    }

    /// Returns the figures of the hour that begins at this time.
    pub(crate) fn at(&self, start: Time) -> Option<&'a StatisticView> {
        self.rows.get(&start.0).copied()
    }

    fn accepted(&self, start: i64) -> u64 {
        self.rows.get(&start).map_or(0, |row| row.accepted)
    }

    /// Returns the average of this hour of the week in the weeks before; none if the account is too new.
    pub(crate) fn usual(&self, start: Time) -> Option<u64> {
        let first = self.first?;
        let known = (1..=WEEKS).map(|week| start.0 - week * WEEK_MS).filter(|hour| *hour >= first);
        let counts: Vec<u64> = known.map(|hour| self.accepted(hour)).collect();
        let weeks = u64::try_from(counts.len()).ok().filter(|weeks| *weeks > 0)?;
        Some(counts.iter().sum::<u64>() / weeks)
    }

    /// Returns the messages of this UTC day until now.
    pub(crate) fn today(&self, now: Timestamp) -> u64 {
        hours_of_day(now).map(|hour| self.accepted(hour)).sum()
    }

    /// Compares the messages of this UTC day with the usual number until this time of day.
    pub(crate) fn today_note(&self, now: Timestamp) -> Option<String> {
        let hours: Vec<i64> = hours_of_day(now).collect();
        let (current, past) = hours.split_last()?;
        let mut usual = 0;
        for hour in past {
            usual += self.usual(Time(*hour))?;
        }
        let elapsed = u64::try_from(now.as_millis() - current).unwrap_or(0);
        usual += self.usual(Time(*current))? * elapsed / HOUR_MS.unsigned_abs();
        compared(self.today(now), usual)
    }
}

/// Returns the beginning of each hour of this UTC day until now.
fn hours_of_day(now: Timestamp) -> impl Iterator<Item = i64> {
    let start = now.as_millis().div_euclid(DAY_MS) * DAY_MS;
    let hours = (now.as_millis() - start) / HOUR_MS;
    (0..=hours).map(move |hour| start + hour * HOUR_MS)
}

fn compared(count: u64, usual: u64) -> Option<String> {
    if usual == 0 {
        return (count > 0).then(|| "None usually at this time".to_owned());
    }
    let percent = count.abs_diff(usual) * 100 / usual;
    let way = if count > usual { "above" } else { "below" };
    Some(if percent <= AS_USUAL_PERCENT {
        "As usual at this time".to_owned()
    } else if percent > 300 && count > usual {
        format!("{} × the usual number", grouped(count / usual))
    } else {
        format!("{percent} % {way} usual")
    })
}

#[cfg(test)]
#[path = "home_usual_tests.rs"]
mod tests;
