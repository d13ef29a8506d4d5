//! SQL for the setup: its entries, and the entries of provision files as last applied.

use crate::sql::SqlTables;
use crate::sql::{Connection, OptionalExtension, params};
use hermod_engine::ops::{CatalogueRow, ProvisionedRow};
use hermod_engine::tables::{CatalogueRowChange, CatalogueRows, TableError};

impl SqlTables<'_> {
    fn put_catalogue_row(&self, row: &CatalogueRow) -> Result<(), TableError> {
        let CatalogueRow { kind, id, name, body } = row;
        // Not OR REPLACE: a name conflict must fail, not delete the other entry.
        self.connection
            .prepare_cached(
                "INSERT INTO catalogue (kind, id, name, body) VALUES (?1, ?2, ?3, ?4)
                 ON CONFLICT (kind, id) DO UPDATE SET name = excluded.name, body = excluded.body",
            )?
            .execute(params![kind, id, name, body])?;
        Ok(())
    }

    fn delete_catalogue_row(&self, kind: &str, id: u32) -> Result<(), TableError> {
        self.connection
            .prepare_cached("DELETE FROM catalogue WHERE kind = ?1 AND id = ?2")?
            .execute(params![kind, id])?;
        Ok(())
    }

    fn put_provisioned_row(&self, row: &ProvisionedRow) -> Result<(), TableError> {
        let ProvisionedRow { kind, name, body } = row;
        self.connection
            .prepare_cached(
                "INSERT INTO provisioned (kind, name, body) VALUES (?1, ?2, ?3)
                 ON CONFLICT (kind, name) DO UPDATE SET body = excluded.body",
            )?
            .execute(params![kind, name, body])?;
        Ok(())
    }
}

impl CatalogueRows for SqlTables<'_> {
    fn catalogue_id(&self, kind: &str, name: &str) -> Result<Option<u32>, TableError> {
        let mut ids =
            self.connection.prepare_cached("SELECT id FROM catalogue WHERE kind = ?1 AND name = ?2")?;
        Ok(ids.query_row([kind, name], |row| row.get(0)).optional()?)
    }

    fn change_catalogue_row(&self, change: &CatalogueRowChange) -> Result<(), TableError> {
        match change {
            CatalogueRowChange::Put(row) => self.put_catalogue_row(row),
            CatalogueRowChange::Delete { kind, id } => self.delete_catalogue_row(kind, *id),
            CatalogueRowChange::PutProvisioned(row) => self.put_provisioned_row(row),
        }
    }
}

/// Returns all entries of the setup.
pub(crate) fn read(connection: &Connection) -> Result<Vec<CatalogueRow>, TableError> {
    let mut statement = connection.prepare("SELECT kind, id, name, body FROM catalogue ORDER BY kind, id")?;
    let rows = statement.query_map([], |row| {
        Ok(CatalogueRow { kind: row.get(0)?, id: row.get(1)?, name: row.get(2)?, body: row.get(3)? })
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Returns the entries of provision files as they were last applied.
pub(crate) fn read_provisioned(connection: &Connection) -> Result<Vec<ProvisionedRow>, TableError> {
    let mut statement = connection.prepare("SELECT kind, name, body FROM provisioned")?;
    let rows = statement.query_map([], |row| {
        Ok(ProvisionedRow { kind: row.get(0)?, name: row.get(1)?, body: row.get(2)? })
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}
