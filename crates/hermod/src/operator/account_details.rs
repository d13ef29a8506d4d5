//! `hermod account show` and `hermod account traffic`: an account with its money, and its traffic of today.

use super::entries::{self, text};
use super::list::table;
use super::operator_client::OperatorClient;
use crate::failure::{CommandResult, Failure};
use crate::output;
use hermod_gateway::provision::Kind;
use hermod_gateway::views::entries::EntryView;
use hermod_gateway::views::money::{BalanceView, TrafficView};
use serde_json::Value;

pub(super) fn balance_fields(view: &BalanceView) -> [(&'static str, String); 5] {
    [
        ("balance", format!("{} {}", view.balance, view.currency)),
        ("credit limit", view.credit_limit.to_string()),
        ("credit used", view.credit_used.to_string()),
        ("available", view.available.to_string()),
        ("terms", view.payment_terms.clone()),
    ]
}

/// Returns the balance of an account, for a list.
pub(super) async fn balance(client: &OperatorClient, name: &str) -> Result<String, Failure> {
    let response = client.get(&format!("{}/balance", entries::path(Kind::Account, name))).await?;
    let view: BalanceView = response.read_as().map_err(Failure::failed)?;
    Ok(view.balance.to_string())
}

pub(super) async fn show(client: &OperatorClient, name: &str) -> CommandResult {
    let path = entries::path(Kind::Account, name);
    let entry = client.get(&path).await?;
    let money = client.get(&format!("{path}/balance")).await?;
    if client.json {
        let whole = format!("{{\"account\":{},\"money\":{}}}", entry.body.trim(), money.body.trim());
        return output::print_json(&whole);
    }
    let EntryView { entry, .. } = entry.read_as().map_err(Failure::failed)?;
    let money: BalanceView = money.read_as().map_err(Failure::failed)?;
    let field = |name: &str| entry.get(name).unwrap_or(&Value::Null);
    let yes_or_no = |name: &str| if *field(name) == true { "yes" } else { "no" }.to_owned();
    let countries = match text(field("countries")) {
        countries if countries.is_empty() => "none: it cannot send".to_owned(),
        countries => countries,
    };
    let mut fields = vec![
        ("account", text(field("name"))),
        ("verified", yes_or_no("verified")),
        ("countries", countries),
        ("closed", yes_or_no("closed")),
        ("minimum", text(field("minimum"))),
    ];
    fields.extend(balance_fields(&money));
    output::print(&output::fields(&fields))
}

pub(super) async fn traffic(client: &OperatorClient, name: &str) -> CommandResult {
    let response = client.get(&format!("{}/traffic", entries::path(Kind::Account, name))).await?;
    client.print(&response, |TrafficView { day, messages, spend, controls }| {
        let today =
            output::fields(&[("day", day), ("messages", messages.to_string()), ("spend", spend.to_string())]);
        format!("{today}\n{}", table(&controls))
    })
}
