//! Commands that change balances and the setup.

use crate::batch::Batch;
use crate::commands::Command;
use crate::ops::{CatalogueChange, CatalogueRefusal, LedgerEntry, PostOutcome};
use crate::tables::TableError;

impl Command for LedgerEntry {
    type Outcome = PostOutcome;

    fn execute(&self, batch: &mut Batch<'_>) -> Result<PostOutcome, TableError> {
        batch.post(self)
    }
}

impl Command for CatalogueChange {
    /// The refusal of the first ledger entry that cannot be posted.
    type Outcome = Result<(), CatalogueRefusal>;

    fn execute(&self, batch: &mut Batch<'_>) -> Result<Result<(), CatalogueRefusal>, TableError> {
        batch.change_catalogue(self)
    }
}
