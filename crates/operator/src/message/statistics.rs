//! Statistics over time, per interval or added up.

use crate::find::find_account;
use crate::input::{invalid, one_of};
use crate::message::filter::{end_or_now, range_of};
use crate::message::names::{Names, carrier_named, connection_named, scope_of};
use crate::message::views::{StatisticView, StatisticsQuery as Query, StatisticsView};
use crate::refusal::OperatorRefusal;
use hermod_domain::ids::{AccountId, CarrierId, ConnectionId};
use hermod_domain::time::Timestamp;
use hermod_gateway::gateway::Gateway;
use hermod_store::record::{Dimension, Figures, Resolution, Scope, StatisticRow, StatisticsQuery, Value};
use std::collections::BTreeMap;
use std::time::Duration;

/// How far back statistics go if the query does not say.
const BACK: Duration = Duration::from_secs(86_400);
/// Up to this range intervals are minutes, up to the next one hours.
const MINUTES_MAX: Duration = Duration::from_secs(3 * 3_600);
const HOURS_MAX: Duration = Duration::from_secs(4 * 86_400);

const DIMENSIONS: [Dimension; 8] = [
    Dimension::All,
    Dimension::Account,
    Dimension::Connection,
    Dimension::Country,
    Dimension::Network,
    Dimension::Carrier,
    Dimension::Sender,
    Dimension::Refusal,
];

const fn dimension_text(dimension: Dimension) -> &'static str {
    match dimension {
        Dimension::All => "all",
        Dimension::Account => "account",
        Dimension::Connection => "connection",
        Dimension::Country => "country",
        Dimension::Network => "network",
        Dimension::Carrier => "carrier",
        Dimension::Sender => "sender",
        Dimension::Refusal => "refusal",
    }
}

const fn resolution_text(resolution: Resolution) -> &'static str {
    match resolution {
        Resolution::Minute => "minute",
        Resolution::Hour => "hour",
        Resolution::Day => "day",
    }
}

/// What a query of statistics is about.
pub(crate) struct Wanted {
    pub(crate) scope: Scope,
    pub(crate) query: StatisticsQuery,
}

/// Parses a query of statistics.
pub(crate) fn wanted(gateway: &Gateway, query: &Query) -> Result<Wanted, OperatorRefusal> {
    let scope = scope_of(gateway, query.account.as_deref())?;
    let by = query.by.as_deref().map(|text| one_of("by", text, DIMENSIONS, dimension_text)).transpose()?;
    let by = by.unwrap_or(Dimension::All);
    match (scope, by) {
        (Scope::All, Dimension::Connection) => {
            return Err(invalid("by", "connections are counted within one account: give the account too"));
        }
        (Scope::Account(_), Dimension::Account) => {
            return Err(invalid("by", "accounts are counted over all accounts: leave the account out"));
        }
        _ => {}
    }
    let now = gateway.clock.now();
    let (from, until) = range_of(query.since.as_deref(), query.until.as_deref(), now)?;
    let until = end_or_now(until, now);
    let from = from.unwrap_or_else(|| until.minus(BACK));
    let per =
        query.per.as_deref().map(|text| one_of("per", text, Resolution::ALL, resolution_text)).transpose()?;
    let resolution = per.unwrap_or_else(|| resolution_for(until.since(from)));
    let value = query.value.as_deref().map(|text| value_of(gateway, by, text)).transpose()?;
    let from = resolution.start_of(from);
    Ok(Wanted { scope, query: StatisticsQuery { resolution, by, value, from, until } })
}

fn resolution_for(range: Duration) -> Resolution {
    if range <= MINUTES_MAX {
        Resolution::Minute
    } else if range <= HOURS_MAX {
        Resolution::Hour
    } else {
        Resolution::Day
    }
}

fn value_of(gateway: &Gateway, by: Dimension, text: &str) -> Result<Value, OperatorRefusal> {
    match by {
        Dimension::All => Err(invalid("value", "say with by what it is, such as by=country")),
        Dimension::Account => find_account(gateway, text).map(|id| Value::Id(id.get())),
        Dimension::Connection => connection_named(gateway, text).map(|id| Value::Id(id.get())),
        Dimension::Carrier => carrier_named(gateway, text).map(|id| Value::Id(id.get())),
        Dimension::Country | Dimension::Network | Dimension::Sender | Dimension::Refusal => {
            Ok(Value::Text(text.into()))
        }
    }
}

/// Returns statistics per interval, or added up.
pub async fn read_statistics(gateway: &Gateway, query: Query) -> Result<StatisticsView, OperatorRefusal> {
    let Wanted { scope, query: parsed } = wanted(gateway, &query)?;
    let StatisticsQuery { resolution, by, from, until, .. } = parsed;
    let rows = gateway.store.record().statistics(scope, parsed).await?;
    let names = Names::of(gateway);
    let items = if query.sum.unwrap_or(false) {
        added_up(&names, by, rows)
    } else {
        rows.iter().map(|row| row_view(&names, by, row)).collect()
    };
    Ok(StatisticsView {
        per: resolution_text(resolution).to_owned(),
        by: dimension_text(by).to_owned(),
        since: from.to_iso(),
        until: until.to_iso(),
        items,
        record: gateway.store.record().status().into(),
    })
}

pub(crate) fn row_view(names: &Names, by: Dimension, row: &StatisticRow) -> StatisticView {
    StatisticView::new(Some(row.start), value_text(names, by, &row.value), &row.figures)
}

fn added_up(names: &Names, by: Dimension, rows: Vec<StatisticRow>) -> Vec<StatisticView> {
    let mut sums: BTreeMap<Value, Figures> = BTreeMap::new();
    for row in rows {
        sums.entry(row.value).or_default().add(&row.figures);
    }
    let mut sums: Vec<_> = sums.into_iter().collect();
    sums.sort_by_key(|(_, figures)| std::cmp::Reverse((figures.accepted, figures.refused)));
    let no_start: Option<Timestamp> = None;
    sums.iter()
        .map(|(value, figures)| StatisticView::new(no_start, value_text(names, by, value), figures))
        .collect()
}

fn value_text(names: &Names, by: Dimension, value: &Value) -> Option<String> {
    match value {
        Value::None => None,
        Value::Text(text) => Some(text.to_string()),
        Value::Id(id) => Some(match by {
            Dimension::Account => names.account(AccountId::new(*id)),
            Dimension::Connection => names.connection(ConnectionId::new(*id)),
            Dimension::Carrier => names.carrier(CarrierId::new(*id)),
            _ => id.to_string(),
        }),
    }
}
