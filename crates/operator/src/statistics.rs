//! Statistics over time: per interval or added up, and their export.

use crate::csv::{Cell, push_row};
use crate::export::{PageRead, Pages, Rows};
use crate::find::{find_account, find_carrier, find_connection};
use crate::http::response::CSV;
use crate::http::routes::{Routes, doc};
use crate::input::{invalid, one_of};
use crate::record::{ERRORS, Names, RecordView, end_or_now, range_of, scope_of, whole_ms};
use crate::refusal::Result;
use crate::views::amount::Amount;
use hermod_domain::ids::{AccountId, CarrierId, ConnectionId};
use hermod_domain::money::{Currency, Money};
use hermod_domain::operator_role::OperatorPermission;
use hermod_domain::time::Timestamp;
use hermod_gateway::gateway::Gateway;
use hermod_store::record::{
    CostSum, Dimension, Figures, Resolution, Scope, StatisticRow, StatisticsQuery as RecordQuery, Value,
};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use utoipa::{IntoParams, ToSchema};

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
pub struct StatisticsQuery {
    /// Only messages of this account.
    pub account: Option<String>,
    /// What is counted separately: `all` (nothing), `account`, `connection` (needs `account`), `country`, `network`,
    /// `carrier`, `sender` or `refusal` (rejected requests by code).
    #[param(pattern = "^(all|account|connection|country|network|carrier|sender|refusal)$", default = "all")]
    pub by: Option<String>,
    /// Only this account, connection, country, network, carrier, sender or code.
    pub value: Option<String>,
    /// The length of the intervals: `minute` (kept for 48 hours), `hour` (90 days) or `day` (400 days, UTC). Without it:
    /// minutes up to 3 hours, hours up to 4 days, otherwise days.
    #[param(pattern = "^(minute|hour|day)$")]
    pub per: Option<String>,
    /// `true`: adds the intervals up, one row for each value.
    pub sum: Option<bool>,
    /// The first interval: a time such as `2026-11-15T09:30:00Z`, a UTC day, or how long ago, such as `2h`. `24h` by
    /// default.
    pub since: Option<String>,
    /// The end; now by default.
    pub until: Option<String>,
}

/// Statistics. A message counts in the interval of its acceptance, also its end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct StatisticsView {
    #[schema(examples("hour"))]
    pub per: String,
    #[schema(examples("country"))]
    pub by: String,
    pub since: String,
    pub until: String,
    /// Intervals with messages, the oldest first; or added up, the value with the most messages first.
    pub items: Vec<StatisticView>,
    pub record: RecordView,
}

/// The figures of one interval and one value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct StatisticView {
    /// The beginning of the interval; null if the intervals were added up.
    pub start: Option<String>,
    /// The account, connection, country, network, carrier, sender or code; null for `all` and where it is unknown.
    #[schema(examples("DE"))]
    pub value: Option<String>,
    /// Messages that were accepted.
    pub accepted: u64,
    pub parts: u64,
    pub delivered: u64,
    pub expired: u64,
    pub undeliverable: u64,
    pub rejected: u64,
    /// Accepted and not ended.
    pub open: u64,
    /// Requests that were rejected.
    pub refused: u64,
    /// The currency of `spend` and `refunded`. Over accounts of several currencies, those of each currency have a row of their own;
    /// null for accounts that do not exist any more and requests that name no account.
    #[schema(examples("EUR"))]
    pub currency: Option<String>,
    /// What was charged; null without a currency.
    pub spend: Option<Amount>,
    /// Null without a currency.
    pub refunded: Option<Amount>,
    /// Half of the delivered messages were delivered within this time, right within a fifth.
    pub p50_ms: Option<u64>,
    /// 95 of 100 were.
    pub p95_ms: Option<u64>,
    /// What is due to carriers for messages that have ended and whose cost is known, by the currency of the costs.
    #[serde(default)]
    pub costs: Vec<DueCostView>,
    /// What remains of what the customers paid for these messages, in `currency`, at the exchange rates of the intervals; null without
    /// costs, without a currency and without an exchange rate.
    #[serde(default)]
    pub margin: Option<Amount>,
}

/// What is due to carriers in one currency.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct DueCostView {
    #[schema(examples("EUR"))]
    pub currency: String,
    pub due: Amount,
    /// Messages that the last carrier whose cost is known asks for in this currency.
    pub messages: u64,
}

impl StatisticView {
    /// `currency`: that of all accounts that the figures are of, and of the margin.
    pub fn new(
        start: Option<Timestamp>,
        value: Option<String>,
        figures: &Figures,
        currency: Option<Currency>,
        margin: Option<Money>,
    ) -> StatisticView {
        let due = |(currency, CostSum { messages, due, revenue: _ }): (Currency, CostSum)| DueCostView {
            currency: currency.to_string(),
            due: Amount(due),
            messages,
        };
        let amount = |money| currency.map(|_| Amount(money));
        StatisticView {
            start: start.map(Timestamp::to_iso),
            value,
            accepted: figures.accepted,
            parts: figures.parts,
            delivered: figures.delivered,
            expired: figures.expired,
            undeliverable: figures.undeliverable,
            rejected: figures.rejected,
            open: figures.open(),
            refused: figures.refused,
            currency: currency.map(|currency| currency.to_string()),
            spend: amount(figures.spend),
            refunded: amount(figures.refunded),
            p50_ms: figures.times.quantile(0.5).map(whole_ms),
            p95_ms: figures.times.quantile(0.95).map(whole_ms),
            costs: figures.costs.iter().map(due).collect(),
            margin: margin.map(Amount),
        }
    }
}

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
struct Wanted {
    scope: Scope,
    query: RecordQuery,
}

/// Parses a query of statistics.
fn wanted(gateway: &Gateway, query: &StatisticsQuery) -> Result<Wanted> {
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
    Ok(Wanted { scope, query: RecordQuery { resolution, by, value, from, until } })
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

fn value_of(gateway: &Gateway, by: Dimension, text: &str) -> Result<Value> {
    match by {
        Dimension::All => Err(invalid("value", "say with by what it is, such as by=country")),
        Dimension::Account => find_account(gateway, text).map(|id| Value::Id(id.get())),
        Dimension::Connection => find_connection(gateway, text).map(|id| Value::Id(id.get())),
        Dimension::Carrier => find_carrier(gateway, text).map(|id| Value::Id(id.get())),
        Dimension::Country | Dimension::Network | Dimension::Sender | Dimension::Refusal => {
            Ok(Value::Text(text.into()))
        }
    }
}

/// Returns statistics per interval, or added up.
pub async fn read_statistics(gateway: &Gateway, query: StatisticsQuery) -> Result<StatisticsView> {
    let Wanted { scope, query: parsed } = wanted(gateway, &query)?;
    let RecordQuery { resolution, by, from, until, .. } = parsed;
    let labels = Labels::of(gateway, scope, by);
    let rows = labels.read(gateway, scope, parsed).await?;
    let items = if query.sum.unwrap_or(false) {
        added_up(&labels, rows)
    } else {
        rows.iter().map(|row| row_view(&labels, row)).collect()
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

/// The figures of one interval and one value, with the currency of their money.
type CurrencyRow = (StatisticRow, Option<Currency>);

/// What the values of a query are called, and the currency of their money.
struct Labels {
    names: Names,
    by: Dimension,
    /// That of the account that the query is about, or of all accounts if they have the same one.
    currency: Option<Currency>,
}

impl Labels {
    fn of(gateway: &Gateway, scope: Scope, by: Dimension) -> Labels {
        let names = Names::of(gateway);
        let currency = match scope {
            Scope::Account(account) => names.known_currency(account),
            Scope::All => names.only_currency(),
        };
        Labels { names, by, currency }
    }

    /// Reads figures. If they are of accounts of several currencies, those of each currency are separate rows.
    async fn read(&self, gateway: &Gateway, scope: Scope, query: RecordQuery) -> Result<Vec<CurrencyRow>> {
        let record = gateway.store.record();
        let has_own_currency = matches!(query.by, Dimension::Account | Dimension::Refusal);
        if scope == Scope::All && self.currency.is_none() && !has_own_currency {
            return Ok(record.statistics_by_currency(query, self.names.currencies()).await?);
        }
        let rows = record.statistics(scope, query).await?;
        let currency_of = |row: &StatisticRow| match (self.by, &row.value) {
            (Dimension::Account, Value::Id(id)) => self.names.known_currency(AccountId::new(*id)),
            _ => self.currency,
        };
        let with_currency = |row| {
            let currency = currency_of(&row);
            (row, currency)
        };
        Ok(rows.into_iter().map(with_currency).collect())
    }

    fn view(
        &self,
        start: Option<Timestamp>,
        value: &Value,
        figures: &Figures,
        currency: Option<Currency>,
        margin: Option<Money>,
    ) -> StatisticView {
        StatisticView::new(start, value_text(&self.names, self.by, value), figures, currency, margin)
    }

    /// Returns what remains of the revenue of an interval, in the currency of its accounts.
    fn margin(&self, (row, currency): &CurrencyRow) -> Option<Money> {
        let to = (*currency)?;
        row.figures.costs.margin(|amount, from| self.names.convert(amount, from, to, row.start))
    }
}

fn row_view(labels: &Labels, both: &CurrencyRow) -> StatisticView {
    let (row, currency) = both;
    labels.view(Some(row.start), &row.value, &row.figures, *currency, labels.margin(both))
}

/// Intervals that are added up: the exchange rates of their margins may differ.
#[derive(Default)]
struct Sum {
    figures: Figures,
    margin: Money,
    /// The margin of an interval with costs is not known.
    lacks_margin: bool,
}

impl Sum {
    fn add(&mut self, figures: &Figures, margin: Option<Money>) {
        self.figures.add(figures);
        match margin.map(|margin| self.margin.checked_add(margin)) {
            Some(Some(sum)) => self.margin = sum,
            None if figures.costs.is_empty() => {}
            Some(None) | None => self.lacks_margin = true,
        }
    }

    fn margin(&self) -> Option<Money> {
        (!self.lacks_margin && !self.figures.costs.is_empty()).then_some(self.margin)
    }
}

fn added_up(labels: &Labels, rows: Vec<CurrencyRow>) -> Vec<StatisticView> {
    let mut sums: BTreeMap<(Value, Option<Currency>), Sum> = BTreeMap::new();
    for row in rows {
        let margin = labels.margin(&row);
        let (row, currency) = row;
        sums.entry((row.value, currency)).or_default().add(&row.figures, margin);
    }
    let mut sums: Vec<_> = sums.into_iter().collect();
    sums.sort_by_key(|(_, sum)| std::cmp::Reverse((sum.figures.accepted, sum.figures.refused)));
    let view = |((value, currency), sum): &((Value, Option<Currency>), Sum)| {
        labels.view(None, value, &sum.figures, *currency, sum.margin())
    };
    sums.iter().map(view).collect()
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

/// Intervals of statistics that are read at a time: few, so that the values of all of them fit in one result.
const PAGE_INTERVALS: u32 = 12;

/// Exports statistics, the oldest interval first.
pub async fn export_statistics(gateway: &Arc<Gateway>, query: StatisticsQuery) -> Result<Rows> {
    let wanted = wanted(gateway, &query)?;
    let (scope, next) = (wanted.scope, wanted.query.from);
    Rows::begin(gateway, "statistics", scope, &STATISTIC_HEADINGS, StatisticPages { wanted, next }).await
}

struct StatisticPages {
    wanted: Wanted,
    /// The interval that the next page begins with.
    next: Timestamp,
}

impl Pages for StatisticPages {
    fn read<'a>(&'a mut self, gateway: &'a Gateway, csv: &'a mut String) -> PageRead<'a> {
        Box::pin(async move {
            let Wanted { scope, query } = &self.wanted;
            let end = self.next.plus(query.resolution.length() * PAGE_INTERVALS).min(query.until);
            let slice = RecordQuery { from: self.next, until: end, ..query.clone() };
            let labels = Labels::of(gateway, *scope, query.by);
            let rows = labels.read(gateway, *scope, slice).await?;
            rows.iter().for_each(|row| push_statistic(csv, &row_view(&labels, row)));
            self.next = end;
            Ok(end < query.until)
        })
    }
}

const STATISTIC_HEADINGS: [&str; 17] = [
    "start",
    "value",
    "accepted",
    "parts",
    "delivered",
    "expired",
    "undeliverable",
    "rejected",
    "open",
    "refused",
    "spend",
    "refunded",
    "currency",
    "p50_ms",
    "p95_ms",
    "costs",
    "margin",
];

fn push_statistic(csv: &mut String, row: &StatisticView) {
    let costs = costs_text(&row.costs);
    let cells = [
        Cell::text(row.start.as_ref()),
        Cell::text(row.value.as_ref()),
        Cell::Number(row.accepted.to_string()),
        Cell::Number(row.parts.to_string()),
        Cell::Number(row.delivered.to_string()),
        Cell::Number(row.expired.to_string()),
        Cell::Number(row.undeliverable.to_string()),
        Cell::Number(row.rejected.to_string()),
        Cell::Number(row.open.to_string()),
        Cell::Number(row.refused.to_string()),
        Cell::number(row.spend),
        Cell::number(row.refunded),
        Cell::text(row.currency.as_ref()),
        Cell::number(row.p50_ms),
        Cell::number(row.p95_ms),
        Cell::Text(&costs),
        Cell::number(row.margin),
    ];
    push_row(csv, &cells);
}

/// Returns the costs of each currency in one text, such as `1.16 EUR, 0.2 USD`.
pub fn costs_text(costs: &[DueCostView]) -> String {
    let texts: Vec<String> = costs.iter().map(|cost| format!("{} {}", cost.due, cost.currency)).collect();
    texts.join(", ")
}

pub(crate) fn routes(routes: &mut Routes) {
    routes.section("Statistics", "Counted as messages are accepted and end: per minute, hour and day.");
    let statistics = |id, title, ok| doc(id, title, ok).errors(&ERRORS).errors(&["TOO_MUCH"]);
    routes.get(
        "/statistics",
        read_statistics,
        statistics("getStatistics", "Read statistics", "One row for each interval and value.").details(
            "A message counts in the interval of its acceptance, also its end. Intervals without messages are left out. Over \
             accounts of several currencies there is a row for each currency, because two currencies are never added up. At \
             most 5,000 rows.",
        )
            .least(OperatorPermission::Reading),
    );
    routes.get(
        "/statistics.csv",
        export_statistics,
        statistics("exportStatistics", "Export statistics", "A CSV file, the oldest interval first.")
            .errors(&["EXPORTS_RUNNING"])
            .without("sum")
            .media(CSV)
            .least(OperatorPermission::Reading),
    );
}
