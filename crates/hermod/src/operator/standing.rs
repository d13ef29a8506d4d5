//! How an account stands: what it is, what it has, and what it sent today.

use super::control::limit;
use super::desk::Desk;
use super::entries::{self, text};
use crate::client::Amount;
use crate::ending::{Ended, Failure};
use crate::show::Align::{Left, Right};
use crate::show::{self, Table};
use hermod_gateway::provision::Kind;
use serde::Deserialize;
use serde_json::Value;

/// An account's money, as the operator sees it.
#[derive(Deserialize)]
pub(super) struct Balance {
    pub(super) account: String,
    pub(super) currency: String,
    balance: Amount,
    credit_limit: Amount,
    credit_used: Amount,
    available: Amount,
    payment_terms: String,
}

impl Balance {
    pub(super) fn text(&self) -> String {
        let Balance { account: _, currency, balance, credit_limit, credit_used, available, payment_terms } =
            self;
        show::fields(&[
            ("balance", format!("{balance} {currency}")),
            ("credit limit", credit_limit.to_string()),
            ("credit used", credit_used.to_string()),
            ("available", available.to_string()),
            ("terms", payment_terms.clone()),
        ])
    }
}

#[derive(Deserialize)]
struct Named {
    entry: Value,
}

/// What an account has, for a list.
pub(super) async fn balance(desk: &Desk, name: &str) -> Result<String, Failure> {
    let money = desk.get(&format!("{}/balance", entries::path(Kind::Account, name))).await?;
    let Balance { balance, .. } = money.read_as().map_err(Failure::failed)?;
    Ok(balance.to_string())
}

pub(super) async fn show(desk: &Desk, name: &str) -> Ended {
    let path = entries::path(Kind::Account, name);
    let entry = desk.get(&path).await?;
    let money = desk.get(&format!("{path}/balance")).await?;
    if desk.json {
        let whole = format!("{{\"account\":{},\"money\":{}}}", entry.body.trim(), money.body.trim());
        return show::say_raw(&whole);
    }
    let Named { entry } = entry.read_as().map_err(Failure::failed)?;
    let money: Balance = money.read_as().map_err(Failure::failed)?;
    let yes_or_no = |field: &str| if entry[field] == true { "yes" } else { "no" }.to_owned();
    let countries = match text(&entry["countries"]) {
        countries if countries.is_empty() => "none: it can send nowhere".to_owned(),
        countries => countries,
    };
    show::say(&show::fields(&[
        ("account", text(&entry["name"])),
        ("verified", yes_or_no("verified")),
        ("countries", countries),
        ("closed", yes_or_no("closed")),
        ("minimum", text(&entry["minimum"])),
    ]))?;
    show::say(&money.text())
}

#[derive(Deserialize)]
struct Traffic {
    day: String,
    messages: u64,
    spend: Amount,
    controls: Vec<Value>,
}

pub(super) async fn traffic(desk: &Desk, name: &str) -> Ended {
    let answer = desk.get(&format!("{}/traffic", entries::path(Kind::Account, name))).await?;
    desk.tell(&answer, |Traffic { day, messages, spend, controls }: Traffic| {
        let mut table =
            Table::new(&[("control", Left), ("mode", Left), ("limit", Left), ("would have refused", Right)]);
        for control in &controls {
            table.row([
                text(&control["name"]),
                text(&control["mode"]),
                limit(control),
                // A control that enforces refuses what is beyond; only one that watches would have.
                if control["mode"] == "watch" { text(&control["would_have_refused"]) } else { String::new() },
            ]);
        }
        let today =
            show::fields(&[("day", day), ("messages", messages.to_string()), ("spend", spend.to_string())]);
        format!("{today}\n{}", table.text("No traffic control applies."))
    })
}
