//! The stored catalogue: loading it, and changing it, one change at a time over all nodes.

use super::Gateway;
use hermod_domain::catalogue::{Catalogue, CatalogueError};
use hermod_store::{CatalogueLock, Store, StoreError, UnreadableRow, read_documents};

/// Why the stored catalogue could not be loaded.
#[derive(Debug, thiserror::Error)]
pub enum LoadCatalogueError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Unreadable(#[from] UnreadableRow),
    #[error(transparent)]
    Unfit(#[from] CatalogueError),
}

/// Loads the stored catalogue.
pub async fn load_catalogue(store: &Store) -> Result<Catalogue, LoadCatalogueError> {
    let rows = store.setup().rows().await?;
    Ok(Catalogue::build(read_documents(&rows)?)?)
}

/// The right to change the catalogue.
pub struct ChangingAlone<'a> {
    _everywhere: CatalogueLock,
    _here: tokio::sync::MutexGuard<'a, ()>,
}

impl Gateway {
    /// Waits until nothing else changes the catalogue, on any node. To be held from reading the store until the new catalogue is
    /// in effect.
    pub async fn change_alone(&self) -> Result<ChangingAlone<'_>, StoreError> {
        let here = self.changing.lock().await;
        Ok(ChangingAlone { _everywhere: self.store.cluster().lock_catalogue().await?, _here: here })
    }
}
