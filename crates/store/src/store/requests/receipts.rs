//! What becomes of parked receipts as time goes by, and how an operator sees them.

use crate::error::StoreError;
use crate::store::Store;
use hermod_domain::carrier::IdConversion;
use hermod_domain::ids::{CarrierId, RemoteId};
use hermod_domain::time::{Day, Timestamp};
use hermod_engine::commands::{ForgetUnnamedParts, GiveUpParked, Rematch};
use hermod_engine::ops::{
    AssignedId, PAGE_ROWS_MAX, ParkedReceipt, REMATCH_ROWS_MAX, ReceiptLoss, Rematched,
};
use hermod_engine::state::parked_receipts::GIVEN_UP_PER_BATCH_MAX;
use hermod_engine::unnamed_parts::not_waited_for_before;
use std::sync::PoisonError;

/// Parts without an id that are read at once, so that no snapshot lasts long.
const UNNAMED_PARTS_PER_READ: usize = 5_000;
/// Parts without an id that are deleted in one transaction.
const UNNAMED_PARTS_PER_WRITE: usize = 500;
/// Parts without an id that a call looks at and keeps.
const UNNAMED_PARTS_KEPT_PER_CALL: usize = 50_000;

impl Store {
    /// Looks again whether parked receipts of this carrier find their part: its id conversion may have been corrected.
    /// Each call looks at [`REMATCH_ROWS_MAX`] of them at most and goes on where the last one ended.
    pub async fn rematch(
        &self,
        carrier: CarrierId,
        ids: IdConversion,
        now: Timestamp,
    ) -> Result<Rematched, StoreError> {
        let mut position = self.rematch_from(carrier);
        let mut result = Rematched::default();
        while result.tried < REMATCH_ROWS_MAX {
            let page = self.inner.backend.parked_page(carrier, ids, position).await?;
            result.tried += page.looked_at;
            if !page.worth_trying.is_empty() {
                let remotes = page.worth_trying;
                result.matched += self.request(Rematch { carrier, ids, remotes, now }).await?;
            }
            position = page.last;
            if position.is_none() {
                break;
            }
        }
        self.rematch_goes_on(carrier, position);
        Ok(result)
    }

    fn rematch_from(&self, carrier: CarrierId) -> Option<RemoteId> {
        self.inner.rematched.lock().unwrap_or_else(PoisonError::into_inner).remove(&carrier)
    }

    fn rematch_goes_on(&self, carrier: CarrierId, position: Option<RemoteId>) {
        if let Some(position) = position {
            self.inner.rematched.lock().unwrap_or_else(PoisonError::into_inner).insert(carrier, position);
        }
    }

    /// Gives up and counts receipts that have waited for [`crate::PARKED_KEPT`].
    pub(crate) async fn give_up_parked(&self, now: Timestamp) -> Result<(), StoreError> {
        loop {
            let given_up = self.request(GiveUpParked { now }).await?;
            if given_up > 0 {
                tracing::warn!(given_up, "Receipts found no part in 72 hours and are given up");
            }
            if given_up < GIVEN_UP_PER_BATCH_MAX {
                return Ok(());
            }
        }
    }

    /// Deletes parts without an id whose receipts are not waited for any more: goes on where the last call ended, and
    /// keeps [`UNNAMED_PARTS_KEPT_PER_CALL`] at most.
    pub(crate) async fn forget_unnamed_parts(&self, now: Timestamp) -> Result<(), StoreError> {
        let before = not_waited_for_before(now.day());
        let mut behind = self.walk_places().unnamed_part.take();
        let mut kept = 0;
        while kept < UNNAMED_PARTS_KEPT_PER_CALL {
            let mut page = self.inner.backend.unnamed_parts(behind, UNNAMED_PARTS_PER_READ).await?;
            let rows = page.len();
            behind = page.last().copied().filter(|_| rows == UNNAMED_PARTS_PER_READ);
            page.retain(|part| part.at < before);
            kept += rows - page.len();
            for some in page.chunks(UNNAMED_PARTS_PER_WRITE) {
                self.request(ForgetUnnamedParts { parts: some.to_vec(), before }).await?;
            }
            if behind.is_none() {
                break;
            }
        }
        self.walk_places().unnamed_part = behind;
        Ok(())
    }

    /// A carrier's parked receipts, the latest first.
    pub async fn parked(&self, carrier: CarrierId, limit: u32) -> Result<Vec<ParkedReceipt>, StoreError> {
        self.inner.backend.parked(carrier, limit).await
    }

    /// Some ids that a carrier gave in its answers of late, to be held against those in its parked receipts.
    pub async fn tied_lately(&self, carrier: CarrierId, limit: u32) -> Result<Vec<AssignedId>, StoreError> {
        let limit = usize::try_from(limit.min(PAGE_ROWS_MAX)).expect("a page");
        self.inner.backend.tied_lately(carrier, limit).await
    }

    /// Receipts that were given up, from the first day to the last, both included, the newest first.
    pub async fn receipt_losses(&self, from: Day, to: Day) -> Result<Vec<ReceiptLoss>, StoreError> {
        self.inner.backend.receipt_losses(from, to).await
    }
}
