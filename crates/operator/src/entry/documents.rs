//! The catalogue's rows in the store: one JSON document per entry, by kind, number and name.

pub(crate) use hermod_store::{UnreadableRow, read_document as read, read_documents as documents};

use crate::kind::Kind;
use hermod_store::CatalogueRow;
use serde::Serialize;
use serde_json::{Map, Value};
use std::collections::HashMap;

pub(crate) fn row<T: Serialize>(kind: Kind, id: u32, name: &str, document: &T) -> CatalogueRow {
    let body = serde_json::to_string(document).expect("documents have texts, numbers and lists only");
    CatalogueRow { kind: kind.as_str().to_owned(), id, name: name.to_owned(), body }
}

/// The names of entries, by number.
#[derive(Debug, Default)]
pub(crate) struct EntryNames(pub(crate) HashMap<(Kind, u32), String>);

impl EntryNames {
    pub(crate) fn of_rows(rows: &[CatalogueRow]) -> Result<EntryNames, UnreadableRow> {
        let named = rows.iter().map(|row| Ok(((kind_of(row)?, row.id), row.name.clone())));
        named.collect::<Result<_, _>>().map(EntryNames)
    }

    pub(crate) fn of(&self, kind: Kind, number: u32) -> String {
        // A catalogue with broken references is rejected as a whole.
        self.0.get(&(kind, number)).cloned().unwrap_or_else(|| format!("#{number}"))
    }
}

/// Returns the fields of an entry as a table.
pub(crate) fn fields<T: Serialize>(entry: &T) -> Map<String, Value> {
    match serde_json::to_value(entry) {
        Ok(Value::Object(fields)) => fields,
        Ok(_) | Err(_) => unreachable!("an entry is a table of texts, numbers and lists"),
    }
}

pub(crate) fn kind_of(row: &CatalogueRow) -> Result<Kind, UnreadableRow> {
    Kind::named(&row.kind).ok_or_else(|| UnreadableRow::new(row, "a newer release may know what it is"))
}
