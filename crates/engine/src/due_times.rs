//! Corrects times that a clock set ahead has written. A gateway that ran with its clock two days ahead and restarts
//! with the right time finds retries that are due in two days. At the start each time is limited to the longest wait of
//! its own schedule. A clock that changes while the gateway runs has no effect: see `domain::monotonic_clock`.

use crate::batch::Batch;
use crate::maps::HashSet;
use crate::ops::{PART_REPEATS_KNOWN, ParkedReceipt};
use crate::state::parked_receipts;
use crate::tables::{
    MessageChange, MoPartChange, ParkedRow, PartChange, PartRow, TableError, Tables, WebhookEventChange,
};
use hermod_domain::lifecycle::{PartState, resend_wait};
use hermod_domain::retry::Schedule;
use hermod_domain::time::Timestamp;
use std::time::Duration;

/// The longest validity of a message.
const VALIDITY_MAX: Duration = Duration::from_secs(72 * 3_600);
/// How far apart the times of one batch may be.
const TOLERANCE: Duration = Duration::from_secs(5);

/// Parts that one read returns.
const PARTS_PER_READ: usize = 5_000;

/// How many times were corrected.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CorrectedTimes {
    pub parts: usize,
    pub validity: usize,
    pub inbound: usize,
    pub receipts: usize,
}

/// Corrects the times of parts, MO messages and receipts. Runs before the state is loaded.
pub fn correct_times(
    tables: &Tables<'_>,
    in_doubt_wait: Duration,
    now: Timestamp,
) -> Result<CorrectedTimes, TableError> {
    Ok(CorrectedTimes {
        parts: correct_parts(tables, in_doubt_wait, now)?,
        validity: correct_validity(tables, now)?,
        inbound: correct_inbound(tables, now)?,
        receipts: correct_receipts(tables, now)?,
    })
}

/// Limits the due times of deferred parts. Returns how many were corrected.
fn correct_parts(tables: &Tables<'_>, in_doubt_wait: Duration, now: Timestamp) -> Result<usize, TableError> {
    let retry_max = Schedule::after_temporary_error().longest();
    let mut changed = 0;
    let mut last: Option<PartRow> = None;
    loop {
        // A corrected part moves to before the key that was read last: no part is read twice.
        let page = tables.read()?.deferred_parts(last.as_ref(), PARTS_PER_READ)?;
        for PartRow { key, part, now: stands, due_at, .. } in &page {
            // The wait for a resend grows with each doubt.
            let wait = match stands.state {
                PartState::InDoubt => resend_wait(in_doubt_wait, stands.doubts),
                _ => retry_max,
            };
            let latest = now.plus(wait);
            if due_at.is_some_and(|due_at| due_at > latest) {
                tables.write(PartChange::DueTime { key: *key, part: *part, due_at: Some(latest) });
                changed += 1;
            }
        }
        if page.len() < PARTS_PER_READ {
            return Ok(changed);
        }
        last = page.last().copied();
    }
}

/// Limits the validity of messages and parts. Returns how many were corrected.
fn correct_validity(tables: &Tables<'_>, now: Timestamp) -> Result<usize, TableError> {
    let latest = now.plus(VALIDITY_MAX);
    let mut messages = HashSet::default();
    let parts = tables.read()?.parts_expiring_after(latest)?;
    for PartRow { key, part, .. } in &parts {
        tables.write(PartChange::Expiry { key: *key, part: *part, expires_at: latest });
        if messages.insert(key.message) {
            tables.write(MessageChange::Expiry { message: key.message, expires_at: latest });
        }
    }
    Ok(messages.len() + parts.len())
}

/// Limits how long unfinished MO messages wait and digests are kept. Returns how many were corrected.
fn correct_inbound(tables: &Tables<'_>, now: Timestamp) -> Result<usize, TableError> {
    let unfinished = tables.read()?.unfinished_after(now)?;
    unfinished.iter().for_each(|id| tables.write(MoPartChange::UnfinishedSince { id: *id, since: now }));
    let latest = now.plus(PART_REPEATS_KNOWN);
    let seen = tables.read()?.seen_longer_than(latest)?;
    seen.iter().for_each(|key| tables.write(MoPartChange::Seen { key: *key, until: latest }));
    Ok(unfinished.len() + seen.len())
}

/// Sets the time of receipts that were parked in the future to now. Returns how many there were.
fn correct_receipts(tables: &Tables<'_>, now: Timestamp) -> Result<usize, TableError> {
    let parked = tables.read()?.parked_later_than(now)?;
    let count = parked.len();
    for ParkedRow { carrier, receipt } in parked {
        parked_receipts::put(tables, carrier, ParkedReceipt { at: now, ..receipt });
    }
    Ok(count)
}

/// Limits the due times of webhook events: `waits` are the longest waits after each failure, from the first.
/// Returns how many were corrected.
pub fn limit_webhook_waits(
    batch: &Batch<'_>,
    waits: &[Duration],
    now: Timestamp,
) -> Result<usize, TableError> {
    let mut changed = 0;
    for (failures, wait) in (0..).zip(std::iter::once(TOLERANCE).chain(waits.iter().copied())) {
        let latest = now.plus(wait);
        for key in batch.tables.read()?.events_due_after(failures, latest)? {
            batch.tables.write(WebhookEventChange::DueTime { key, due_at: latest, failures });
            changed += 1;
        }
    }
    Ok(changed)
}
