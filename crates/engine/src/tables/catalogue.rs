//! The tables of the setup: its entries, and what provision files said of them.

use crate::ops::{CatalogueRow, ProvisionedRow};
use crate::tables::TableError;

/// Writes the setup.
pub trait CatalogueRows {
    /// Writes an entry, new or not. Fails if another one of its kind has its name.
    fn put_catalogue_row(&self, row: &CatalogueRow) -> Result<(), TableError>;

    fn delete_catalogue_row(&self, kind: &str, id: u32) -> Result<(), TableError>;

    /// Writes what a provision file said of an entry, for the first time or anew.
    fn put_provisioned_row(&self, row: &ProvisionedRow) -> Result<(), TableError>;
}
