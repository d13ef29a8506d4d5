//! Catalogue entries and the rows of provision files.

use super::MemoryTables;
use hermod_engine::ops::{CatalogueRow, ProvisionedRow};
use hermod_engine::tables::{CatalogueRowChange, CatalogueRows, TableError};

/// The row of an entry.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Row {
    name: String,
    body: String,
}

impl CatalogueRows for MemoryTables {
    fn catalogue_id(&self, kind: &str, name: &str) -> Result<Option<u32>, TableError> {
        let rows = self.read();
        let mut entries = rows.catalogue.iter();
        Ok(entries.find(|((of, _), row)| of == kind && row.name == name).map(|((_, id), _)| *id))
    }

    fn change_catalogue_row(&self, change: &CatalogueRowChange) -> Result<(), TableError> {
        match change {
            CatalogueRowChange::Put(row) => {
                let CatalogueRow { kind, id, name, body } = row.clone();
                let holder = self.catalogue_id(&kind, &name)?;
                assert!(
                    holder.is_none_or(|holder| holder == id),
                    "an entry has the name of {row:?}: {holder:?}"
                );
                self.write().catalogue.put((kind, id), Row { name, body });
            }
            // Deleting a missing entry is allowed.
            CatalogueRowChange::Delete { kind, id } => {
                self.write().catalogue.delete_if_there(&(kind.clone(), *id));
            }
            CatalogueRowChange::PutProvisioned(ProvisionedRow { kind, name, body }) => {
                self.write().provisioned.put((kind.clone(), name.clone()), body.clone());
            }
        }
        Ok(())
    }
}
