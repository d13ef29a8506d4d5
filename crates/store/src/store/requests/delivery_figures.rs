//! Delivery figures, read beside the writer.

use crate::fault::StoreFault;
use crate::store::Store;
use hermod_domain::ids::CarrierId;
use hermod_domain::time::Day;
use hermod_engine::ops::DeliveryRow;

impl Store {
    /// The delivery figures from the first day to the last, both included, of one carrier or of all; the newest days
    /// first, [`crate::DELIVERY_ROWS_MAX`] rows at most. They may be some seconds behind.
    pub async fn delivery_stats(
        &self,
        from: Day,
        to: Day,
        carrier: Option<CarrierId>,
    ) -> Result<Vec<DeliveryRow>, StoreFault> {
        self.inner.backend.delivery_rows(from, to, carrier).await
    }
}
