//! Parts that a carrier accepted without a usable id. They are never resent. A receipt that no id matches is matched to
//! one of them by the recipient's number and the time, if exactly one part qualifies.

use crate::batch::Batch;
use crate::ops::ReceiptRecord;
use crate::state::carrier_id_days::DAYS_KEPT;
use crate::tables::{IdAssignment, MessageKey, PartKey, RowChange, TableError, UnnamedPart};
use hermod_domain::ids::{CarrierId, PartNo};
use hermod_domain::lifecycle::DeliveryOutcome;
use hermod_domain::phone::Msisdn;
use hermod_domain::sender::Sender;
use hermod_domain::time::{Day, Timestamp};

/// Parts to one number that are compared. With more, a receipt could not be assigned to one of them.
const SAME_NUMBER_MAX: usize = 64;

/// Adds a part that its carrier has just accepted.
pub fn add(batch: &mut Batch<'_>, key: MessageKey, part: PartNo, to: Msisdn) {
    let MessageKey { carrier, account, message } = key;
    let part = PartKey { account, message, part };
    batch.tables.write(RowChange::Put(UnnamedPart { carrier, to, part, at: batch.now }));
}

/// Returns the one part without an id that a receipt can belong to; none if there is no such part, or several.
/// Assigns the receipt's id to it, so that later and repeated receipts are found by that id.
pub fn find(
    batch: &mut Batch<'_>,
    carrier: CarrierId,
    record: &ReceiptRecord,
) -> Result<Option<IdAssignment>, TableError> {
    let Some(to) = record.source else { return Ok(None) };
    let mut candidates = batch.tables.read()?.unnamed_parts(carrier, to, SAME_NUMBER_MAX)?;
    if candidates.len() == SAME_NUMBER_MAX {
        return Ok(None);
    }
    // An old row may still wait for its deletion.
    let before = not_waited_for_before(batch.now.day());
    candidates.retain(|(part, _)| part.at >= before);
    let Some(UnnamedPart { part, at, .. }) = only_one(&candidates, record.sender.as_ref()) else {
        return Ok(None);
    };
    let assignment = IdAssignment { part, to: Some(to), at, day: at.day() };
    if let Some(remote) = &record.remote {
        batch.state.carrier_ids.assign(batch.tables, carrier, remote, assignment)?;
    }
    if record.remote.is_some() || is_final(record.verdict) {
        batch.tables.write(RowChange::<UnnamedPart>::Delete((carrier, to, part)));
    }
    batch.results.tally.receipts_by_number += 1;
    Ok(Some(assignment))
}

/// Deletes those of these parts that were accepted before a time, because no receipt for them is expected any more.
pub fn forget(batch: &mut Batch<'_>, parts: &[UnnamedPart], before: Timestamp) -> Result<(), TableError> {
    for UnnamedPart { carrier, to, part, .. } in parts {
        let (carrier, to, part) = (*carrier, *to, *part);
        // The carrier may have accepted it again since it was listed.
        if batch.tables.read()?.unnamed_part_accepted_at(carrier, to, &part)?.is_some_and(|at| at < before) {
            batch.tables.write(RowChange::<UnnamedPart>::Delete((carrier, to, part)));
        }
    }
    Ok(())
}

/// Whether a receipt with this verdict is the last one for its part.
fn is_final(verdict: DeliveryOutcome) -> bool {
    match verdict {
        DeliveryOutcome::Delivered
        | DeliveryOutcome::Undeliverable
        | DeliveryOutcome::Rejected
        | DeliveryOutcome::Expired => true,
        DeliveryOutcome::Enroute | DeliveryOutcome::Accepted | DeliveryOutcome::NoChange => false,
    }
}

/// Returns the only candidate. A receipt that names the sender narrows the choice; if no candidate has that sender, it
/// excludes none, because carriers may replace senders.
fn only_one(candidates: &[(UnnamedPart, Sender)], sender: Option<&Sender>) -> Option<UnnamedPart> {
    let same = |(_, from): &&(UnnamedPart, Sender)| {
        sender.is_some_and(|sender| sender.address().eq_ignore_ascii_case(from.address()))
    };
    let narrowed: Vec<_> = candidates.iter().filter(same).collect();
    let left = if narrowed.is_empty() { candidates.iter().collect() } else { narrowed };
    match left[..] {
        [(part, _)] => Some(*part),
        _ => None,
    }
}

/// Returns the time before which a part was accepted if no receipt for it is expected any more.
pub fn not_waited_for_before(today: Day) -> Timestamp {
    Day::new(today.get() - DAYS_KEPT).start()
}
