//! What every kind of entry has in common: list, show, set, create, change, remove.

use super::changes::{SecretsTo, difference};
use super::fields::Fields;
use super::list::{Column, table_of};
use super::operator_client::{Body, OperatorClient, with_query};
use crate::client::{Answer, CallError, escape};
use crate::ending::{Ended, Failure};
use crate::paint::Paint;
use crate::show;
use hermod_gateway::provision::Kind;
use hermod_gateway::views::entries::{AppliedView, EntriesQuery, EntryView};
use hermod_gateway::views::paging::{Limit, Page};
use hyper::Method;
use serde_json::{Value, json};
use std::path::Path;

/// Returns a value as text; false and null are empty.
pub(super) fn text(value: &Value) -> String {
    match value {
        Value::Null | Value::Bool(false) => String::new(),
        Value::Bool(true) => "yes".to_owned(),
        Value::Number(number) => number.to_string(),
        Value::String(text) => text.clone(),
        Value::Array(values) => values.iter().map(text).collect::<Vec<_>>().join(", "),
        Value::Object(fields) => {
            let sides = fields.iter().map(|(name, value)| format!("{name} {}", text(value)));
            sides.collect::<Vec<_>>().join(", ")
        }
    }
}

/// Lists the entries of a kind, all or those of one account.
pub(super) async fn list(
    client: &OperatorClient,
    kind: Kind,
    account: Option<String>,
    columns: &[Column<Value>],
) -> Ended {
    let items = fetch_all(client, kind, account).await?;
    if client.json {
        return print_items(&items);
    }
    let entries: Vec<Value> = items.into_iter().map(|item| Value::Object(item.entry)).collect();
    show::print(&table(kind, columns, &entries))
}

/// Fetches the entries of a kind, page after page.
pub(super) async fn fetch_all(
    client: &OperatorClient,
    kind: Kind,
    account: Option<String>,
) -> Result<Vec<EntryView>, Failure> {
    let mut items = Vec::new();
    let mut query = EntriesQuery { account, after: None, limit: Some(Limit::MAX) };
    loop {
        let answer = client.get(&with_query(&format!("/{}", kind.plural()), &query)).await?;
        let page: Page<EntryView> = answer.read_as().map_err(Failure::failed)?;
        items.extend(page.items);
        match page.next {
            Some(next) => query.after = Some(next),
            None => return Ok(items),
        }
    }
}

pub(super) fn print_items(items: &[EntryView]) -> Ended {
    show::print_json(&json!({ "items": items, "next": null }).to_string())
}

pub(super) fn table(kind: Kind, columns: &[Column<Value>], entries: &[Value]) -> String {
    table_of(columns, entries, &format!("There are no {} yet.", kind.plural()))
}

/// Shows all fields of an entry.
pub(super) async fn show(client: &OperatorClient, kind: Kind, name: &str) -> Ended {
    let answer = client.get(&path(kind, name)).await?;
    client.print(&answer, |EntryView { entry, .. }| {
        let written = |value: &Value| match value {
            Value::Bool(false) => "no".to_owned(),
            other => text(other),
        };
        let fields: Vec<(&str, String)> =
            entry.iter().map(|(field, value)| (field.as_str(), written(value))).collect();
        show::fields(&fields)
    })
}

pub(super) fn path(kind: Kind, name: &str) -> String {
    format!("/{}/{}", kind.plural(), escape(name))
}

/// Changes an entry, or creates it.
pub(super) async fn set(client: &OperatorClient, kind: Kind, name: &str, fields: Fields) -> Ended {
    set_at(client, path(kind, name), fields).await
}

/// Changes the entry at a path, which may have a query, or creates it.
pub(super) async fn set_at(client: &OperatorClient, path: String, fields: Fields) -> Ended {
    let fields = fields.into_value();
    let answer = client.call(Method::PATCH, &path, &Body::json(&fields)).await.map_err(Failure::failed)?;
    if answer.status == 404 {
        return changed(client, &client.send(Method::PUT, &path, Body::json(&fields)).await?);
    }
    changed(client, &answer.accepted().map_err(|refused| client.refused(&refused))?)
}

/// Creates an entry that must not exist.
pub(super) async fn create(
    client: &OperatorClient,
    kind: Kind,
    name: &str,
    fields: Fields,
    secrets_to: Option<&Path>,
) -> Ended {
    let body = Body::new_json(&fields.into_value());
    let to = SecretsTo::prepare(secrets_to)?;
    change_with_secrets(client, Method::PUT, &path(kind, name), body, to).await
}

/// Changes an entry that must exist.
pub(super) async fn patch(client: &OperatorClient, kind: Kind, name: &str, fields: Fields) -> Ended {
    if fields.is_empty() {
        return Err(Failure::usage("nothing to change: give at least one option"));
    }
    let body = Body::json(&fields.into_value());
    changed(client, &client.send(Method::PATCH, &path(kind, name), body).await?)
}

pub(super) async fn remove(client: &OperatorClient, kind: Kind, name: &str) -> Ended {
    changed(client, &client.send(Method::DELETE, &path(kind, name), Body::None).await?)
}

/// Prints what a request changed.
pub(super) fn changed(client: &OperatorClient, answer: &Answer) -> Ended {
    print_changes(client, answer, SecretsTo::Output)
}

/// Sends a request that may generate secrets.
pub(super) async fn change_with_secrets(
    client: &OperatorClient,
    method: Method,
    path: &str,
    body: Body,
    to: SecretsTo,
) -> Ended {
    let outcome = match client.call(method, path, &body).await {
        Ok(answer) => answer.accepted().map_err(|refused| client.refused(&refused)),
        Err(error) => Err(lost_response(&error)),
    };
    match outcome {
        Ok(answer) => print_changes(client, &answer, to),
        Err(failure) => to.discard().and(Err(failure)),
    }
}

pub(super) fn print_changes(client: &OperatorClient, answer: &Answer, to: SecretsTo) -> Ended {
    let applied: AppliedView = answer.read_as().map_err(Failure::failed)?;
    if applied.has_changes() {
        client.note_write();
    }
    let hides = !to.is_output();
    let secrets = to.write(&applied.secrets)?;
    let text = if !client.json {
        format!("{}{secrets}", difference(&applied, Paint::for_output()))
    } else if hides {
        let mut body: Value = answer.read_as().map_err(Failure::failed)?;
        for secret in body["secrets"].as_array_mut().into_iter().flatten() {
            secret["secret"] = Value::from("(in the file)");
        }
        format!("{body}\n")
    } else {
        format!("{}\n", answer.body.trim_end())
    };
    if hides || applied.secrets.is_empty() {
        return show::print(&text);
    }
    let again = "hermod key rotate KEY or hermod webhook secret stage ACCOUNT makes another secret";
    show::print_once(&text).map_err(|failure| failure.with_advice(again))
}

/// The failure of a request whose response was lost: a secret may have been generated and not printed.
pub(super) fn lost_response(error: &CallError) -> Failure {
    match error {
        CallError::Unreachable(_) => Failure::failed(error),
        CallError::Lost(_) => Failure::failed(format!(
            "{error}. Run the command again to see the result; if secrets were generated, hermod key rotate KEY or hermod \
             webhook secret stage ACCOUNT makes others"
        )),
    }
}
