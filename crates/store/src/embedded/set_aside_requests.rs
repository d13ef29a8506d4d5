//! What operators are told of rows that were set aside.

use crate::embedded::Embedded;
use crate::fault::StoreFault;
use crate::sqlite::set_aside;
use hermod_engine::ops::{SetAside, SetAsideCount};

impl Embedded {
    /// Lists rows that make no sense and were set aside, behind this one, in order.
    pub async fn set_aside(&self, after: Option<i64>, limit: u32) -> Result<Vec<SetAside>, StoreFault> {
        let after = after.unwrap_or(0);
        self.inner
            .readers
            .run(move |connection| Ok(set_aside::set_aside_after(connection, after, limit)?))
            .await
    }

    /// How many rows make no sense and were set aside.
    pub async fn count_set_aside(&self) -> Result<SetAsideCount, StoreFault> {
        self.inner.readers.run(|connection| Ok(set_aside::count_set_aside(connection)?)).await
    }
}
