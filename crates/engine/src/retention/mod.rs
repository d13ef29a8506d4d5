//! Purges old data in small steps: first the text of a message, much later its record; and MO messages. Ids are in the
//! order of time, so what is due is a range of ids, and a mark says up to which id it was purged. No step reads a row
//! twice, and a step that a crash undid is repeated. Each step is one short transaction; the caller pauses between
//! steps.

mod records;
mod texts;

use crate::batch::Batch;
use crate::ops::{GIVEN_UP_KEPT, REPORT_KEPT, Retention, WEBHOOKS_KEPT};
use crate::tables::{InboundRow, RowChange, TableError};
use hermod_domain::ids::{AccountId, MessageId};
use hermod_domain::time::Timestamp;
use std::time::Duration;

/// Rows that one step purges at most.
pub const PURGED_PER_STEP_MAX: u32 = 250;

/// How long after the end of a message its record is kept, also beyond its retention. Until then a report about it may still be
/// delivered, listed as given up, or replayed. Matters only after a downtime of most of a year.
const QUIET: Duration = Duration::from_secs(40 * 86_400);

const _: () = assert!(QUIET.as_secs() > REPORT_KEPT.as_secs() + GIVEN_UP_KEPT.as_secs());
const _: () = assert!(QUIET.as_secs() > WEBHOOKS_KEPT.as_secs() + REPORT_KEPT.as_secs());

/// Deletes the texts of some messages that are past their retention. Returns how many messages it passed.
pub fn purge_texts(batch: &mut Batch<'_>, keep: Retention, now: Timestamp) -> Result<u64, TableError> {
    batch.advance_to(now);
    texts::purge_before(batch, MessageId::first_at(now.minus(keep.text)))
}

/// Makes the idempotency keys void that are past their retention, in whole days. Returns whether there may be any.
pub fn expire_keys(batch: &mut Batch<'_>, keep: Retention, now: Timestamp) -> Result<bool, TableError> {
    batch.advance_to(now);
    let day = now.minus(keep.idempotency_keys.min(keep.messages)).day();
    Ok(batch.state.keys.expire(batch.tables, MessageId::first_at(day.start())))
}

/// Deletes the records of some messages that are past their retention, in whole days. Returns how many messages it
/// passed.
pub fn purge_records(batch: &mut Batch<'_>, keep: Retention, now: Timestamp) -> Result<u64, TableError> {
    // No key may be found whose message is deleted.
    expire_keys(batch, keep, now)?;
    let day = now.minus(keep.messages).day();
    records::purge_before(batch, MessageId::first_at(day.start()))
}

/// Deletes some carrier ids that are so old that no receipt can refer to them. Returns how many.
pub fn purge_carrier_ids(batch: &mut Batch<'_>, now: Timestamp) -> Result<u64, TableError> {
    batch.advance_to(now);
    batch.state.carrier_ids.purge_days(batch.tables, now.day(), PURGED_PER_STEP_MAX)
}

/// Deletes the oldest MO messages of an account that were received before a time. The remaining numbers have no
/// gap. Returns how many were deleted.
pub fn purge_inbound(
    batch: &mut Batch<'_>,
    account: AccountId,
    before: Timestamp,
) -> Result<u64, TableError> {
    let first = batch.tables.read()?.first_inbound(account, PURGED_PER_STEP_MAX)?;
    let old: Vec<u64> =
        first.into_iter().take_while(|(_, received_at)| *received_at < before).map(|(id, _)| id).collect();
    let Some(last) = old.last().copied() else { return Ok(0) };
    let of = i64::from(account.get());
    let up_to = [("account", of..=of), ("id", i64::MIN..=last.cast_signed())];
    batch.tables.write(RowChange::<InboundRow>::delete_in(up_to));
    let done = u64::try_from(old.len()).unwrap_or(0);
    batch.results.tally.inbound_purged += done;
    Ok(done)
}
