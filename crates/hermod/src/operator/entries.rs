//! What every kind of entry has in common: list, show, set, create, change, remove.

use super::changes::{SecretsTo, difference};
use super::fields::EntryFields;
use super::operator_client::{FILE_TIMEOUT, OperatorClient, RequestBody, with_query};
use crate::client::{ApiResponse, CallError, escape};
use crate::failure::{CommandResult, Failure};
use crate::output::{self, Align, Paint, TextTable};
use hermod_operator::csv::{self, Cell};
use hermod_operator::entry::fields::{EntryField, fields_of};
use hermod_operator::entry::views::{AppliedView, EntriesQuery, EntryView};
use hermod_operator::kind::Kind;
use hermod_operator::money::views::BalanceView;
use hermod_operator::price;
use hermod_operator::views::paging::{Limit, Page};
use hyper::Method;
use serde_json::{Map, Value, json};
use std::collections::HashSet;
use std::path::Path;

/// Lists the entries of a kind, all or those of one account. Accounts have a column with their balance. `at`: a time for which the
/// prices, costs or exchange rates that apply are marked. The columns are the same as CSV, with whole values.
pub(super) async fn list(
    client: &OperatorClient,
    kind: Kind,
    account: Option<String>,
    at: Option<&str>,
    csv: bool,
) -> CommandResult {
    let items = fetch_all(client, kind, account).await?;
    let until = |item: &'_ EntryView| item.entry.get("until").and_then(Value::as_str).map(str::to_owned);
    let ends: Vec<Option<String>> = items.iter().map(until).collect();
    let entries = items.iter().zip(&ends).map(|(item, until)| (item.name.as_str(), until.as_deref()));
    let in_force = at.map(|at| price::in_force_at(entries, at)).transpose();
    let in_force = in_force.map_err(|error| Failure::usage(format!("--at: {error}")))?;
    if client.json {
        return output::print_json(
            &json!({ "items": marked(&items, in_force.as_ref()), "next": null }).to_string(),
        );
    }
    let mut columns =
        vec![Column { name: "name", cells: items.iter().map(|item| item.name.clone()).collect() }];
    if kind == Kind::Account {
        let mut balances = Vec::new();
        for item in &items {
            balances.push(balance(client, &item.name).await?);
        }
        columns.push(Column { name: "balance", cells: balances });
    }
    if let Some(in_force) = &in_force {
        let cell = |item: &EntryView| if in_force.contains(item.name.as_str()) { "yes" } else { "" };
        columns.push(Column {
            name: "applies",
            cells: items.iter().map(|item| cell(item).to_owned()).collect(),
        });
    }
    for field in fields_of(kind).iter().filter(|field| field.is_column) {
        let cell = |item: &EntryView| match item.entry.get(&field.name) {
            Some(value) if csv => field.cell(value),
            None | Some(Value::Bool(false)) => String::new(),
            Some(value) => field.text(value),
        };
        columns.push(Column { name: &field.name, cells: items.iter().map(cell).collect() });
    }
    if csv {
        return output::print(&csv_of(&columns));
    }
    output::print(&table(&columns, &format!("There are no {} yet.", kind.in_words())))
}

/// Returns the entries as JSON, with whether each price applies if that was asked.
fn marked(items: &[EntryView], in_force: Option<&HashSet<&str>>) -> Value {
    let item = |item: &EntryView| {
        let mut shown = json!(item);
        if let Some(in_force) = in_force {
            shown["applies"] = Value::Bool(in_force.contains(item.name.as_str()));
        }
        shown
    };
    items.iter().map(item).collect()
}

/// Returns the balance of an account, for a list.
async fn balance(client: &OperatorClient, name: &str) -> Result<String, Failure> {
    let response = client.get(&format!("{}/balance", path(Kind::Account, name))).await?;
    let view: BalanceView = response.read_as().map_err(Failure::failed)?;
    Ok(view.balance.to_string())
}

/// A column of a list of entries.
struct Column<'n> {
    /// As in a provision file.
    name: &'n str,
    cells: Vec<String>,
}

impl Column<'_> {
    fn heading(&self) -> String {
        match self.name {
            "fail_over_refusals" => "fails over after rejections".to_owned(),
            name => name.replace('_', " "),
        }
    }

    /// Numbers stand on the right.
    fn align(&self) -> Align {
        let is_number =
            |cell: &String| cell.bytes().all(|byte| byte.is_ascii_digit() || b".-".contains(&byte));
        if self.name != "name" && self.cells.iter().all(is_number) { Align::Right } else { Align::Left }
    }
}

fn csv_of(columns: &[Column<'_>]) -> String {
    let mut csv = String::new();
    csv::push_headings(&mut csv, &columns.iter().map(|column| column.name).collect::<Vec<_>>());
    for row in 0..columns.first().map_or(0, |names| names.cells.len()) {
        let cells: Vec<Cell<'_>> = columns.iter().map(|column| Cell::of(&column.cells[row])).collect();
        csv::push_row(&mut csv, &cells);
    }
    csv
}

fn table(columns: &[Column<'_>], empty: &str) -> String {
    let headings: Vec<String> = columns.iter().map(Column::heading).collect();
    let headings: Vec<(&str, Align)> =
        headings.iter().map(String::as_str).zip(columns.iter().map(Column::align)).collect();
    let mut table = TextTable::new(&headings);
    for row in 0..columns.first().map_or(0, |names| names.cells.len()) {
        table.row(columns.iter().map(|column| column.cells[row].clone()));
    }
    table.text(empty)
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
        let response = client.get(&with_query(&format!("/{}", kind.path()), &query)).await?;
        let page: Page<EntryView> = response.read_as().map_err(Failure::failed)?;
        items.extend(page.items);
        match page.next {
            Some(next) => query.after = Some(next),
            None => return Ok(items),
        }
    }
}

/// Shows all fields of an entry.
pub(super) async fn show(client: &OperatorClient, kind: Kind, name: &str) -> CommandResult {
    let response = client.get(&path(kind, name)).await?;
    client.print(&response, |EntryView { entry, .. }| output::fields(&shown_fields(kind, &entry)))
}

/// Returns the fields of an entry as text, in the order of their description.
pub(super) fn shown_fields(kind: Kind, entry: &Map<String, Value>) -> Vec<(&'static str, String)> {
    let value = |field: &'static EntryField| Some((field.name.as_str(), field.text(entry.get(&field.name)?)));
    fields_of(kind).iter().filter_map(value).collect()
}

pub(super) fn path(kind: Kind, name: &str) -> String {
    format!("/{}/{}", kind.path(), escape(name))
}

/// Changes the entry at a path, which may have a query, or creates it.
pub(super) async fn set(
    client: &OperatorClient,
    path: &str,
    fields: EntryFields,
    to: SecretsTo,
) -> CommandResult {
    let body = RequestBody::json(&fields.into_value());
    let method = match client.call(Method::PATCH, path, &body).await {
        Ok(response) if response.status == 404 => Method::PUT,
        outcome => return print_outcome(client, outcome, to),
    };
    change_with_secrets(client, method, path, body, to).await
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
    let outcome = client.call(method, path, &body).await;
    print_outcome(client, outcome, to)
}

/// Sends a file that changes entries. An error about the file names it.
pub(super) async fn change_by_file(
    client: &OperatorClient,
    path: &str,
    body: RequestBody,
    file: &Path,
    to: SecretsTo,
) -> CommandResult {
    let response = client.call_with_timeout(Method::POST, path, &body, FILE_TIMEOUT).await;
    let response = response.map_err(|error| lost_response(&error));
    match response.and_then(|response| client.accepted_file(response, file)) {
        Ok(response) => print_changes(client, &response, to),
        Err(failure) => to.discard().and(Err(failure)),
    }
}

fn print_outcome(
    client: &OperatorClient,
    outcome: Result<ApiResponse, CallError>,
    to: SecretsTo,
) -> CommandResult {
    let outcome = match outcome {
        Ok(response) => response.accepted().map_err(|error| client.failure_of(&error)),
        Err(error) => Err(lost_response(&error)),
    };
    match outcome {
        Ok(response) => print_changes(client, &response, to),
        Err(failure) => to.discard().and(Err(failure)),
    }
}

fn print_changes(client: &OperatorClient, response: &ApiResponse, to: SecretsTo) -> CommandResult {
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
fn lost_response(error: &CallError) -> Failure {
    match error {
        CallError::Unreachable(_) => Failure::failed(error),
        CallError::Lost(_) => Failure::failed(format!(
            "{error}. Run the command again to see the result; if secrets were generated, hermod key rotate KEY or hermod \
             webhook secret stage ACCOUNT makes others"
        )),
    }
}
