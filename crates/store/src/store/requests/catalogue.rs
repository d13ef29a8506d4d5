//! The store's operations on the setup: what the writer is asked to do, and what is read beside it.

use crate::fault::StoreFault;
use crate::store::Store;
use hermod_engine::ops::{CatalogueChange, CatalogueRow, ProvisionedRow};

impl Store {
    /// Changes the setup, all or none. An account's opening entries go with it.
    pub async fn change_catalogue(&self, change: CatalogueChange) -> Result<(), StoreFault> {
        self.request(change).await?.map_err(StoreFault::from)
    }

    pub async fn catalogue(&self) -> Result<Vec<CatalogueRow>, StoreFault> {
        self.inner.backend.catalogue().await
    }

    /// What provision files said of their entries when they were last applied.
    pub async fn provisioned(&self) -> Result<Vec<ProvisionedRow>, StoreFault> {
        self.inner.backend.provisioned().await
    }
}
