//! Limits: rates, windows, daily limits and traffic controls, how much of them is used, and what was rejected.

use crate::elements::{Chip, Fact, Freshness, Notice, Tone};
use crate::layout::{NavEntry, Shell};
use crate::numbers::{amount, duration, grouped};
use crate::request::member::Member;
use crate::request::remedies;
use crate::request::reply::{NoPage, Reply, page};
use crate::request::shown::{freshness, time};
use askama::Template;
use hermod_domain::catalogue::{Connection, Tier};
use hermod_domain::ids::ConnectionId;
use hermod_domain::permission::Permission;
use hermod_operator::money::use_cases::show_traffic;
use hermod_operator::money::views::{ControlView, TrafficView};
use hermod_operator::request::{RequestsQuery, group_requests, list_requests};
use hermod_operator::statistics;
use hermod_operator::statistics::StatisticsQuery;
use hermod_operator::views::paging::Limit;
use std::collections::HashMap;

/// `GET /accounts/{account}/limits`.
#[derive(Clone, Debug, Template)]
#[template(path = "limits.html")]
pub struct LimitsPage {
    pub shell: Shell,
    /// What stops messages now: a missing verification, a daily limit that is used up.
    pub notices: Vec<Notice>,
    /// Verification, tier and throughput.
    pub facts: Vec<Fact>,
    /// `None` if the role may not see connections.
    pub connections: Option<Vec<ConnectionLimitsCard>>,
    pub controls: Vec<ControlRow>,
    /// Requests that a rate or a control rejected in the last 24 hours, by code.
    pub rejected: Vec<RejectedRow>,
    /// Where to request more; `None` if the role may not.
    pub request: Option<String>,
    pub freshness: Freshness,
}

/// The limits of a connection.
#[derive(Clone, Debug, Default)]
pub struct ConnectionLimitsCard {
    pub name: String,
    /// Requests per second.
    pub rate: String,
    /// Messages that were accepted in the last hour.
    pub accepted: String,
    /// The most messages that were accepted in one minute of the last hour.
    pub busiest: String,
    /// Requests over the rate in the last hour.
    pub limited: String,
    /// Whether there were any.
    pub is_limited: bool,
    /// The window of each bind and the most binds; `None` without SMPP access.
    pub smpp: Option<String>,
}

/// A traffic control.
#[derive(Clone, Debug)]
pub struct ControlRow {
    pub name: String,
    /// Such as `20 messages per hour to one number`.
    pub limit: String,
    /// Open, used up, or watching.
    pub state: Chip,
    /// How much is used, as far as it is known.
    pub used: String,
    /// When it opens again.
    pub opens: String,
}

/// Rejected requests with one code.
#[derive(Clone, Debug)]
pub struct RejectedRow {
    pub code: String,
    pub count: String,
    pub last: Option<crate::Time>,
    pub what_to_do: String,
}

/// The codes of requests that a limit rejects.
const LIMIT_CODES: [&str; 2] = ["RATE_LIMITED", "TRAFFIC_CONTROL"];
/// Requests over the rate that are counted by connection.
const COUNTED_MAX: usize = 1_000;
/// When a daily limit opens again.
const NEXT_DAY: &str = "at 00:00 UTC";

/// `GET /accounts/{account}/limits`.
pub(crate) async fn show(member: Member) -> Reply {
    member.require(Permission::ReadMessages)?;
    let account = Some(member.account_name.clone());
    let traffic = show_traffic(member.gateway(), &member.account_name).await?;
    let query =
        RequestsQuery { account: account.clone(), since: Some("24h".to_owned()), ..RequestsQuery::default() };
    let groups = group_requests(member.gateway(), query).await?;
    let limited = groups.items.into_iter().filter(|group| LIMIT_CODES.contains(&group.code.as_str()));
    let rejected = limited.map(|group| RejectedRow {
        what_to_do: remedies::words(&group.code),
        code: group.code,
        count: grouped(group.count),
        last: group.last.as_ref().and_then(|last| time(&last.at)),
    });
    let rejected: Vec<RejectedRow> = rejected.collect();
    let connections = match member.may(Permission::ReadSetup) {
        true => Some(connections(&member).await?),
        false => None,
    };
    let shell = member.shell(NavEntry::Limits);
    let controls: Vec<ControlRow> = traffic.controls.iter().map(|one| control(one, &traffic)).collect();
    let can_request = member.may(Permission::MakeRequests);
    Ok(page(&LimitsPage {
        notices: notices(&member, &controls),
        facts: facts(&member, &traffic)?,
        connections,
        controls,
        rejected,
        request: can_request.then(|| shell.path("requests")),
        freshness: freshness(&member.gateway().clock, groups.record),
        shell,
    }))
}

fn notices(member: &Member, controls: &[ControlRow]) -> Vec<Notice> {
    let mut notices = Vec::new();
    let catalogue = member.gateway().catalogue();
    let is_verified = catalogue.account(member.account).is_some_and(|view| view.account.verified);
    if !is_verified {
        let notice =
            Notice::new(Tone::Bad, "The identity of this account is not verified: nothing can be sent.");
        notices.push(match member.may(Permission::MakeRequests) {
            true => notice.with_link("Request the verification", &member.path("requests?kind=verification")),
            false => notice,
        });
    }
    for control in controls.iter().filter(|control| control.state.tone == Tone::Bad) {
        let text =
            format!("{} is used up: messages are rejected until it opens {}.", control.limit, control.opens);
        notices.push(Notice::new(Tone::Bad, text));
    }
    notices
}

fn facts(member: &Member, traffic: &TrafficView) -> Result<Vec<Fact>, NoPage> {
    let catalogue = member.gateway().catalogue();
    let view = catalogue.account(member.account).ok_or(NoPage::NotFound)?;
    let (tier, usual) = match view.account.tier {
        Tier::Standard => ("Standard", "100 parts a second over all binds"),
        Tier::Enterprise => ("Enterprise", "10,000 parts a second on each bind"),
    };
    let throughput = match (view.account.smpp_rate, view.account.tier) {
        (None, _) => usual.to_owned(),
        (Some(rate), Tier::Standard) => format!("{} parts a second over all binds", grouped(rate.into())),
        (Some(rate), Tier::Enterprise) => format!("{} parts a second on each bind", grouped(rate.into())),
    };
    let verified = if view.account.verified { "Verified" } else { "Not verified" };
    let mut facts = vec![
        Fact::new("Identity", verified),
        Fact::new("Tier", tier),
        Fact::new("SMPP throughput", throughput),
        Fact::new("Messages today", grouped(traffic.messages)),
    ];
    if member.may(Permission::ReadMoney) {
        let spend = amount(&traffic.spend.to_string());
        facts.push(Fact::new("Spend today", format!("{spend} {}", view.account.currency)));
    }
    Ok(facts)
}

/// Returns the connections of the account with their use in the last hour, in the order of their names.
async fn connections(member: &Member) -> Result<Vec<ConnectionLimitsCard>, NoPage> {
    let gateway = member.gateway();
    let account = Some(member.account_name.clone());
    let query = StatisticsQuery {
        account: account.clone(),
        by: Some("connection".to_owned()),
        per: Some("minute".to_owned()),
        since: Some("1h".to_owned()),
        ..StatisticsQuery::default()
    };
    let minutes = statistics::read_statistics(gateway, query).await?;
    let mut used: HashMap<String, (u64, u64)> = HashMap::new();
    for minute in minutes.items {
        let (accepted, busiest) = used.entry(minute.value.unwrap_or_default()).or_default();
        *accepted += minute.accepted;
        *busiest = (*busiest).max(minute.accepted);
    }
    let over = RequestsQuery {
        account,
        code: Some("RATE_LIMITED".to_owned()),
        since: Some("1h".to_owned()),
        limit: Limit::try_from(COUNTED_MAX.to_string()).ok(),
        ..RequestsQuery::default()
    };
    let over = list_requests(gateway, over).await?;
    let is_more = over.items.len() >= COUNTED_MAX;
    let mut limited: HashMap<String, u64> = HashMap::new();
    for request in over.items {
        *limited.entry(request.connection.unwrap_or_default()).or_default() += 1;
    }
    let catalogue = gateway.catalogue();
    let row = |(_, name, connection): (ConnectionId, &str, &Connection)| {
        let (accepted, busiest) = used.get(name).copied().unwrap_or_default();
        let limited = limited.get(name).copied().unwrap_or_default();
        let plus = if is_more && limited > 0 { "+" } else { "" };
        ConnectionLimitsCard {
            name: name.to_owned(),
            rate: grouped(connection.requests_per_second.into()),
            accepted: grouped(accepted),
            busiest: grouped(busiest),
            limited: format!("{}{plus}", grouped(limited)),
            is_limited: limited > 0,
            smpp: connection.smpp.as_ref().map(|smpp| {
                format!("window {}, at most {} binds", smpp.window, grouped(smpp.max_binds.into()))
            }),
        }
    };
    let mut rows: Vec<ConnectionLimitsCard> =
        catalogue.connections_of(member.account).into_iter().map(row).collect();
    rows.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(rows)
}

/// Returns a control in words. Only daily totals are known as a whole; other controls count each number for itself.
fn control(view: &ControlView, traffic: &TrafficView) -> ControlRow {
    let watches = view.mode == "watch";
    let daily = |limit: String, used: String, is_used_up: bool| {
        let state = match (watches, is_used_up) {
            (true, _) => Chip::new(Tone::Neutral, "Watching"),
            (false, true) => Chip::new(Tone::Bad, "Used up"),
            (false, false) => Chip::new(Tone::Good, "Open"),
        };
        (limit, state, used, NEXT_DAY.to_owned())
    };
    let velocity = |limit: String, per_ms: u64| {
        let chip = if watches { (Tone::Neutral, "Watching") } else { (Tone::Good, "Enforced") };
        let used = match watches {
            true => format!("{} over the limit since the gateway started", grouped(view.would_have_refused)),
            false => "counted for each".to_owned(),
        };
        (limit, Chip::new(chip.0, chip.1), used, format!("within {}", duration(per_ms)))
    };
    let ms = |per: &hermod_gateway::config::Period| u64::try_from(per.0.as_millis()).unwrap_or(u64::MAX);
    let words = |most: u32, per_ms: u64, of: &str| {
        format!("{} messages in {} {of}", grouped(most.into()), duration(per_ms))
    };
    let (limit, state, used, opens) = if let Some(most) = view.spend_per_day {
        let used = format!("{} today", amount(&traffic.spend.to_string()));
        daily(format!("{} spent in a day", amount(&most.to_string())), used, traffic.spend.0 >= most.0)
    } else if let Some(most) = view.messages_per_day {
        let used = format!("{} today", grouped(traffic.messages));
        daily(format!("{} messages in a day", grouped(most)), used, traffic.messages >= most)
    } else if let Some(limit) = &view.per_recipient {
        velocity(words(limit.most, ms(&limit.per), "to one number"), ms(&limit.per))
    } else if let Some(limit) = &view.per_range {
        velocity(words(limit.most, ms(&limit.per), "to one range of numbers"), ms(&limit.per))
    } else if let Some(limit) = &view.per_country {
        velocity(words(limit.most, ms(&limit.per), "to one country"), ms(&limit.per))
    } else {
        velocity(String::new(), 0)
    };
    ControlRow { name: view.name.clone(), limit, state, used, opens }
}

#[cfg(test)]
#[path = "limits_tests.rs"]
mod tests;
