//! The tables of the setup: its entries, and what provision files said of them.

use crate::ops::{CatalogueRow, ProvisionedRow};
use crate::tables::TableError;
use serde::{Deserialize, Serialize};

/// A change of the tables.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum CatalogueRowChange {
    Put(CatalogueRow),
    Delete {
        kind: String,
        id: u32,
    },
    /// What a provision file said of an entry.
    PutProvisioned(ProvisionedRow),
}

/// Writes the setup.
pub trait CatalogueRows {
    /// Returns the id of the entry of this kind that has this name.
    fn catalogue_id(&self, kind: &str, name: &str) -> Result<Option<u32>, TableError>;

    /// Applies a change.
    fn change_catalogue_row(&self, change: &CatalogueRowChange) -> Result<(), TableError>;
}
