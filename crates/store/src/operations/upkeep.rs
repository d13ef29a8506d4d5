//! Periodic work: release deferred parts, expire messages, measure the disk, merge idempotency keys, delete old rows. The
//! caller decides when, and passes the time.

use crate::backend::read_results::{EndedPlace, LatePage, PartPage, StoredKey};
use crate::data_folder::disk::{DiskSpace, LogSize};
use crate::error::StoreError;
use crate::operations::Store;
use crate::sql::purging;
use crate::sql::{engine_reads, late_parts, part_rows};
use crate::writer::operation::Op;
use hermod_domain::ids::PartNo;
use hermod_domain::time::Timestamp;
use hermod_engine::commands::{DropOldFigures, ExpireParts, ReleaseDue, SetLate, SetUnreadableAside};
use hermod_engine::commands::{ExpireKeys, PurgeCarrierIds, PurgeInbound, PurgeRecords, PurgeTexts};
use hermod_engine::expiry::expiry_event;
use hermod_engine::late_parts::late_messages;
use hermod_engine::ops::{Purged, Retention};
use hermod_engine::state::idempotency_keys::KeyLimits;
use hermod_engine::tables::{ConversationKey, MessageKey, PartRow, Readings, UnnamedPart};
use std::sync::{MutexGuard, PoisonError};

/// Rows per read, so that no snapshot lasts long.
const SWEEP_ROWS: u32 = 5_000;
/// Parts expired, or messages moved to the late parts, in one transaction.
const PARTS_PER_WRITE: usize = 500;
/// Maximum number of messages that one sweep moves to the late parts; the next sweep continues. Reached only after an upgrade
/// from a release that kept all of them in one table.
const LATE_PER_SWEEP_MAX: usize = 100_000;
/// Maximum number of merge steps in one call: 800,000 keys. Called every 5 seconds, it keeps up with 20,000 new keys a second,
/// each of which is merged six times before it is in a bucket of 100 million.
const KEY_STEPS_PER_CALL: usize = 100;

/// The positions of the scans for old rows in tables without an index by time (an index would cost every message a write).
/// Each call reads a bounded number of rows in the order of their keys.
///
/// Each position is the last row that was read; `None` where the next call begins with the first row. Lost at a restart.
#[derive(Default)]
pub(crate) struct ScanPositions {
    pub conversation: Option<ConversationKey>,
    pub review: Option<u64>,
    pub unnamed_part: Option<UnnamedPart>,
    pub webhook_event: Option<EndedPlace>,
}

impl Store {
    pub(crate) fn scan_positions(&self) -> MutexGuard<'_, ScanPositions> {
        self.inner.scans.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Releases parts and reports that are due, and moves reports of customers without a receiver to their webhooks. Call it
    /// several times a second; it is cheap when nothing is due.
    pub async fn tick(&self, now: Timestamp) -> Result<(), StoreError> {
        let outboxes = &self.inner.access.shared.outboxes;
        self.inner.access.shared.disk.set_time(now);
        outboxes.tick(now);
        while outboxes.has_superseded() {
            let slot = self.inner.access.queue.reserve().await?;
            if let Some(finished) = outboxes.take_superseded() {
                slot.send(Op::Command(finished.into(), None));
            }
        }
        if self.inner.access.shared.is_due(now) {
            self.send(Op::Command(ReleaseDue { now }.into(), None)).await?;
        }
        self.reports().move_to_webhooks(now).await;
        Ok(())
    }

    /// Measures the free disk space and decides whether messages are accepted. Call it every second.
    pub fn measure_disk(&self) {
        self.inner.access.shared.disk.measure();
    }

    /// Returns the size of the write-ahead log, at most a second old.
    pub fn log_size(&self) -> LogSize {
        self.inner.access.shared.disk.log_size()
    }

    /// Returns the last measurement of the free disk space.
    pub fn disk_space(&self) -> DiskSpace {
        self.inner.access.shared.disk.space()
    }

    /// Expires parts whose validity period is over, marks parts without a receipt in time as UNKNOWN, moves parts whose receipts
    /// are late to their own table, and gives up old reports. Returns how many parts had expired or were marked.
    ///
    /// It reads every part that waits, is being sent or was sent recently: one scan a minute is cheaper than an index, which
    /// would cost every message a write. Late parts are found by their expiry. The catalogue says how long each carrier's
    /// receipts are waited for.
    pub async fn sweep(&self, now: Timestamp) -> Result<usize, StoreError> {
        let mut position: Option<StoredKey> = None;
        let (mut found, mut room) = (0, LATE_PER_SWEEP_MAX);
        loop {
            let PartPage { parts, last } =
                self.read(move |database| part_rows::parts_after(database, position, SWEEP_ROWS)).await?;
            let late = late_messages(&parts.rows, now);
            found += self.expire(parts, now).await?;
            for keys in late.chunks(PARTS_PER_WRITE).take(room.div_ceil(PARTS_PER_WRITE)) {
                self.request(SetLate { keys: keys.to_vec(), now }).await?;
                room = room.saturating_sub(keys.len());
            }
            position = last;
            if position.is_none() {
                break;
            }
        }
        found += self.sweep_late(now).await?;
        self.reports().give_up_old(now).await?;
        self.inbound().forget_repeats(now).await?;
        Ok(found)
    }

    /// Returns the parts that have expired or got no receipt in time. The writer checks each of them again.
    fn find_expired(&self, rows: &[PartRow], now: Timestamp) -> Vec<(MessageKey, PartNo)> {
        let catalogue = self.inner.access.shared.catalogue.load();
        let expired = rows.iter().filter(|row| expiry_event(row, now, &catalogue).is_some());
        expired.map(|row| (row.key, row.part)).collect()
    }

    /// Marks late parts without a receipt in time as UNKNOWN. Returns how many.
    async fn sweep_late(&self, now: Timestamp) -> Result<usize, StoreError> {
        let mut found = 0;
        let carriers = self.read(late_parts::carriers_with_late_parts).await?;
        for carrier in carriers {
            let expired_by = now.minus(self.inner.access.shared.catalogue.load().receipt_wait(carrier));
            let mut position = None;
            loop {
                let read = self.read(move |database| {
                    late_parts::expired_late_parts(database, carrier, expired_by, position, SWEEP_ROWS)
                });
                let LatePage { parts, last } = read.await?;
                found += self.expire(parts, now).await?;
                position = last;
                if position.is_none() {
                    break;
                }
            }
        }
        Ok(found)
    }

    /// Expires or marks those of the parts whose time is over, and sets aside unreadable ones. Returns how many were over.
    async fn expire(&self, parts: Readings<PartRow>, now: Timestamp) -> Result<usize, StoreError> {
        let expired = self.find_expired(&parts.rows, now);
        for chunk in expired.chunks(PARTS_PER_WRITE) {
            self.request(ExpireParts { parts: chunk.to_vec(), now }).await?;
        }
        if !parts.unreadable.is_empty() {
            self.request(SetUnreadableAside { parts: parts.unreadable, now }).await?;
        }
        Ok(expired.len())
    }

    /// Deletes rows past their retention that are rarer than messages: delivery figures, parts without a carrier id, parked
    /// receipts, unassigned MO messages, conversations and reviews. Call it at the start and every minute: where old rows
    /// cannot be found by time, each call reads a bounded number of rows and the next one continues. [`Store::purge`] deletes
    /// what there is per message.
    pub async fn delete_expired(&self, now: Timestamp) -> Result<(), StoreError> {
        let today = now.day();
        self.request(DropOldFigures { today }).await?;
        self.receipts().forget_unnamed_parts(now).await?;
        self.receipts().give_up_parked(now).await?;
        self.inbound().forget_unassigned(now).await?;
        self.inbound().forget_conversations(now).await?;
        self.user_tokens().forget_old(now).await?;
        self.reviews().forget_old(now).await
    }
}

impl Store {
    /// Merges and drops buckets of idempotency keys, at most [`KEY_STEPS_PER_CALL`] steps; the next call continues. Call it every
    /// few seconds.
    pub async fn merge_keys(&self) -> Result<(), StoreError> {
        for _ in 0..KEY_STEPS_PER_CALL {
            let next = self.read(move |database| engine_reads::next_key_step(database, KeyLimits::DEFAULT));
            let Some(step) = next.await? else { return Ok(()) };
            self.request(step).await?;
        }
        Ok(())
    }
}

/// The first error of a purge.
#[derive(Default)]
struct FirstError(Option<StoreError>);

impl FirstError {
    /// Returns the count of a step, or 0 if it failed.
    fn count(&mut self, done: Result<u64, StoreError>) -> u64 {
        done.unwrap_or_else(|error| {
            self.0.get_or_insert(error);
            0
        })
    }
}

impl Store {
    /// Deletes a bounded number of rows of each kind that are past their retention, in one short transaction per kind. Call it
    /// again after a pause until it returns nothing. An error in one kind does not stop the others; it is returned if no
    /// other kind deleted anything, and logged otherwise.
    pub async fn purge(&self, keep: Retention, now: Timestamp) -> Result<Purged, StoreError> {
        let mut errors = FirstError::default();
        let texts = self.request(PurgeTexts { keep, now }).await;
        let keys = self.request(ExpireKeys { keep, now }).await;
        let carrier_ids = self.request(PurgeCarrierIds { now }).await;
        let records = self.request(PurgeRecords { keep, now }).await;
        let purged = Purged {
            texts: errors.count(texts),
            keys: errors.count(keys.map(u64::from)),
            messages: errors.count(records),
            inbound: errors.count(self.purge_inbound(now.minus(keep.inbound)).await),
            carrier_ids: errors.count(carrier_ids),
            webhook_events: errors.count(self.webhooks().purge(now).await),
            given_up_reports: errors.count(self.reports().purge_given_up(now).await),
        };
        self.record().purge(keep, now);
        if purged.texts > 0 {
            // The database has deleted them; the journal may still have them if few messages are sent.
            self.inner.access.shared.disk.request_daily_truncation(now);
        }
        match errors.0 {
            Some(error) if purged.is_nothing() => Err(error),
            Some(error) => {
                tracing::error!(%error, "Purging one kind of data failed; it is retried with the next call");
                Ok(purged)
            }
            None => Ok(purged),
        }
    }

    async fn purge_inbound(&self, before: Timestamp) -> Result<u64, StoreError> {
        // A reader finds the account, because there may be many.
        let old = self.read(move |database| purging::account_with_old_inbound(database, before)).await?;
        let Some(account) = old else { return Ok(0) };
        self.request(PurgeInbound { account, before }).await
    }
}
