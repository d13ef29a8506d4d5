//! What happened to an account's money: entry by entry, and as a statement.

use super::desk::Desk;
use super::entries;
use crate::client::{Amount, escape};
use crate::ending::Ended;
use crate::show::Align::{Left, Right};
use crate::show::{Align, Table};
use clap::Args;
use hermod_gateway::clock::Clock;
use hermod_gateway::provision::Kind;
use serde::Deserialize;

#[derive(Args)]
pub(super) struct Ledger {
    /// The account
    name: String,
    /// Only entries before this one
    #[arg(long, value_name = "ID")]
    before: Option<u64>,
    /// At most so many
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=1000))]
    limit: u32,
}

#[derive(Deserialize)]
struct Page {
    items: Vec<Entry>,
    next: Option<u64>,
}

#[derive(Deserialize)]
struct Entry {
    id: u64,
    at: String,
    kind: String,
    balance: Amount,
    credit_used: Amount,
    reference: Option<String>,
    note: String,
}

const ENTRY_COLUMNS: [(&str, Align); 7] = [
    ("id", Right),
    ("at", Left),
    ("kind", Left),
    ("balance", Right),
    ("credit used", Right),
    ("reference", Left),
    ("note", Left),
];

impl Ledger {
    pub(super) async fn run(self, desk: &Desk) -> Ended {
        let Ledger { name, before, limit } = self;
        let before = before.map(|id| format!("&before={id}")).unwrap_or_default();
        let path = format!("{}/ledger?limit={limit}{before}", entries::path(Kind::Account, &name));
        desk.tell(&desk.get(&path).await?, |page: Page| {
            let mut table = Table::new(&ENTRY_COLUMNS);
            for Entry { id, at, kind, balance, credit_used, reference, note } in page.items {
                let reference = reference.unwrap_or_default();
                table.row([
                    id.to_string(),
                    at,
                    kind,
                    change(&balance),
                    change(&credit_used),
                    reference,
                    note,
                ]);
            }
            let mut text = table.text("Nothing was posted yet.");
            if let Some(next) = page.next {
                text.push_str(&format!("\nOlder ones: hermod account ledger {name} --before {next}\n"));
            }
            text
        })
    }
}

#[derive(Args)]
pub(super) struct Statement {
    /// The account
    name: String,
    /// The first day (UTC), such as 2026-11-01; otherwise the first of this month
    #[arg(long, value_name = "DAY")]
    from: Option<String>,
    /// The last day; otherwise today
    #[arg(long, value_name = "DAY")]
    to: Option<String>,
}

#[derive(Deserialize)]
struct Drawn {
    account: String,
    currency: String,
    from: String,
    to: String,
    opening: Funds,
    lines: Vec<Line>,
    closing: Funds,
    cut_off: bool,
}

#[derive(Deserialize)]
struct Funds {
    balance: Amount,
    credit_used: Amount,
}

#[derive(Deserialize)]
struct Line {
    day: String,
    kind: String,
    messages: Option<u64>,
    balance: Amount,
    credit_used: Amount,
    reference: Option<String>,
    note: Option<String>,
}

const LINE_COLUMNS: [(&str, Align); 7] = [
    ("day", Left),
    ("what", Left),
    ("messages", Right),
    ("balance", Right),
    ("credit used", Right),
    ("reference", Left),
    ("note", Left),
];

impl Statement {
    pub(super) async fn run(self, desk: &Desk) -> Ended {
        let Statement { name, from, to } = self;
        let today = today();
        let from = from.unwrap_or_else(|| format!("{}-01", &today[..7]));
        let to = to.unwrap_or(today);
        let account = entries::path(Kind::Account, &name);
        let path = format!("{account}/statement?from={}&to={}", escape(&from), escape(&to));
        desk.tell(&desk.get(&path).await?, drawn)
    }
}

fn drawn(statement: Drawn) -> String {
    let Drawn { account, currency, from, to, opening, lines, closing, cut_off } = statement;
    let mut table = Table::new(&LINE_COLUMNS);
    let bound = |day: &str, what: &str, funds: &Funds, table: &mut Table| {
        let (balance, used) = (funds.balance.to_string(), funds.credit_used.to_string());
        table.row([
            day.to_owned(),
            what.to_owned(),
            String::new(),
            balance,
            used,
            String::new(),
            String::new(),
        ]);
    };
    bound(&from, "opening", &opening, &mut table);
    for Line { day, kind, messages, balance, credit_used, reference, note } in lines {
        table.row([
            day,
            kind,
            messages.map(|count| count.to_string()).unwrap_or_default(),
            change(&balance),
            change(&credit_used),
            reference.unwrap_or_default(),
            note.unwrap_or_default(),
        ]);
    }
    bound(&to, "closing", &closing, &mut table);
    let mut text = format!("Account {account}, {from} to {to}, in {currency}\n\n{}", table.text(""));
    if cut_off {
        text.push_str("\nThere are more lines than fit: ask for fewer days.\n");
    }
    text
}

/// A change has its sign; no change is left blank.
fn change(amount: &Amount) -> String {
    match amount.to_string() {
        amount if amount == "0" => String::new(),
        amount if amount.starts_with('-') => amount,
        amount => format!("+{amount}"),
    }
}

fn today() -> String {
    Clock::real().now().to_iso()[..10].to_owned()
}
