//! `hermod stats`: statistics over time.

use super::list::{Column, table_of};
use super::operator_client::{OperatorClient, with_query};
use super::record_notes::{bar, behind, time};
use super::tables::unless_zero;
use super::target::ClientCommand;
use crate::failure::CommandResult;
use crate::output::Align::{Left, Right};
use clap::Args;
use hermod_operator::statistics::{StatisticView, StatisticsQuery, StatisticsView, costs_text};

const EXAMPLES: &str = "\
Examples:
  hermod stats
  hermod stats --since 2h
  hermod stats --by account --since 7d
  hermod stats --account shop --by country --since 30d
  hermod stats --by carrier --value acme --per hour --since 2d
  hermod stats --by refusal --since 24h
  hermod stats --per day --since 2026-11-01 --csv > november.csv

A message counts in the interval in which it was accepted, also its end, so OPEN messages of old
intervals still wait for a receipt. DELIVERED is the share of messages that have ended. P50 and P95 are
times from acceptance to delivery. DUE TO CARRIERS and MARGIN are of messages that have ended and whose
cost is known: see docs/costs.md. Minutes are kept for 48 hours, hours for 90 days, days for 400 days.
Times are UTC.";

const SEVERAL_NOTE: &str =
    "The accounts have several currencies, which are not added up: each currency has its own rows.\n";

/// Characters of the longest bar.
const BAR_WIDTH: usize = 24;

/// Show statistics: messages, delivery, spend and times, with bars
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct StatsArgs {
    /// Only messages of this account
    #[arg(long, value_name = "NAME")]
    account: Option<String>,
    /// What is counted separately; connection needs --account
    #[arg(long, value_name = "WHAT", default_value = "all", value_parser = DIMENSIONS)]
    by: String,
    /// Only this account, connection, country, network, carrier, sender or error code
    #[arg(long, value_name = "VALUE", requires = "by")]
    value: Option<String>,
    /// Length of the intervals; with --by the intervals are added up unless this is given
    #[arg(long, value_name = "INTERVAL", value_parser = ["minute", "hour", "day"])]
    per: Option<String>,
    /// The beginning: 2026-11-15T09:30:00Z, 2026-11-15, or how long ago: 30m, 2h, 7d
    #[arg(long, value_name = "TIME", default_value = "24h")]
    since: String,
    /// The end [default: now]
    #[arg(long, value_name = "TIME")]
    until: Option<String>,
    /// Print intervals as CSV
    #[arg(long, conflicts_with = "json")]
    csv: bool,
}

const DIMENSIONS: [&str; 8] =
    ["all", "account", "connection", "country", "network", "carrier", "sender", "refusal"];

impl ClientCommand for StatsArgs {
    async fn run(self, client: &OperatorClient) -> CommandResult {
        let StatsArgs { account, by, value, per, since, until, csv } = self;
        let sum = (by != "all" && per.is_none() && !csv).then_some(true);
        let query = StatisticsQuery { account, by: Some(by), value, per, sum, since: Some(since), until };
        if csv {
            return client.print_file(&with_query("/statistics.csv", &query)).await;
        }
        let response = client.get(&with_query("/statistics", &query)).await?;
        client.print(&response, |view: StatisticsView| statistics_text(&view))
    }
}

/// A row with the count of its bar and the largest one.
struct Row {
    row: StatisticView,
    count: u64,
    most: u64,
}

/// Stands for what is counted separately, which gives its column the heading.
const COUNTED: &str = "counted";

const COLUMNS: [Column<Row>; 15] = [
    ("start", Left, |row| row.row.start.clone().unwrap_or_default()),
    (COUNTED, Left, |row| row.row.value.clone().unwrap_or_default()),
    ("messages", Right, |row| unless_zero(row.row.accepted)),
    ("parts", Right, |row| unless_zero(row.row.parts)),
    ("delivered", Right, |row| delivered(&row.row)),
    ("failed", Right, |row| unless_zero(row.row.undeliverable + row.row.rejected)),
    ("expired", Right, |row| unless_zero(row.row.expired)),
    ("open", Right, |row| unless_zero(row.row.open)),
    ("refused", Right, |row| unless_zero(row.row.refused)),
    ("spend", Right, |row| spend(&row.row)),
    ("due to carriers", Right, |row| costs_text(&row.row.costs)),
    ("margin", Right, |row| margin(&row.row)),
    ("p50", Right, |row| row.row.p50_ms.map(time).unwrap_or_default()),
    ("p95", Right, |row| row.row.p95_ms.map(time).unwrap_or_default()),
    ("", Left, |row| bar(row.count, row.most, BAR_WIDTH)),
];

fn statistics_text(view: &StatisticsView) -> String {
    let count = |row: &StatisticView| if view.by == "refusal" { row.refused } else { row.accepted };
    let most = view.items.iter().map(count).max().unwrap_or(0);
    let rows: Vec<Row> = view
        .items
        .iter()
        .map(|row| {
            let is_unknown = row.value.is_none() && view.by != "all";
            let value = if is_unknown { Some("(unknown)".to_owned()) } else { row.value.clone() };
            Row { row: StatisticView { value, ..row.clone() }, count: count(row), most }
        })
        .collect();
    let heading = match view.by.as_str() {
        "refusal" => "code",
        by => DIMENSIONS.into_iter().find(|known| *known == by).unwrap_or("value"),
    };
    let columns =
        COLUMNS.map(|(name, align, cell)| (if name == COUNTED { heading } else { name }, align, cell));
    let table = table_of(&columns, &rows, "No messages in this time.");
    let total: u64 = view.items.iter().map(count).sum();
    let what = if view.by == "refusal" { "rejected requests" } else { "messages" };
    let note = if has_several_currencies(view) { SEVERAL_NOTE } else { "" };
    format!(
        "{table}\n{note}{total} {what} from {} to {}, counted per {}.\n{}",
        view.since,
        view.until,
        view.per,
        behind(view.record)
    )
}

fn has_several_currencies(view: &StatisticsView) -> bool {
    let mut currencies = view.items.iter().filter_map(|row| row.currency.as_ref());
    let first = currencies.next();
    view.by != "account" && currencies.any(|other| Some(other) != first)
}

fn spend(row: &StatisticView) -> String {
    match (&row.spend, &row.currency) {
        _ if row.accepted == 0 => String::new(),
        // Of accounts that do not exist any more.
        (None, _) => "(unknown)".to_owned(),
        (Some(spend), None) => spend.to_string(),
        (Some(spend), Some(currency)) => format!("{spend} {currency}"),
    }
}

fn margin(row: &StatisticView) -> String {
    match (&row.margin, &row.currency) {
        (Some(margin), Some(currency)) => format!("{margin} {currency}"),
        // Without an exchange rate.
        (None, _) if !row.costs.is_empty() => "(unknown)".to_owned(),
        (Some(_) | None, _) => String::new(),
    }
}

/// Returns the share of delivered messages among those that have ended.
fn delivered(row: &StatisticView) -> String {
    let ended = row.delivered + row.expired + row.undeliverable + row.rejected;
    if ended == 0 {
        return String::new();
    }
    #[expect(clippy::cast_precision_loss, reason = "a share for people")]
    let share = row.delivered as f64 / ended as f64 * 100.0;
    format!("{share:.1}%")
}

#[cfg(test)]
#[path = "stats_tests.rs"]
mod tests;
