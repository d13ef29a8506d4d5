//! The catalogue's rows in the store: one JSON document per entry, by kind, number and name.

use crate::provision::kind::Kind;
use hermod_domain::catalogue::{
    Account, ApiKey, Carrier, Connection, ControlEntry, Documents, NumberEntry, OperatorEntry, Price,
    RouteEntry, ScreenEntry, SenderEntry, User,
};
use hermod_domain::ids::{AccountId, CarrierId, ConnectionId, RouteId};
use hermod_store::CatalogueRow;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use std::collections::HashMap;

/// A row that this release cannot read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the stored {kind} \"{name}\" cannot be read: {reason}")]
pub struct UnreadableRow {
    pub kind: String,
    pub name: String,
    pub reason: String,
}

pub(super) fn row<T: Serialize>(kind: Kind, id: u32, name: &str, document: &T) -> CatalogueRow {
    let body = serde_json::to_string(document).expect("documents have texts, numbers and lists only");
    CatalogueRow { kind: kind.as_str().to_owned(), id, name: name.to_owned(), body }
}

/// The names of entries, by number.
#[derive(Debug, Default)]
pub(super) struct Names(pub(super) HashMap<(Kind, u32), String>);

impl Names {
    pub(super) fn of_rows(rows: &[CatalogueRow]) -> Result<Names, UnreadableRow> {
        let named = rows.iter().map(|row| Ok(((kind_of(row)?, row.id), row.name.clone())));
        named.collect::<Result<_, _>>().map(Names)
    }

    pub(super) fn of(&self, kind: Kind, number: u32) -> String {
        // A catalogue with broken references is rejected as a whole.
        self.0.get(&(kind, number)).cloned().unwrap_or_else(|| format!("#{number}"))
    }
}

/// Returns the fields of an entry as a table.
pub(super) fn fields<T: Serialize>(entry: &T) -> Map<String, Value> {
    match serde_json::to_value(entry) {
        Ok(Value::Object(fields)) => fields,
        Ok(_) | Err(_) => unreachable!("an entry is a table of texts, numbers and lists"),
    }
}

pub(super) fn kind_of(row: &CatalogueRow) -> Result<Kind, UnreadableRow> {
    let known = Kind::ALL.into_iter().find(|kind| kind.as_str() == row.kind);
    known.ok_or_else(|| unreadable(row, "a newer release may know what it is"))
}

pub(super) fn documents<'a>(
    rows: impl IntoIterator<Item = &'a CatalogueRow>,
) -> Result<Documents, UnreadableRow> {
    let mut documents = Documents::default();
    for row in rows {
        let (id, name) = (row.id, row.name.clone());
        match kind_of(row)? {
            Kind::Carrier => documents.carriers.push((CarrierId::new(id), name, read::<Carrier>(row)?)),
            Kind::Route => documents.routes.push((RouteId::new(id), read::<RouteEntry>(row)?)),
            Kind::Price => documents.prices.push(read::<Price>(row)?),
            Kind::Account => documents.accounts.push((AccountId::new(id), name, read::<Account>(row)?)),
            Kind::Sender => documents.senders.push(read::<SenderEntry>(row)?),
            Kind::Number => documents.numbers.push(read::<NumberEntry>(row)?),
            Kind::Connection => {
                documents.connections.push((ConnectionId::new(id), read::<Connection>(row)?));
                documents.connection_names.push((ConnectionId::new(id), name));
            }
            Kind::Key => documents.keys.push((name, read::<ApiKey>(row)?)),
            Kind::Screen => documents.screens.push((name, read::<ScreenEntry>(row)?)),
            Kind::Control => documents.controls.push((name, read::<ControlEntry>(row)?)),
            Kind::User => documents.users.push((id, name, read::<User>(row)?)),
            Kind::Operator => documents.operators.push((name, read::<OperatorEntry>(row)?)),
        }
    }
    Ok(documents)
}

pub(super) fn read<T: DeserializeOwned>(row: &CatalogueRow) -> Result<T, UnreadableRow> {
    serde_json::from_str(&row.body).map_err(|error| unreadable(row, &error.to_string()))
}

fn unreadable(row: &CatalogueRow, reason: &str) -> UnreadableRow {
    UnreadableRow { kind: row.kind.clone(), name: row.name.clone(), reason: reason.to_owned() }
}
