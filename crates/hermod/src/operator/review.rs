//! `hermod review`: messages that were held, and what was decided about them.

use super::desk::{Body, Desk};
use super::place::{Absent, Place};
use crate::ending::Ended;
use crate::show::Align::{Left, Right};
use crate::show::{self, Table};
use clap::{Args, Subcommand};
use hyper::Method;
use serde::Deserialize;
use serde_json::json;

const EXAMPLES: &str = "\
Examples:
  hermod review list
  hermod review show 7
  hermod review approve 7
  hermod review reject 7 --by alice

A message in which a screening rule found something was refused, not charged, and stands here.
Approved, the customer's own retry of it passes for a week.";

/// Messages held for review
#[derive(Args)]
#[command(after_help = EXAMPLES, arg_required_else_help = true)]
pub(crate) struct Review {
    #[command(flatten)]
    place: Place,
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    /// List cases, newest first
    #[command(after_help = "Examples:\n  hermod review list\n  hermod review list --state rejected")]
    List {
        /// Which ones
        #[arg(long, value_name = "STATE", value_parser = ["open", "approved", "rejected"], default_value = "open")]
        state: String,
        /// Only cases before this one
        #[arg(long, value_name = "ID")]
        before: Option<u64>,
    },
    /// Show one, with its text
    #[command(after_help = "Example:\n  hermod review show 7")]
    Show { id: u64 },
    /// Let the customer's retry pass
    #[command(after_help = "Example:\n  hermod review approve 7 --by alice")]
    Approve(Decide),
    /// Keep refusing it
    #[command(after_help = "Example:\n  hermod review reject 7 --by alice")]
    Reject(Decide),
}

#[derive(Args)]
struct Decide {
    /// The case
    id: u64,
    /// Who decided, for the record
    #[arg(long, value_name = "NAME", env = "USER", default_value = "operator")]
    by: String,
}

#[derive(Deserialize)]
struct Page {
    items: Vec<Case>,
    next: Option<u64>,
}

#[derive(Deserialize)]
struct Case {
    id: u64,
    account: String,
    from: String,
    to: String,
    text: String,
    rules: Vec<String>,
    state: String,
    seen: u64,
    opened_at: String,
    last_at: String,
    decided_at: Option<String>,
    decided_by: Option<String>,
}

impl Review {
    pub(crate) fn run(self) -> Ended {
        let Review { place, what } = self;
        place.work(Absent::Refuse, async move |desk| match what {
            What::List { state, before } => list(desk, &state, before).await,
            What::Show { id } => desk.tell(&desk.get(&format!("/reviews/{id}")).await?, described),
            What::Approve(decide) => decide.run(desk, "approve").await,
            What::Reject(decide) => decide.run(desk, "reject").await,
        })
    }
}

impl Decide {
    async fn run(self, desk: &Desk, verdict: &str) -> Ended {
        let Decide { id, by } = self;
        let path = format!("/reviews/{id}/{verdict}");
        let answer = desk.asked(Method::POST, &path, Body::Json(&json!({ "by": by }))).await?;
        desk.tell(&answer, |case: Case| format!("Case {} is {}.\n", case.id, case.state))
    }
}

async fn list(desk: &Desk, state: &str, before: Option<u64>) -> Ended {
    let before = before.map(|id| format!("&before={id}")).unwrap_or_default();
    let answer = desk.get(&format!("/reviews?state={state}{before}")).await?;
    desk.tell(&answer, |page: Page| {
        let mut table = Table::new(&[
            ("id", Right),
            ("opened", Left),
            ("account", Left),
            ("from", Left),
            ("to", Left),
            ("seen", Right),
            ("rules", Left),
        ]);
        for Case { id, account, from, to, rules, seen, opened_at, .. } in page.items {
            table.row([id.to_string(), opened_at, account, from, to, seen.to_string(), rules.join(", ")]);
        }
        let mut text = table.text(&format!("No case is {state}."));
        if let Some(next) = page.next {
            text.push_str(&format!("\nOlder ones: hermod review list --state {state} --before {next}\n"));
        }
        text
    })
}

fn described(case: Case) -> String {
    let Case { id, account, from, to, text, rules, state, seen, opened_at, last_at, decided_at, decided_by } =
        case;
    show::fields(&[
        ("case", id.to_string()),
        ("state", state),
        ("account", account),
        ("from", from),
        ("to", to),
        ("text", text),
        ("rules", rules.join(", ")),
        ("seen", format!("{seen} times, last {last_at}")),
        ("opened", opened_at),
        ("decided", decided_at.unwrap_or_default()),
        ("by", decided_by.unwrap_or_default()),
    ])
}
