//! The setup: small documents that are read whole and changed rarely, each change all or none.

use crate::batch::Batch;
use crate::ops::{CatalogueChange, CatalogueFault, PostOutcome};

impl Batch<'_> {
    /// Writes a change of the setup. After an error its rows must be rolled back.
    pub fn change_catalogue(&mut self, change: &CatalogueChange) -> Result<(), CatalogueFault> {
        let CatalogueChange { put, remove, entries, provisioned } = change;
        for (kind, id) in remove {
            self.tables.delete_catalogue_row(kind, *id)?;
        }
        for row in put {
            self.tables.put_catalogue_row(row)?;
        }
        for entry in entries {
            if let PostOutcome::Refused(refusal) = self.post(entry)? {
                return Err(CatalogueFault::EntryRefused(refusal));
            }
        }
        for row in provisioned {
            self.tables.put_provisioned_row(row)?;
        }
        Ok(())
    }
}
