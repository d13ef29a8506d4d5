//! Operations of the operator: the setup, delivery figures, rows that were set aside, parts that got no response.

use crate::error::StoreError;
use crate::sql::{catalogue, delivery_figures, set_aside};
use crate::store::Store;
use hermod_domain::ids::CarrierId;
use hermod_domain::time::Day;
use hermod_engine::ops::{
    CatalogueChange, CatalogueRow, DeliveryRow, ProvisionedRow, SetAside, SetAsideCount,
};
use std::collections::BTreeMap;

impl Store {
    /// Changes the setup and posts the opening entries of new accounts, in one transaction. Fails without a change if a name
    /// is taken or an entry is rejected.
    pub async fn change_catalogue(&self, change: CatalogueChange) -> Result<(), StoreError> {
        self.request(Box::new(change)).await?.map_err(StoreError::from)
    }

    /// Returns all entries of the setup.
    pub async fn catalogue(&self) -> Result<Vec<CatalogueRow>, StoreError> {
        self.read(catalogue::read).await
    }

    /// Returns the entries of provision files as they were last applied.
    pub async fn provisioned(&self) -> Result<Vec<ProvisionedRow>, StoreError> {
        self.read(catalogue::read_provisioned).await
    }

    /// Returns the delivery figures from `from` to `to`, both included, of one carrier or of all; the newest days first, at
    /// most [`crate::DELIVERY_ROWS_MAX`] rows. They may be some seconds old.
    pub async fn delivery_stats(
        &self,
        from: Day,
        to: Day,
        carrier: Option<CarrierId>,
    ) -> Result<Vec<DeliveryRow>, StoreError> {
        self.read(move |database| delivery_figures::delivery_rows(database, from, to, carrier)).await
    }

    /// Returns unreadable rows that were set aside, after `after`, in order.
    pub async fn set_aside(&self, after: Option<i64>, limit: u32) -> Result<Vec<SetAside>, StoreError> {
        self.read(move |database| set_aside::set_aside_after(database, after.unwrap_or(0), limit)).await
    }

    /// Returns how many rows are set aside.
    pub async fn count_set_aside(&self) -> Result<SetAsideCount, StoreError> {
        self.read(set_aside::count_set_aside).await
    }

    /// Returns, per carrier, how many parts ran out of resends without a response since the last call.
    pub fn take_unconfirmed(&self) -> BTreeMap<CarrierId, u64> {
        self.inner.access.shared.unconfirmed.take()
    }

    /// Returns, per carrier, how many ids it gave to a part while another part had them, since the last call.
    pub fn take_reused_ids(&self) -> BTreeMap<CarrierId, u64> {
        self.inner.access.shared.reused_ids.take()
    }
}
