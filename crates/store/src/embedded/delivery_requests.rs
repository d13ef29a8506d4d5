//! Delivery figures, read beside the writer.

use crate::embedded::Embedded;
use crate::fault::StoreFault;
use crate::sqlite::delivery_figures;
use hermod_domain::ids::CarrierId;
use hermod_domain::time::Day;
use hermod_engine::ops::DeliveryRow;
use rusqlite::Connection;

impl Embedded {
    /// The delivery figures from the first day to the last, both included, of one carrier or of all; the newest days
    /// first, [`crate::DELIVERY_ROWS_MAX`] rows at most. They may be some seconds behind.
    pub async fn delivery_stats(
        &self,
        from: Day,
        to: Day,
        carrier: Option<CarrierId>,
    ) -> Result<Vec<DeliveryRow>, StoreFault> {
        let read =
            move |connection: &Connection| delivery_figures::delivery_rows(connection, from, to, carrier);
        self.inner.readers.run(read).await
    }
}
