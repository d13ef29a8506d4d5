//! Operations on the setup, and the list of rows that were set aside.

use crate::error::StoreError;
use crate::operations::{SetAsideStore, SetupStore};
use crate::sql::{catalogue, set_aside};
use hermod_domain::hold::Hold;
use hermod_engine::ops::{CatalogueChange, CatalogueRow, EntryUse, ProvisionedRow, SetAside, SetAsideCount};

impl SetupStore<'_> {
    /// Changes the setup and posts the opening entries of new accounts, in one transaction. Fails without a change if a name
    /// is taken, a ledger entry is rejected, or an account, carrier or connection that is to be removed was used.
    pub async fn change(self, change: CatalogueChange) -> Result<(), StoreError> {
        self.0.request(Box::new(change)).await?.map_err(StoreError::from)
    }

    /// Returns all entries of the setup.
    pub async fn rows(self) -> Result<Vec<CatalogueRow>, StoreError> {
        self.0.read(catalogue::read).await
    }

    /// Returns the rate sheets that were applied, in their order. They are stored with a [`CatalogueChange`], as rows of the kind
    /// [`RATE_SHEET_KIND`](crate::RATE_SHEET_KIND).
    pub async fn rate_sheets(self) -> Result<Vec<CatalogueRow>, StoreError> {
        self.0.read(catalogue::read_rate_sheets).await
    }

    /// Returns the first use or the removal of each account, carrier and connection that was used or removed.
    pub async fn entry_uses(self) -> Result<Vec<EntryUse>, StoreError> {
        self.0.read(catalogue::read_uses).await
    }

    /// Returns the hold of the gateway, if it is held.
    pub async fn hold(self) -> Result<Option<Hold>, StoreError> {
        self.0.read(catalogue::read_hold).await
    }

    /// Stores that the gateway is held, or that it is not. Each node follows when it has read the setup again.
    pub async fn set_hold(self, hold: Option<&Hold>) -> Result<(), StoreError> {
        let change = match hold {
            Some(hold) => {
                CatalogueChange { put: vec![catalogue::hold_row(hold)], ..CatalogueChange::default() }
            }
            None => CatalogueChange {
                remove: vec![(catalogue::HOLD_KIND.to_owned(), catalogue::HOLD_ID)],
                ..CatalogueChange::default()
            },
        };
        self.change(change).await
    }

    /// Returns the entries of provision files as they were last applied.
    pub async fn provisioned(self) -> Result<Vec<ProvisionedRow>, StoreError> {
        self.0.read(catalogue::read_provisioned).await
    }
}

impl SetAsideStore<'_> {
    /// Returns unreadable rows that were set aside, after `after`, in order.
    pub async fn list(self, after: Option<i64>, limit: u32) -> Result<Vec<SetAside>, StoreError> {
        self.0.read(move |database| set_aside::set_aside_after(database, after.unwrap_or(0), limit)).await
    }

    /// Returns how many rows are set aside.
    pub async fn count(self) -> Result<SetAsideCount, StoreError> {
        self.0.read(set_aside::count_set_aside).await
    }
}
