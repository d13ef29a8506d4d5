//! `hermod reports`: what customers were not told about their messages.

use super::place::{Absent, Place};
use crate::client::escape;
use crate::ending::Ended;
use crate::show::Align::Left;
use crate::show::Table;
use clap::{Args, Subcommand};
use serde::Deserialize;

const EXAMPLES: &str = "\
Examples:
  hermod reports given-up
  hermod reports given-up --account shop";

/// See what customers were not told about their messages
#[derive(Args)]
#[command(after_help = EXAMPLES, arg_required_else_help = true)]
pub(crate) struct Reports {
    #[command(flatten)]
    place: Place,
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    /// Receipts that no bind took for 72 hours, or that were refused; listed for 30 days
    #[command(
        after_help = "Examples:\n  hermod reports given-up\n  hermod reports given-up --account shop --after 4711"
    )]
    GivenUp {
        /// Only those of this account
        #[arg(long, value_name = "NAME")]
        account: Option<String>,
        /// Those behind this number, as the last line of a page says
        #[arg(long, value_name = "N")]
        after: Option<u64>,
        /// So many at most
        #[arg(long, value_name = "N", default_value = "100")]
        limit: u32,
    },
}

#[derive(Deserialize)]
struct Page {
    items: Vec<Report>,
    next: Option<u64>,
}

#[derive(Deserialize)]
struct Report {
    account: String,
    system_id: Option<String>,
    message_id: String,
    stat: String,
    at: String,
    given_up_at: String,
    why: String,
}

impl Reports {
    pub(crate) fn run(self) -> Ended {
        let Reports { place, what: What::GivenUp { account, after, limit } } = self;
        let account = account.map(|account| format!("&account={}", escape(&account))).unwrap_or_default();
        let after = after.map(|after| format!("&after={after}")).unwrap_or_default();
        place.work(Absent::Refuse, async move |desk| {
            let answer = desk.get(&format!("/reports/given-up?limit={limit}{account}{after}")).await?;
            desk.tell(&answer, |page: Page| told(&page))
        })
    }
}

fn told(Page { items, next }: &Page) -> String {
    let mut table = Table::new(&[
        ("message", Left),
        ("account", Left),
        ("system id", Left),
        ("stat", Left),
        ("since", Left),
        ("given up", Left),
        ("why", Left),
    ]);
    for report in items {
        table.row([
            report.message_id.clone(),
            report.account.clone(),
            report.system_id.clone().unwrap_or_default(),
            report.stat.clone(),
            report.at.clone(),
            report.given_up_at.clone(),
            report.why.clone(),
        ]);
    }
    let mut text = table.text("Every report was taken.");
    if let Some(next) = next {
        text.push_str(&format!("\nThere may be more: --after {next}\n"));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_lines_up_and_names_the_next() {
        let page = r#"{"items": [{"number": 7, "account": "shop", "system_id": "shop", "message_id": "1234", "stat": "DELIVRD",
            "at": "2026-06-12T12:00:00Z", "given_up_at": "2026-06-15T12:00:01Z", "why": "nobody took it for 72 hours"}], "next": 7}"#;
        let expect = "\
MESSAGE  ACCOUNT  SYSTEM ID  STAT     SINCE                 GIVEN UP              WHY
1234     shop     shop       DELIVRD  2026-06-12T12:00:00Z  2026-06-15T12:00:01Z  nobody took it for 72 hours

There may be more: --after 7
";
        assert_eq!(told(&serde_json::from_str(page).unwrap()), expect);
        assert_eq!(told(&Page { items: Vec::new(), next: None }), "Every report was taken.\n");
    }
}
