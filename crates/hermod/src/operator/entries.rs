//! What can be done to anything that has a name: list it, look at it, change it, take it away.

use super::changes::{Applied, SecretsTo, difference};
use super::desk::{Body, Desk};
use super::fields::Fields;
use crate::client::{Answer, CallError, escape};
use crate::ending::{Ended, Failure};
use crate::paint::Paint;
use crate::show::{self, Align, Table};
use hermod_gateway::provision::Kind;
use hyper::Method;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use std::path::Path;

/// Entries asked for at a time.
const PAGE: u32 = 1000;

/// A heading, and what stands under it.
pub(super) type Column = (&'static str, Align, fn(&Value) -> String);

#[derive(Deserialize)]
struct Page {
    items: Vec<Box<RawValue>>,
    next: Option<String>,
}

#[derive(Deserialize)]
struct Named {
    entry: Value,
}

/// A value as a person writes it. What is false or missing is left blank.
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

/// Every entry of a kind, of one account if it is named.
pub(super) async fn list(desk: &Desk, kind: Kind, account: Option<&str>, columns: &[Column]) -> Ended {
    let items = all(desk, kind, account).await?;
    if desk.json {
        return say_items(&items);
    }
    let entries = items.iter().map(|item| entry_of(item)).collect::<Result<Vec<_>, _>>()?;
    show::say(&table(kind, columns, &entries))
}

/// Every entry of a kind as the API told it, page after page.
pub(super) async fn all(
    desk: &Desk,
    kind: Kind,
    account: Option<&str>,
) -> Result<Vec<Box<RawValue>>, Failure> {
    let account = account.map(|account| format!("&account={}", escape(account))).unwrap_or_default();
    let mut items: Vec<Box<RawValue>> = Vec::new();
    let mut after = String::new();
    loop {
        let path = format!("/{}?limit={PAGE}{account}{after}", kind.plural());
        let page: Page = desk.get(&path).await?.read_as().map_err(Failure::failed)?;
        items.extend(page.items);
        match page.next {
            Some(next) => after = format!("&after={}", escape(&next)),
            None => return Ok(items),
        }
    }
}

pub(super) fn say_items(items: &[Box<RawValue>]) -> Ended {
    let items: Vec<&str> = items.iter().map(|item| item.get()).collect();
    show::say_raw(&format!("{{\"items\":[{}],\"next\":null}}", items.join(",")))
}

pub(super) fn entry_of(item: &RawValue) -> Result<Value, Failure> {
    let Named { entry } = serde_json::from_str(item.get()).map_err(Failure::failed)?;
    Ok(entry)
}

pub(super) fn table(kind: Kind, columns: &[Column], entries: &[Value]) -> String {
    let headings: Vec<(&str, Align)> = columns.iter().map(|(name, align, _)| (*name, *align)).collect();
    let mut table = Table::new(&headings);
    for entry in entries {
        table.row(columns.iter().map(|(_, _, cell)| cell(entry)));
    }
    table.text(&format!("There are no {} yet.", kind.plural()))
}

/// One entry with every field that it has.
pub(super) async fn show(desk: &Desk, kind: Kind, name: &str) -> Ended {
    let answer = desk.get(&path(kind, name)).await?;
    desk.tell(&answer, |Named { entry }: Named| {
        let written = |value: &Value| match value {
            Value::Bool(false) => "no".to_owned(),
            other => text(other),
        };
        let entry = entry.as_object().cloned().unwrap_or_default();
        let fields: Vec<(&str, String)> =
            entry.iter().map(|(field, value)| (field.as_str(), written(value))).collect();
        show::fields(&fields)
    })
}

pub(super) fn path(kind: Kind, name: &str) -> String {
    format!("/{}/{}", kind.plural(), escape(name))
}

/// Changes what is there, or makes it.
pub(super) async fn set(desk: &Desk, kind: Kind, name: &str, fields: Fields) -> Ended {
    set_at(desk, path(kind, name), fields).await
}

/// The same where the path says more than the name.
pub(super) async fn set_at(desk: &Desk, path: String, fields: Fields) -> Ended {
    let body = fields.into_value();
    let answer = desk.call(Method::PATCH, &path, &Body::Json(&body)).await.map_err(Failure::failed)?;
    if answer.status == 404 {
        return changed(desk, &desk.asked(Method::PUT, &path, Body::Json(&body)).await?);
    }
    changed(desk, &answer.accepted().map_err(|refused| desk.refused(&refused))?)
}

/// Makes what must not be there yet.
pub(super) async fn create(
    desk: &Desk,
    kind: Kind,
    name: &str,
    fields: Fields,
    secrets_to: Option<&Path>,
) -> Ended {
    let body = fields.into_value();
    let to = SecretsTo::prepare(secrets_to)?;
    change_with_secrets(desk, Method::PUT, &path(kind, name), Body::NewJson(&body), to).await
}

/// Changes what must be there.
pub(super) async fn patch(desk: &Desk, kind: Kind, name: &str, fields: Fields) -> Ended {
    if fields.is_empty() {
        return Err(Failure::mend("nothing to change: name at least one of the options"));
    }
    let body = fields.into_value();
    changed(desk, &desk.asked(Method::PATCH, &path(kind, name), Body::Json(&body)).await?)
}

pub(super) async fn remove(desk: &Desk, kind: Kind, name: &str) -> Ended {
    changed(desk, &desk.asked(Method::DELETE, &path(kind, name), Body::None).await?)
}

/// Prints what a change did.
pub(super) fn changed(desk: &Desk, answer: &Answer) -> Ended {
    tell_changes(desk, answer, SecretsTo::Output)
}

/// A change that may make secrets.
pub(super) async fn change_with_secrets(
    desk: &Desk,
    method: Method,
    path: &str,
    body: Body<'_>,
    to: SecretsTo,
) -> Ended {
    let outcome = match desk.call(method, path, &body).await {
        Ok(answer) => answer.accepted().map_err(|refused| desk.refused(&refused)),
        Err(error) => Err(lost(&error)),
    };
    match outcome {
        Ok(answer) => tell_changes(desk, &answer, to),
        Err(failure) => to.give_up().and(Err(failure)),
    }
}

pub(super) fn tell_changes(desk: &Desk, answer: &Answer, to: SecretsTo) -> Ended {
    let applied: Applied = answer.read_as().map_err(Failure::failed)?;
    if applied.has_changes() {
        desk.note_write();
    }
    let hides = !to.is_output();
    let handed_out = to.hand_out(&applied.secrets)?;
    let told = if !desk.json {
        format!("{}{handed_out}", difference(&applied, Paint::for_output()))
    } else if hides {
        let mut body: Value = answer.read_as().map_err(Failure::failed)?;
        for issued in body["secrets"].as_array_mut().into_iter().flatten() {
            issued["secret"] = Value::from("(in the file)");
        }
        format!("{body}\n")
    } else {
        format!("{}\n", answer.body.trim_end())
    };
    if hides || applied.secrets.is_empty() {
        return show::say(&told);
    }
    let again = "hermod key rotate KEY or hermod webhook secret stage ACCOUNT makes a secret you can see";
    show::say_once(&told).map_err(|failure| failure.and_then_say(again))
}

/// A secret may have been made that nobody saw.
pub(super) fn lost(error: &CallError) -> Failure {
    match error {
        CallError::Unreachable(_) => Failure::failed(error),
        CallError::Lost(_) => Failure::failed(format!(
            "{error}. Do it again to see what is the case; if secrets were made meanwhile, hermod key rotate KEY or hermod \
             webhook secret stage ACCOUNT makes ones you can see"
        )),
    }
}
