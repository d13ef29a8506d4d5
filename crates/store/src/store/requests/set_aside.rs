//! What operators are told of rows that were set aside.

use crate::fault::StoreFault;
use crate::store::Store;
use hermod_engine::ops::{SetAside, SetAsideCount};

impl Store {
    /// Lists rows that make no sense and were set aside, behind this one, in order.
    pub async fn set_aside(&self, after: Option<i64>, limit: u32) -> Result<Vec<SetAside>, StoreFault> {
        self.inner.backend.set_aside(after.unwrap_or(0), limit).await
    }

    /// How many rows make no sense and were set aside.
    pub async fn count_set_aside(&self) -> Result<SetAsideCount, StoreFault> {
        self.inner.backend.count_set_aside().await
    }
}
