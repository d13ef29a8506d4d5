//! Operations on receipts: parked ones, lost ones, delivery figures, and what the alarms about receipts count.

use crate::error::StoreError;
use crate::operations::ReceiptStore;
use crate::sql::{carrier_ids, delivery_figures, engine_reads, parked_receipts, unnamed_parts};
use hermod_domain::carrier::IdConversion;
use hermod_domain::ids::{CarrierId, RemoteId};
use hermod_domain::time::{Day, Timestamp};
use hermod_engine::commands::{ForgetUnnamedParts, GiveUpParked, Rematch};
use hermod_engine::ops::{
    AssignedId, DeliveryRow, PAGE_ROWS_MAX, ParkedReceipt, REMATCH_ROWS_MAX, ReceiptLoss, Rematched,
};
use hermod_engine::state::parked_receipts::GIVEN_UP_PER_BATCH_MAX;
use hermod_engine::unnamed_parts::not_waited_for_before;
use std::collections::BTreeMap;
use std::sync::PoisonError;

/// Parts without a carrier id per read, so that no snapshot lasts long.
const UNNAMED_PARTS_PER_READ: usize = 5_000;
/// Parts without a carrier id deleted in one transaction.
const UNNAMED_PARTS_PER_WRITE: usize = 500;
/// Parts without a carrier id that one call may read without deleting them.
const UNNAMED_PARTS_KEPT_PER_CALL: usize = 50_000;

impl ReceiptStore<'_> {
    /// Tries again to match parked receipts of this carrier to parts, for example after its id conversion was corrected. Each
    /// call tries at most [`REMATCH_ROWS_MAX`] and continues where the last one ended.
    pub async fn rematch(
        self,
        carrier: CarrierId,
        ids: IdConversion,
        now: Timestamp,
    ) -> Result<Rematched, StoreError> {
        let mut position = self.take_rematch_position(carrier);
        let mut result = Rematched::default();
        while result.tried < REMATCH_ROWS_MAX {
            let page = self
                .0
                .read(move |database| engine_reads::parked_page(database, carrier, ids, position.as_ref()))
                .await?;
            result.tried += page.looked_at;
            if !page.worth_trying.is_empty() {
                let remotes = page.worth_trying;
                result.matched += self.0.request(Rematch { carrier, ids, remotes, now }).await?;
            }
            position = page.last;
            if position.is_none() {
                break;
            }
        }
        self.set_rematch_position(carrier, position);
        Ok(result)
    }

    fn take_rematch_position(self, carrier: CarrierId) -> Option<RemoteId> {
        self.0.inner.rematched.lock().unwrap_or_else(PoisonError::into_inner).remove(&carrier)
    }

    fn set_rematch_position(self, carrier: CarrierId, position: Option<RemoteId>) {
        if let Some(position) = position {
            self.0.inner.rematched.lock().unwrap_or_else(PoisonError::into_inner).insert(carrier, position);
        }
    }

    /// Gives up receipts that have been parked for [`crate::PARKED_KEPT`], and counts them.
    pub(crate) async fn give_up_parked(self, now: Timestamp) -> Result<(), StoreError> {
        loop {
            let given_up = self.0.request(GiveUpParked { now }).await?;
            if given_up > 0 {
                tracing::warn!(given_up, "Receipts matched no part within 72 hours and were given up");
            }
            if given_up < GIVEN_UP_PER_BATCH_MAX {
                return Ok(());
            }
        }
    }

    /// Deletes the rows of parts without a carrier id whose receipts are no longer expected. Continues where the last call
    /// ended, and ends after it has read [`UNNAMED_PARTS_KEPT_PER_CALL`] that it keeps.
    pub(crate) async fn forget_unnamed_parts(self, now: Timestamp) -> Result<(), StoreError> {
        let before = not_waited_for_before(now.day());
        let mut after = self.0.scan_positions().unnamed_part.take();
        let mut kept = 0;
        while kept < UNNAMED_PARTS_KEPT_PER_CALL {
            let mut page = self
                .0
                .read(move |database| {
                    unnamed_parts::read_unnamed_page(database, after.as_ref(), UNNAMED_PARTS_PER_READ)
                })
                .await?;
            let rows = page.len();
            after = page.last().copied().filter(|_| rows == UNNAMED_PARTS_PER_READ);
            page.retain(|part| part.at < before);
            kept += rows - page.len();
            for some in page.chunks(UNNAMED_PARTS_PER_WRITE) {
                self.0.request(ForgetUnnamedParts { parts: some.to_vec(), before }).await?;
            }
            if after.is_none() {
                break;
            }
        }
        self.0.scan_positions().unnamed_part = after;
        Ok(())
    }

    /// Returns a carrier's parked receipts, the latest first.
    pub async fn parked(self, carrier: CarrierId, limit: u32) -> Result<Vec<ParkedReceipt>, StoreError> {
        self.0.read(move |database| parked_receipts::latest_parked(database, carrier, limit)).await
    }

    /// Returns some ids from a carrier's recent responses, for comparison with the ids in its parked receipts.
    pub async fn recent_carrier_ids(
        self,
        carrier: CarrierId,
        limit: u32,
    ) -> Result<Vec<AssignedId>, StoreError> {
        let limit = usize::try_from(limit.min(PAGE_ROWS_MAX)).expect("a page");
        self.0.read(move |database| carrier_ids::sample(database, carrier, limit)).await
    }

    /// Returns how many receipts were given up per day and carrier, from `from` to `to`, both included, the newest first.
    pub async fn losses(self, from: Day, to: Day) -> Result<Vec<ReceiptLoss>, StoreError> {
        self.0.read(move |database| parked_receipts::receipt_losses(database, from, to)).await
    }

    /// Returns the delivery figures from `from` to `to`, both included, of one carrier or of all; the newest days first, at
    /// most [`crate::DELIVERY_ROWS_MAX`] rows. They may be some seconds old.
    pub async fn delivery_figures(
        self,
        from: Day,
        to: Day,
        carrier: Option<CarrierId>,
    ) -> Result<Vec<DeliveryRow>, StoreError> {
        self.0.read(move |database| delivery_figures::delivery_rows(database, from, to, carrier)).await
    }

    /// Returns, per carrier, how many parts ran out of resends without a response since the last call.
    pub fn take_unconfirmed(self) -> BTreeMap<CarrierId, u64> {
        self.0.inner.access.shared.unconfirmed.take()
    }

    /// Returns, per carrier, how many ids it gave to a part while another part had them, since the last call.
    pub fn take_reused_ids(self) -> BTreeMap<CarrierId, u64> {
        self.0.inner.access.shared.reused_ids.take()
    }
}
