//! What operators set up and look at: the catalogue, delivery figures, rows that were set aside, parts that were never
//! answered.

use crate::error::StoreError;
use crate::store::Store;
use hermod_domain::ids::CarrierId;
use hermod_domain::time::Day;
use hermod_engine::ops::{
    CatalogueChange, CatalogueRow, DeliveryRow, ProvisionedRow, SetAside, SetAsideCount,
};
use std::collections::BTreeMap;

impl Store {
    /// Changes the setup, all or none. An account's opening entries go with it.
    pub async fn change_catalogue(&self, change: CatalogueChange) -> Result<(), StoreError> {
        self.request(change).await?.map_err(StoreError::from)
    }

    pub async fn catalogue(&self) -> Result<Vec<CatalogueRow>, StoreError> {
        self.inner.backend.catalogue().await
    }

    /// What provision files said of their entries when they were last applied.
    pub async fn provisioned(&self) -> Result<Vec<ProvisionedRow>, StoreError> {
        self.inner.backend.provisioned().await
    }

    /// The delivery figures from the first day to the last, both included, of one carrier or of all; the newest days
    /// first, [`crate::DELIVERY_ROWS_MAX`] rows at most. They may be some seconds behind.
    pub async fn delivery_stats(
        &self,
        from: Day,
        to: Day,
        carrier: Option<CarrierId>,
    ) -> Result<Vec<DeliveryRow>, StoreError> {
        self.inner.backend.delivery_rows(from, to, carrier).await
    }

    /// Lists rows that make no sense and were set aside, behind this one, in order.
    pub async fn set_aside(&self, after: Option<i64>, limit: u32) -> Result<Vec<SetAside>, StoreError> {
        self.inner.backend.set_aside(after.unwrap_or(0), limit).await
    }

    /// How many rows make no sense and were set aside.
    pub async fn count_set_aside(&self) -> Result<SetAsideCount, StoreError> {
        self.inner.backend.count_set_aside().await
    }

    /// Takes the number of parts per carrier that ran out of resends without an answer since the last call.
    pub fn take_unconfirmed(&self) -> BTreeMap<CarrierId, u64> {
        self.inner.shared.unconfirmed.take()
    }
}
