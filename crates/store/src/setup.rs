//! Reads the setup from its rows: one JSON document per entry, by kind, id and name.

use hermod_domain::catalogue::{Catalogue, CatalogueError, Documents};
use hermod_domain::ids::{AccountId, CarrierId, ConnectionId, CostId, PriceListId, RouteId};
use hermod_engine::ops::CatalogueRow;
use serde::de::DeserializeOwned;

/// A row that this release cannot read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the stored {kind} \"{name}\" cannot be read: {reason}")]
pub struct UnreadableRow {
    pub kind: String,
    pub name: String,
    pub reason: String,
}

/// Why the rows make no setup.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SetupError {
    #[error(transparent)]
    Unreadable(#[from] UnreadableRow),
    #[error(transparent)]
    Unfit(#[from] CatalogueError),
}

/// Builds the catalogue that the rows describe.
pub fn read_catalogue(rows: &[CatalogueRow]) -> Result<Catalogue, SetupError> {
    Ok(Catalogue::build(read_documents(rows)?)?)
}

/// Returns the documents of the rows.
pub fn read_documents<'a>(
    rows: impl IntoIterator<Item = &'a CatalogueRow>,
) -> Result<Documents, UnreadableRow> {
    let mut documents = Documents::default();
    for row in rows {
        let (id, name) = (row.id, row.name.clone());
        match row.kind.as_str() {
            "carrier" => documents.carriers.push((CarrierId::new(id), name, read_document(row)?)),
            "route" => documents.routes.push((RouteId::new(id), read_document(row)?)),
            "price" => documents.prices.push(read_document(row)?),
            "price_list" => documents.price_lists.push((PriceListId::new(id), name, read_document(row)?)),
            "cost" => documents.costs.push((CostId::new(id), read_document(row)?)),
            "exchange_rate" => documents.exchange_rates.push(read_document(row)?),
            "rate_profile" => documents.rate_profiles.push(read_document(row)?),
            "account" => documents.accounts.push((AccountId::new(id), name, read_document(row)?)),
            "sender" => documents.senders.push(read_document(row)?),
            "number" => documents.numbers.push(read_document(row)?),
            "connection" => {
                documents.connections.push((ConnectionId::new(id), read_document(row)?));
                documents.connection_names.push((ConnectionId::new(id), name));
            }
            "key" => documents.keys.push((name, read_document(row)?)),
            "screen" => documents.screens.push((name, read_document(row)?)),
            "control" => documents.controls.push((name, read_document(row)?)),
            "block" => documents.blocks.push((name, read_document(row)?)),
            "user" => documents.users.push((id, name, read_document(row)?)),
            "operator" => documents.operators.push((name, read_document(row)?)),
            _ => return Err(UnreadableRow::new(row, "a newer release may know what it is")),
        }
    }
    Ok(documents)
}

/// Returns the document of a row.
pub fn read_document<T: DeserializeOwned>(row: &CatalogueRow) -> Result<T, UnreadableRow> {
    serde_json::from_str(&row.body).map_err(|error| UnreadableRow::new(row, &error.to_string()))
}

impl UnreadableRow {
    pub fn new(row: &CatalogueRow, reason: &str) -> UnreadableRow {
        UnreadableRow { kind: row.kind.clone(), name: row.name.clone(), reason: reason.to_owned() }
    }
}
