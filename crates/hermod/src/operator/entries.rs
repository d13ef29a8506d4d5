//! What every kind of entry has in common: list, show, set, create, change, remove.

use super::changes::{SecretsTo, difference};
use super::fields::EntryFields;
use super::list::{Column, table_of};
use super::operator_client::{OperatorClient, RequestBody, with_query};
use crate::client::{ApiResponse, CallError, escape};
use crate::failure::{CommandResult, Failure};
use crate::output::{self, Paint};
use hermod_gateway::provision::Kind;
use hermod_gateway::views::entries::{AppliedView, EntriesQuery, EntryView, RotateQuery};
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

/// Replaces the secret of an entry by a random one, which is printed once or written to a file.
pub(super) async fn rotate(
    client: &OperatorClient,
    kind: Kind,
    name: &str,
    overlap: Option<String>,
    to: Option<&Path>,
) -> CommandResult {
    let to = SecretsTo::prepare(to)?;
    let path = with_query(&format!("{}/rotate", path(kind, name)), &RotateQuery { overlap });
    change_with_secrets(client, Method::POST, &path, RequestBody::None, to).await
}

/// Lists the entries of a kind, all or those of one account.
pub(super) async fn list(
    client: &OperatorClient,
    kind: Kind,
    account: Option<String>,
    columns: &[Column<Value>],
) -> CommandResult {
    let items = fetch_all(client, kind, account).await?;
    if client.json {
        return print_items(&items);
    }
    let entries: Vec<Value> = items.into_iter().map(|item| Value::Object(item.entry)).collect();
    output::print(&table(kind, columns, &entries))
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
        let response = client.get(&with_query(&format!("/{}", kind.plural()), &query)).await?;
        let page: Page<EntryView> = response.read_as().map_err(Failure::failed)?;
        items.extend(page.items);
        match page.next {
            Some(next) => query.after = Some(next),
            None => return Ok(items),
        }
    }
}

pub(super) fn print_items(items: &[EntryView]) -> CommandResult {
    output::print_json(&json!({ "items": items, "next": null }).to_string())
}

pub(super) fn table(kind: Kind, columns: &[Column<Value>], entries: &[Value]) -> String {
    table_of(columns, entries, &format!("There are no {} yet.", kind.plural()))
}

/// Shows all fields of an entry.
pub(super) async fn show(client: &OperatorClient, kind: Kind, name: &str) -> CommandResult {
    let response = client.get(&path(kind, name)).await?;
    client.print(&response, |EntryView { entry, .. }| {
        let written = |value: &Value| match value {
            Value::Bool(false) => "no".to_owned(),
            other => text(other),
        };
        let fields: Vec<(&str, String)> =
            entry.iter().map(|(field, value)| (field.as_str(), written(value))).collect();
        output::fields(&fields)
    })
}

pub(super) fn path(kind: Kind, name: &str) -> String {
    format!("/{}/{}", kind.plural(), escape(name))
}

/// Changes an entry, or creates it.
pub(super) async fn set(
    client: &OperatorClient,
    kind: Kind,
    name: &str,
    fields: EntryFields,
) -> CommandResult {
    set_at(client, path(kind, name), fields).await
}

/// Changes the entry at a path, which may have a query, or creates it.
pub(super) async fn set_at(client: &OperatorClient, path: String, fields: EntryFields) -> CommandResult {
    let fields = fields.into_value();
    let response =
        client.call(Method::PATCH, &path, &RequestBody::json(&fields)).await.map_err(Failure::failed)?;
    if response.status == 404 {
        return changed(client, &client.send(Method::PUT, &path, RequestBody::json(&fields)).await?);
    }
    changed(client, &response.accepted().map_err(|error| client.failure_of(&error))?)
}

/// Creates an entry that must not exist.
pub(super) async fn create(
    client: &OperatorClient,
    kind: Kind,
    name: &str,
    fields: EntryFields,
    secrets_to: Option<&Path>,
) -> CommandResult {
    let body = RequestBody::new_json(&fields.into_value());
    let to = SecretsTo::prepare(secrets_to)?;
    change_with_secrets(client, Method::PUT, &path(kind, name), body, to).await
}

/// Changes an entry that must exist.
pub(super) async fn patch(
    client: &OperatorClient,
    kind: Kind,
    name: &str,
    fields: EntryFields,
) -> CommandResult {
    if fields.is_empty() {
        return Err(Failure::usage("nothing to change: give at least one option"));
    }
    let body = RequestBody::json(&fields.into_value());
    changed(client, &client.send(Method::PATCH, &path(kind, name), body).await?)
}

pub(super) async fn remove(client: &OperatorClient, kind: Kind, name: &str) -> CommandResult {
    changed(client, &client.send(Method::DELETE, &path(kind, name), RequestBody::None).await?)
}

/// Prints what a request changed.
pub(super) fn changed(client: &OperatorClient, response: &ApiResponse) -> CommandResult {
    print_changes(client, response, SecretsTo::Output)
}

/// Sends a request that may generate secrets.
pub(super) async fn change_with_secrets(
    client: &OperatorClient,
    method: Method,
    path: &str,
    body: RequestBody,
    to: SecretsTo,
) -> CommandResult {
    let outcome = match client.call(method, path, &body).await {
        Ok(response) => response.accepted().map_err(|error| client.failure_of(&error)),
        Err(error) => Err(lost_response(&error)),
    };
    match outcome {
        Ok(response) => print_changes(client, &response, to),
        Err(failure) => to.discard().and(Err(failure)),
    }
}

pub(super) fn print_changes(client: &OperatorClient, response: &ApiResponse, to: SecretsTo) -> CommandResult {
    let applied: AppliedView = response.read_as().map_err(Failure::failed)?;
    if applied.has_changes() {
        client.note_write();
    }
    let hides = !to.is_output();
    let secrets = to.write(&applied.secrets)?;
    let text = if !client.json {
        format!("{}{secrets}", difference(&applied, Paint::for_output()))
    } else if hides {
        let mut body: Value = response.read_as().map_err(Failure::failed)?;
        for secret in body["secrets"].as_array_mut().into_iter().flatten() {
            secret["secret"] = Value::from("(in the file)");
        }
        format!("{body}\n")
    } else {
        format!("{}\n", response.body.trim_end())
    };
    if hides || applied.secrets.is_empty() {
        return output::print(&text);
    }
    let again = "hermod key rotate KEY or hermod webhook secret stage ACCOUNT makes another secret";
    output::print_once(&text).map_err(|failure| failure.with_advice(again))
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
