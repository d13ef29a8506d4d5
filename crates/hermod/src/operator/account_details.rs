//! `hermod account show` and `hermod account traffic`: an account with its money, and its traffic of today.

use super::entries;
use super::list::table;
use super::operator_client::OperatorClient;
use crate::failure::{CommandResult, Failure};
use crate::output;
use hermod_operator::entry::views::EntryView;
use hermod_operator::kind::Kind;
use hermod_operator::money::views::{BalanceView, TrafficView};
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
    let mut fields = entries::shown_fields(Kind::Account, &entry);
    if entry.get("countries").and_then(Value::as_array).is_some_and(Vec::is_empty) {
        fields.push(("countries", "none: it cannot send".to_owned()));
    }
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
