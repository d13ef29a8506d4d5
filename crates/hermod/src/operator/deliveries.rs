//! `hermod deliveries`: what became of what carriers took, and how long it took.

use super::links::percent;
use super::place::{Absent, Place};
use crate::client::escape;
use crate::ending::Ended;
use crate::show::Align::{Left, Right};
use crate::show::Table;
use clap::Args;
use serde::Deserialize;

const EXAMPLES: &str = "\
Examples:
  hermod deliveries
  hermod deliveries --days 1 --by country
  hermod deliveries --carrier acme --days 30

Figures are in parts. A receipt counts for the day its part was taken. DELIVERED is of those that
came to an end; OPEN are those without a final receipt so far. The bars show how many took up to
5 s, 15 s, 1 min, 5 min, 1 h, and longer.";

/// See what became of what carriers took
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Deliveries {
    /// So many days, today included
    #[arg(long, value_name = "N", default_value = "7")]
    days: u32,
    /// Only this carrier
    #[arg(long, value_name = "NAME")]
    carrier: Option<String>,
    /// What is told apart beside carriers
    #[arg(long, value_name = "WHAT", default_value = "network", value_parser = ["carrier", "country", "network"])]
    by: String,
    #[command(flatten)]
    place: Place,
}

#[derive(Deserialize)]
struct Report {
    from: String,
    to: String,
    items: Vec<Item>,
}

#[derive(Deserialize)]
struct Item {
    carrier: String,
    country: String,
    network: String,
    operator: String,
    sent: u64,
    failed: u64,
    expired: u64,
    rejected: u64,
    open: u64,
    delivery_ratio: Option<f64>,
    mean_seconds: Option<f64>,
    times: Vec<Time>,
}

#[derive(Deserialize)]
struct Time {
    parts: u64,
}

impl Deliveries {
    pub(crate) fn run(self) -> Ended {
        let Deliveries { days, carrier, by, place } = self;
        place.work(Absent::Refuse, async move |desk| {
            let only = carrier.map(|carrier| format!("&carrier={}", escape(&carrier))).unwrap_or_default();
            let answer = desk.get(&format!("/deliveries?days={days}&by={by}{only}")).await?;
            desk.tell(&answer, |report: Report| told(&report))
        })
    }
}

fn told(report: &Report) -> String {
    let mut table = Table::new(&[
        ("carrier", Left),
        ("country", Left),
        ("network", Left),
        ("operator", Left),
        ("sent", Right),
        ("delivered", Right),
        ("failed", Right),
        ("expired", Right),
        ("rejected", Right),
        ("open", Right),
        ("mean", Right),
        ("times", Left),
    ]);
    let some = |count: u64| if count == 0 { String::new() } else { count.to_string() };
    for item in &report.items {
        let parts: Vec<u64> = item.times.iter().map(|time| time.parts).collect();
        table.row([
            item.carrier.clone(),
            item.country.clone(),
            item.network.clone(),
            item.operator.clone(),
            item.sent.to_string(),
            percent(item.delivery_ratio),
            some(item.failed),
            some(item.expired),
            some(item.rejected),
            some(item.open),
            item.mean_seconds.map(|mean| format!("{mean:.1}s")).unwrap_or_default(),
            bars(&parts),
        ]);
    }
    let table = table.text("No carrier took anything.");
    format!("{table}\nFrom {} to {}, UTC days.\n", report.from, report.to)
}

/// One bar for each range, the tallest for the most.
fn bars(parts: &[u64]) -> String {
    const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let most = parts.iter().copied().max().unwrap_or(0);
    if most == 0 {
        return String::new();
    }
    let bar = |count: u64| match count {
        0 => '·',
        count => {
            let height = (u128::from(count) * 8).div_ceil(u128::from(most)).clamp(1, 8);
            BARS[usize::try_from(height).unwrap_or(8) - 1]
        }
    };
    parts.iter().map(|count| bar(*count)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_are_as_tall_as_what_they_count() {
        assert_eq!(bars(&[]), "");
        assert_eq!(bars(&[0, 0]), "");
        assert_eq!(bars(&[8, 4, 1, 0, 16]), "▄▂▁·█");
        assert_eq!(bars(&[u64::MAX, 1]), "█▁");
    }

    #[test]
    fn a_report_lines_up() {
        let report = r#"{"from": "2026-06-09", "to": "2026-06-15", "items": [
            {"carrier": "acme", "country": "DE", "country_name": "Germany", "network": "262-01", "operator": "Telekom",
             "sent": 1000, "delivered": 950, "failed": 40, "expired": 0, "rejected": 0, "open": 10, "delivery_ratio": 0.959,
             "mean_seconds": 4.2, "times": [{"within": "5s", "parts": 900}, {"within": null, "parts": 50}]}]}"#;
        let report: Report = serde_json::from_str(report).unwrap();
        let expect = "\
CARRIER  COUNTRY  NETWORK  OPERATOR  SENT  DELIVERED  FAILED  OPEN  MEAN  TIMES
acme     DE       262-01   Telekom   1000      95.9%      40    10  4.2s  █▁

From 2026-06-09 to 2026-06-15, UTC days.
";
        assert_eq!(told(&report), expect);
    }
}
