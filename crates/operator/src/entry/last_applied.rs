//! The provision files as last applied, by entry and field, with the values stored then: the base of the three-way
//! comparison.

use crate::entry::documents::UnreadableRow;
use crate::kind::Kind;
use hermod_store::ProvisionedRow;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

/// A field as last applied by a file. Secrets are in their stored form.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct AppliedField {
    pub(crate) file: Value,
    pub(crate) stored: Value,
}

/// An entry as last applied by a file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct AppliedEntry {
    /// The file removed it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) removed: bool,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) fields: BTreeMap<String, AppliedField>,
}

impl AppliedEntry {
    pub(crate) const REMOVED: AppliedEntry = AppliedEntry { removed: true, fields: BTreeMap::new() };
}

/// All applied entries, and those that a plan changes. The default is of a request, which has no earlier file and becomes none.
#[derive(Debug, Default)]
pub(crate) struct LastApplied {
    is_of_file: bool,
    entries: BTreeMap<(Kind, String), AppliedEntry>,
    changed: Vec<(Kind, String)>,
}

impl LastApplied {
    /// Reads the rows. Ignores kinds that this release does not know.
    pub(crate) fn read(rows: Vec<ProvisionedRow>) -> Result<LastApplied, UnreadableRow> {
        let mut entries = BTreeMap::new();
        for ProvisionedRow { kind, name, body } in rows {
            let Some(known) = Kind::named(&kind) else { continue };
            let entry = serde_json::from_str(&body).map_err(|error| UnreadableRow {
                kind: format!("record of applying {kind}"),
                name: name.clone(),
                reason: error.to_string(),
            })?;
            entries.insert((known, name), entry);
        }
        Ok(LastApplied { is_of_file: true, entries, changed: Vec::new() })
    }

    pub(crate) const fn is_of_file(&self) -> bool {
        self.is_of_file
    }

    pub(crate) fn of(&self, kind: Kind, name: &str) -> Option<&AppliedEntry> {
        self.entries.get(&(kind, name.to_owned()))
    }

    pub(crate) fn remember(&mut self, kind: Kind, name: &str, entry: AppliedEntry) {
        if !self.is_of_file {
            return;
        }
        let place = (kind, name.to_owned());
        if self.entries.get(&place) != Some(&entry) {
            self.entries.insert(place.clone(), entry);
            self.changed.push(place);
        }
    }

    /// Returns the rows to store in the transaction of the change.
    pub(crate) fn into_rows(self) -> Vec<ProvisionedRow> {
        let LastApplied { entries, changed, .. } = self;
        let row = |place: &(Kind, String)| ProvisionedRow {
            kind: place.0.as_str().to_owned(),
            name: place.1.clone(),
            body: serde_json::to_string(&entries[place]).expect("texts, numbers and lists"),
        };
        changed.iter().map(row).collect()
    }
}
