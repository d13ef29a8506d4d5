//! Finds endpoints that were failing when the last process ended: what is remembered of their answers is not stored, but
//! their events are.

use crate::fault::StoreFault;
use crate::store::Store;
use hermod_engine::ops::FailingEndpoint;

impl Store {
    /// Returns every endpoint that has an event with a failed attempt waiting, and has not taken a newer event since.
    pub async fn failing_endpoints(&self) -> Result<Vec<FailingEndpoint>, StoreFault> {
        self.inner.backend.failing_endpoints().await
    }
}
