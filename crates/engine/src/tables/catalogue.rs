//! The tables of the setup: its entries, and what provision files said of them when they were last applied. The gateway compares
//! the next file with that. Secrets are in their stored form: sealed or hashed.

use crate::ops::{CatalogueRow, ProvisionedRow};
use crate::tables::TableError;
use crate::tables::described::{stored_fields, stored_table};

stored_table! {
    catalogue: CatalogueRow { kind, id, name, body }, key (kind: String, id: u32),
    indexes ["UNIQUE INDEX catalogue_name ON catalogue (kind, name)"]
}
stored_table! { provisioned: ProvisionedRow { kind, name, body }, key (kind: String, name: String) }

/// Reads the setup.
pub trait CatalogueRows {
    /// Returns the id of the entry of this kind that has this name.
    fn catalogue_id(&self, kind: &str, name: &str) -> Result<Option<u32>, TableError>;

    /// Whether there is an entry of this kind that has this id.
    fn has_catalogue_entry(&self, kind: &str, id: u32) -> Result<bool, TableError>;
}
