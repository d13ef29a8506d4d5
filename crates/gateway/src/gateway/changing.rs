//! Changes of the catalogue, one at a time over all nodes.

use super::Gateway;
use hermod_store::{CatalogueLock, StoreError};

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
        Ok(ChangingAlone { _everywhere: self.store.lock_catalogue().await?, _here: here })
    }
}
