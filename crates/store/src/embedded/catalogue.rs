//! The setup: small documents that are read whole and changed rarely, each change all or none.

use crate::embedded::Embedded;
use crate::embedded::batch::Batch;
use crate::fault::StoreFault;
use hermod_engine::ops::{CatalogueChange, CatalogueRow, PostOutcome, ProvisionedRow};
use rusqlite::{Connection, params};

impl Embedded {
    /// Changes the setup, all or none. An account's opening entries go with it.
    pub async fn change_catalogue(&self, change: CatalogueChange) -> Result<(), StoreFault> {
        self.request(move |batch| batch.change_catalogue(&change)).await
    }

    pub async fn catalogue(&self) -> Result<Vec<CatalogueRow>, StoreFault> {
        self.inner.readers.run(read).await
    }

    /// What provision files said of their entries when they were last applied.
    pub async fn provisioned(&self) -> Result<Vec<ProvisionedRow>, StoreFault> {
        self.inner.readers.run(read_provisioned).await
    }
}

impl Batch<'_> {
    fn change_catalogue(&mut self, change: &CatalogueChange) -> Result<(), StoreFault> {
        let CatalogueChange { put, remove, entries, provisioned } = change;
        for (kind, id) in remove {
            self.connection
                .prepare_cached("DELETE FROM catalogue WHERE kind = ?1 AND id = ?2")?
                .execute(params![kind, id])?;
        }
        // Not OR REPLACE: an entry under another one's name must fail, not make the other one vanish.
        let mut statement = self.connection.prepare_cached(
            "INSERT INTO catalogue (kind, id, name, body) VALUES (?1, ?2, ?3, ?4)
             ON CONFLICT (kind, id) DO UPDATE SET name = excluded.name, body = excluded.body",
        )?;
        for CatalogueRow { kind, id, name, body } in put {
            statement.execute(params![kind, id, name, body])?;
        }
        for entry in entries {
            if let PostOutcome::Refused(refusal) = self.post(entry)? {
                return Err(StoreFault::EntryRefused(refusal));
            }
        }
        let mut statement = self.connection.prepare_cached(
            "INSERT INTO provisioned (kind, name, body) VALUES (?1, ?2, ?3)
             ON CONFLICT (kind, name) DO UPDATE SET body = excluded.body",
        )?;
        for ProvisionedRow { kind, name, body } in provisioned {
            statement.execute(params![kind, name, body])?;
        }
        Ok(())
    }
}

fn read(connection: &Connection) -> Result<Vec<CatalogueRow>, StoreFault> {
    let mut statement = connection.prepare("SELECT kind, id, name, body FROM catalogue ORDER BY kind, id")?;
    let rows = statement.query_map([], |row| {
        Ok(CatalogueRow { kind: row.get(0)?, id: row.get(1)?, name: row.get(2)?, body: row.get(3)? })
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Whether nothing has been set up yet.
pub(crate) fn is_empty(connection: &Connection) -> Result<bool, StoreFault> {
    Ok(connection.query_row("SELECT NOT EXISTS (SELECT 1 FROM catalogue)", [], |row| row.get(0))?)
}

fn read_provisioned(connection: &Connection) -> Result<Vec<ProvisionedRow>, StoreFault> {
    let mut statement = connection.prepare("SELECT kind, name, body FROM provisioned")?;
    let rows = statement.query_map([], |row| {
        Ok(ProvisionedRow { kind: row.get(0)?, name: row.get(1)?, body: row.get(2)? })
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}
