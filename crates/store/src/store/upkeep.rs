//! What has to be done from time to time: release parts whose waiting time is over, end what has outlived its validity,
//! look at the disk, merge idempotency keys, drop old cases. The caller owns the clock and says when.

use crate::disk::{DiskSpace, LogSize};
use crate::error::StoreError;
use crate::read_results::{LatePage, OldPlace, PartPage, StoredKey};
use crate::store::Store;
use crate::writer::operation::Op;
use hermod_domain::ids::PartNo;
use hermod_domain::time::Timestamp;
use hermod_engine::commands::{DropOldFigures, ExpireParts, ReleaseDue, SetAside, SetLate};
use hermod_engine::expiry::expiry_event;
use hermod_engine::late_receipts::late_messages;
use hermod_engine::state::idempotency_keys::KeyLimits;
use hermod_engine::tables::{ConversationKey, MessageKey, PartRow, Readings, UnnamedPart};
use std::sync::{MutexGuard, PoisonError};

/// Rows looked at in one read, so that no snapshot lasts long.
const SWEEP_ROWS: u32 = 5_000;
/// Parts ended in one transaction.
const LAPSE_PARTS: usize = 500;
/// Messages that one sweep moves among those whose receipts are late; the next one goes on. It matters after a release that
/// kept them all in one table.
const LATE_PER_SWEEP_MAX: usize = 100_000;
/// Steps of merging idempotency keys in one call: 800,000 keys. Called every 5 seconds, it keeps up with 20,000 new keys a
/// second, each of which is merged six times before it is in a bucket of 100 million.
const KEY_STEPS_PER_CALL: usize = 100;

/// Where the walks over tables that have no index by time go on. Old rows of such a table are found by looking at all of
/// its rows in the order of their keys, a bounded number in each call; an index would cost every message a write.
///
/// Each is the last row that was looked at; none where the next look begins at the first row. A restart begins anew.
#[derive(Default)]
pub(crate) struct WalkPlaces {
    pub conversation: Option<ConversationKey>,
    pub review: Option<u64>,
    pub unnamed_part: Option<UnnamedPart>,
    pub webhook_event: Option<OldPlace>,
}

impl Store {
    pub(crate) fn walk_places(&self) -> MutexGuard<'_, WalkPlaces> {
        self.inner.walks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// To be called often (several times a second). Cheap when there is nothing to do.
    pub async fn tick(&self, now: Timestamp) -> Result<(), StoreError> {
        let outboxes = &self.inner.shared.outboxes;
        self.inner.shared.disk.ticks(now);
        outboxes.tick(now);
        while outboxes.has_left_over() {
            let place = self.inner.queue.reserve().await.map_err(|_| StoreError::Closed)?;
            if let Some(ends) = outboxes.left_over() {
                place.send(Op::Command(ends.into(), None));
            }
        }
        if self.inner.shared.is_due(now) {
            self.send(Op::Command(ReleaseDue { now }.into(), None)).await?;
        }
        self.tell_absent_by_webhook(now).await;
        Ok(())
    }

    /// Measures the free disk space, and closes or opens the door accordingly.
    pub fn look_at_disk(&self) {
        self.inner.shared.disk.look();
    }

    /// The size of the write-ahead log, as of the last second.
    pub fn log_size(&self) -> LogSize {
        self.inner.shared.disk.log_size()
    }

    /// What the last measurement found.
    pub fn disk_space(&self) -> DiskSpace {
        self.inner.shared.disk.space()
    }

    /// Ends parts whose validity has ended, marks parts without a receipt in time, and gives up reports that waited too
    /// long. Reads every part that waits, is being sent or was sent lately: an index for those would cost every message a
    /// write, and this costs a scan a minute. Parts whose receipts are late stand apart and are found by the time they
    /// expire. How long a carrier's receipt is waited for is in the catalogue that the store follows. Returns how many parts
    /// it found whose time was up.
    pub async fn sweep(&self, now: Timestamp) -> Result<usize, StoreError> {
        let mut position: Option<StoredKey> = None;
        let (mut found, mut room) = (0, LATE_PER_SWEEP_MAX);
        loop {
            let PartPage { parts, last } = self.inner.backend.parts_after(position, SWEEP_ROWS).await?;
            let late = late_messages(&parts.rows, now);
            found += self.lapse(parts, now).await?;
            for keys in late.chunks(LAPSE_PARTS).take(room.div_ceil(LAPSE_PARTS)) {
                self.request(SetLate { keys: keys.to_vec(), now }).await?;
                room = room.saturating_sub(keys.len());
            }
            position = last;
            if position.is_none() {
                break;
            }
        }
        found += self.sweep_late(now).await?;
        self.give_up_old_reports(now).await?;
        self.forget_repeats(now).await?;
        Ok(found)
    }

    /// Returns those of these parts whose time is up. The writer looks at each of them again.
    fn find_lapsed(&self, rows: &[PartRow], now: Timestamp) -> Vec<(MessageKey, PartNo)> {
        let catalogue = self.inner.shared.catalogue.load();
        let lapsed = rows.iter().filter(|row| expiry_event(row, now, &catalogue).is_some());
        lapsed.map(|row| (row.key, row.part)).collect()
    }

    /// Marks the late parts that got no receipt in time. Returns how many.
    async fn sweep_late(&self, now: Timestamp) -> Result<usize, StoreError> {
        let mut found = 0;
        let carriers = self.inner.backend.carriers_with_late_parts().await?;
        for carrier in carriers {
            let expired_by = now.minus(self.inner.shared.catalogue.load().receipt_wait(carrier));
            let mut position = None;
            loop {
                let read = self.inner.backend.expired_late_parts(carrier, expired_by, position, SWEEP_ROWS);
                let LatePage { parts, last } = read.await?;
                found += self.lapse(parts, now).await?;
                position = last;
                if position.is_none() {
                    break;
                }
            }
        }
        Ok(found)
    }

    /// Ends those of these parts whose time is up, and sets aside what makes no sense. Returns how many parts' time was up.
    async fn lapse(&self, parts: Readings<PartRow>, now: Timestamp) -> Result<usize, StoreError> {
        let lapsed = self.find_lapsed(&parts.rows, now);
        for chunk in lapsed.chunks(LAPSE_PARTS) {
            self.request(ExpireParts { parts: chunk.to_vec(), now }).await?;
        }
        if !parts.unreadable.is_empty() {
            self.request(SetAside { parts: parts.unreadable, now }).await?;
        }
        Ok(lapsed.len())
    }

    /// Deletes what was kept long enough and is rarer than messages. To be called
    /// at start and every minute: where old rows cannot be found by their time, a call looks at a bounded number of rows
    /// and the next one goes on. What there is for each message is deleted by [`Store::purge`].
    pub async fn daily(&self, now: Timestamp) -> Result<(), StoreError> {
        let today = now.day();
        self.request(DropOldFigures { today }).await?;
        self.forget_unnamed_parts(now).await?;
        self.give_up_parked(now).await?;
        self.forget_unassigned(now).await?;
        self.forget_conversations(now).await?;
        self.forget_reviews(now).await
    }
}

impl Store {
    /// Merges and drops buckets of idempotency keys, at most [`KEY_STEPS_PER_CALL`] steps; the next call goes on. To be
    /// called every few seconds.
    pub async fn merge_keys(&self) -> Result<(), StoreError> {
        for _ in 0..KEY_STEPS_PER_CALL {
            let next = self.inner.backend.next_key_step(KeyLimits::DEFAULT);
            let Some(step) = next.await? else { return Ok(()) };
            self.request(step).await?;
        }
        Ok(())
    }
}
