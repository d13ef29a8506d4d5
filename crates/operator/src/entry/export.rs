//! Exports the catalogue as entries, for display and as the base of partial changes. Secrets are left out.

use crate::entry::documents::{EntryNames, UnreadableRow};
use crate::entry::plan::Plan;
use crate::kind::Kind;
use hermod_store::CatalogueRow;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// Returns all entries of a kind, by name.
pub fn shown(
    rows: &[CatalogueRow],
    kind: Kind,
) -> Result<BTreeMap<String, Map<String, Value>>, UnreadableRow> {
    let names = EntryNames::of_rows(rows)?;
    let of_kind = rows.iter().filter(|row| row.kind == kind.as_str());
    of_kind.map(|row| Ok((row.name.clone(), entry(kind, row, &names)?))).collect()
}

/// Returns all entries of a kind for a file, by name, with the flags that they need to be created again.
pub(crate) fn exported(
    rows: &[CatalogueRow],
    kind: Kind,
) -> Result<BTreeMap<String, Map<String, Value>>, UnreadableRow> {
    let mut entries = shown(rows, kind)?;
    if let Some((flag, confirmed)) = (kind.description().confirmed)(rows) {
        for (_, entry) in entries.iter_mut().filter(|(name, _)| confirmed.contains(name.as_str())) {
            entry.insert(flag.to_owned(), Value::Bool(true));
        }
    }
    Ok(entries)
}

/// Returns one entry. Reads no other row: there may be a hundred thousand.
pub fn shown_one(
    rows: &[CatalogueRow],
    kind: Kind,
    name: &str,
) -> Result<Option<Map<String, Value>>, UnreadableRow> {
    let row = rows.iter().find(|row| row.kind == kind.as_str() && row.name == name);
    row.map(|row| entry(kind, row, &EntryNames::of_rows(rows)?)).transpose()
}

impl Plan {
    /// Returns an entry as it is after the change.
    pub fn shown(&self, kind: Kind, name: &str) -> Result<Option<Map<String, Value>>, UnreadableRow> {
        let row = self.rows.get(&(kind, name.to_owned()));
        row.map(|row| entry(kind, row, &self.names)).transpose()
    }
}

pub(crate) fn entry(
    kind: Kind,
    row: &CatalogueRow,
    names: &EntryNames,
) -> Result<Map<String, Value>, UnreadableRow> {
    (kind.description().shown)(row, names)
}
