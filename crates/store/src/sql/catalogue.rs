//! SQL for the setup: its entries, and the entries of provision files as last applied.

use crate::sql::SqlTables;
use crate::sql::{Connection, OptionalExtension, described, params};
use hermod_engine::ops::{CatalogueRow, ProvisionedRow};
use hermod_engine::tables::{CatalogueRows, TableError};

impl CatalogueRows for SqlTables<'_> {
    fn catalogue_id(&self, kind: &str, name: &str) -> Result<Option<u32>, TableError> {
        let mut ids =
            self.connection.prepare_cached("SELECT id FROM catalogue WHERE kind = ?1 AND name = ?2")?;
        Ok(ids.query_row([kind, name], |row| row.get(0)).optional()?)
    }

    fn has_catalogue_entry(&self, kind: &str, id: u32) -> Result<bool, TableError> {
        let mut entry =
            self.connection.prepare_cached("SELECT 1 FROM catalogue WHERE kind = ?1 AND id = ?2")?;
        Ok(entry.exists(params![kind, id])?)
    }
}

/// Returns all entries of the setup.
pub(crate) fn read(connection: &Connection) -> Result<Vec<CatalogueRow>, TableError> {
    described::rows(connection, "ORDER BY kind, id", [])
}

/// Returns the entries of provision files as they were last applied.
pub(crate) fn read_provisioned(connection: &Connection) -> Result<Vec<ProvisionedRow>, TableError> {
    described::rows(connection, "", [])
}
