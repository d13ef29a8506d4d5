//! The setup: small documents that are read whole and changed rarely, each change all or none.

use crate::batch::Batch;
use crate::ops::{CatalogueChange, PostRefusal};
use crate::tables::TableError;

impl Batch<'_> {
    /// Writes a change of the setup. If one of its ledger entries is refused, it writes nothing and returns the refusal.
    pub fn change_catalogue(
        &mut self,
        change: &CatalogueChange,
    ) -> Result<Result<(), PostRefusal>, TableError> {
        let CatalogueChange { put, remove, entries, provisioned } = change;
        if let Some(refusal) = self.find_refusal(entries)? {
            return Ok(Err(refusal));
        }
        for (kind, id) in remove {
            self.tables.delete_catalogue_row(kind, *id)?;
        }
        for row in put {
            self.tables.put_catalogue_row(row)?;
        }
        for entry in entries {
            self.post(entry)?;
        }
        for row in provisioned {
            self.tables.put_provisioned_row(row)?;
        }
        Ok(Ok(()))
    }
}
