//! Applies DLRs from carriers: finds the part by the carrier's id or by the recipient's number and applies the receipt to it,
//! or parks the receipt until a response brings that id.

use crate::batch::Batch;
use crate::ops::{CarrierIdQuery, LATE_LINES_MAX, ParkedReceipt, ReceiptOutcome, ReceiptRecord};
use crate::progress::{self, Applied};
use crate::state::carrier_id_days::{Assigned, Match};
use crate::state::parked_receipts;
use crate::steps::{CarrierWord, StepKind};
use crate::tables::{
    IdAssignment, MessageExceptionRow, MessageExceptions, MessageKey, PartKey, RowChange, TableError,
};
use crate::unnamed_parts;
use hermod_domain::carrier::{IdConversion, RemoteKey};
use hermod_domain::ids::{CarrierId, PartNo, RemoteId};
use hermod_domain::lifecycle::{DeliveryOutcome, PartEvent};
use hermod_domain::phone::Msisdn;
use hermod_domain::receipt::{RAW_WORD_CHARS_MAX, ReceiptWords};
use hermod_domain::time::Timestamp;
use std::time::Duration;

/// How long before its response a receipt may arrive: the longest wait for a response.
const OVERTAKES_BY_MAX: Duration = Duration::from_secs(60);

/// What a receipt says about its part.
struct ReceiptFacts {
    verdict: DeliveryOutcome,
    err: u16,
    word: Option<Box<str>>,
    words: ReceiptWords,
    at: Timestamp,
}

/// Stores the id that a carrier gave to a part, and applies the receipts that were parked for that id.
pub fn assign_id(
    batch: &mut Batch<'_>,
    key: MessageKey,
    part: PartNo,
    to: Msisdn,
    remote: &RemoteId,
    ids: IdConversion,
) -> Result<(), TableError> {
    let MessageKey { carrier, account, message } = key;
    let (at, day) = (batch.now, batch.now.day());
    let part_key = PartKey { account, message, part };
    let assignment = IdAssignment { part: part_key, to: Some(to), at, day };
    if batch.state.carrier_ids.assign(batch.tables, carrier, remote, assignment)? == Assigned::Reused {
        batch.results.tally.ids_reused += 1;
        *batch.results.reused_ids.entry(carrier).or_default() += 1;
        batch.add_step(message, part, StepKind::CarrierIdReused { carrier, remote: remote.clone() });
    }
    batch.state.delivery.sent(carrier, to, day);
    if batch.state.parked.count(carrier) == 0 {
        return Ok(());
    }
    for key in [Some(RemoteKey::of(remote)), ids.key_in_receipt(remote)].into_iter().flatten() {
        for receipt in batch.state.parked.under(batch.tables, carrier, &key)? {
            retry_parked(batch, carrier, ids, &receipt)?;
        }
    }
    Ok(())
}

/// Stores a part that a carrier accepted without a usable id, so that its receipts are matched by number. Applies the receipt
/// that arrived before the response: it is parked under the id that it carries, unless that id is known to be of other parts.
pub fn expect_by_number(
    batch: &mut Batch<'_>,
    key: MessageKey,
    part: PartNo,
    to: Msisdn,
) -> Result<(), TableError> {
    let carrier = key.carrier;
    batch.state.delivery.sent(carrier, to, batch.now.day());
    unnamed_parts::add(batch, key, part, to);
    if batch.state.parked.count(carrier) == 0 {
        return Ok(());
    }
    let since = batch.now.minus(OVERTAKES_BY_MAX);
    let waiting = batch.state.parked.lately_about(batch.tables, carrier, to, since)?;
    let [receipt] = &waiting[..] else { return Ok(()) };
    let query =
        CarrierIdQuery { carrier, ids: IdConversion::None, remote: &receipt.remote, source: receipt.source };
    if batch.state.carrier_ids.find(batch.tables, &query)? != Match::Nothing {
        return Ok(());
    }
    let record = ReceiptRecord {
        sequence: 0,
        remote: Some(receipt.remote.clone()),
        verdict: receipt.verdict,
        err: receipt.err,
        word: receipt.word.clone(),
        words: ReceiptWords::default(),
        source: receipt.source,
        sender: None,
    };
    if unnamed_parts::find(batch, carrier, &record)?.is_some() {
        // Its id is assigned to the part now.
        retry_parked(batch, carrier, IdConversion::None, receipt)?;
    }
    Ok(())
}

/// Applies a receipt. Finds its part by the carrier's id, or else by the recipient's number. A receipt that matches
/// no part, or several, is parked if it has an id, and dropped otherwise. Returns what happened to it.
pub fn record(
    batch: &mut Batch<'_>,
    carrier: CarrierId,
    ids: IdConversion,
    record: &ReceiptRecord,
) -> Result<ReceiptOutcome, TableError> {
    let ReceiptRecord { sequence: _, remote, verdict, err, word, words, source, sender: _ } = record;
    let facts = ReceiptFacts {
        verdict: *verdict,
        err: *err,
        word: word.as_deref().map(bounded),
        words: words.clone(),
        at: batch.now,
    };
    let found = match remote {
        Some(remote) => {
            let query = CarrierIdQuery { carrier, ids, remote, source: *source };
            batch.state.carrier_ids.find(batch.tables, &query)?
        }
        None => Match::Nothing,
    };
    let is_ambiguous = match found {
        Match::Part(assignment) => return apply(batch, carrier, &assignment, &facts),
        Match::Nothing => false,
        Match::Ambiguous => true,
    };
    if !is_ambiguous && let Some(assignment) = unnamed_parts::find(batch, carrier, record)? {
        return apply(batch, carrier, &assignment, &facts);
    }
    let Some(remote) = remote.clone() else { return Ok(ReceiptOutcome::Dropped) };
    // The words are not kept: they are the record's, and a parked receipt reaches its timeline without them.
    let ReceiptFacts { verdict, err, word, words: _, at } = facts;
    let ambiguous = is_ambiguous;
    park(batch, carrier, &ParkedReceipt { remote, verdict, err, word, source: *source, at, ambiguous })?;
    if is_ambiguous {
        batch.results.tally.receipts_ambiguous += 1;
        return Ok(ReceiptOutcome::Ambiguous);
    }
    batch.results.tally.receipts_parked += 1;
    Ok(ReceiptOutcome::Parked)
}

/// Parks a receipt, and counts those that it displaced.
fn park(batch: &mut Batch<'_>, carrier: CarrierId, receipt: &ParkedReceipt) -> Result<(), TableError> {
    let crowded_out = batch.state.parked.park(batch.tables, carrier, receipt)?;
    batch.results.tally.receipts_given_up += crowded_out;
    Ok(())
}

/// Looks again for the part of a parked receipt, and applies the receipt if there is exactly one. Returns whether
/// it was.
fn retry_parked(
    batch: &mut Batch<'_>,
    carrier: CarrierId,
    ids: IdConversion,
    receipt: &ParkedReceipt,
) -> Result<bool, TableError> {
    let ParkedReceipt { remote, source, verdict, err, word, at, .. } = receipt;
    let query = CarrierIdQuery { carrier, ids, remote, source: *source };
    match batch.state.carrier_ids.find(batch.tables, &query)? {
        Match::Part(assignment) => {
            batch.state.parked.remove(batch.tables, carrier, remote)?;
            batch.results.tally.receipts_rematched += 1;
            let facts = ReceiptFacts {
                verdict: *verdict,
                err: *err,
                word: word.clone(),
                words: ReceiptWords::default(),
                at: *at,
            };
            apply(batch, carrier, &assignment, &facts).map(|_| true)
        }
        Match::Ambiguous if !receipt.ambiguous => {
            parked_receipts::put(batch.tables, carrier, ParkedReceipt { ambiguous: true, ..receipt.clone() });
            Ok(false)
        }
        Match::Ambiguous | Match::Nothing => Ok(false),
    }
}

/// Looks again for the parts of the receipts that are parked for these ids. Returns how many were applied.
pub fn rematch(
    batch: &mut Batch<'_>,
    carrier: CarrierId,
    ids: IdConversion,
    remotes: &[RemoteId],
    now: Timestamp,
) -> Result<usize, TableError> {
    batch.advance_to(now);
    let mut matched = 0;
    for remote in remotes {
        // It may have been matched or given up since it was listed.
        if let Some(receipt) = batch.tables.read()?.parked_receipt(carrier, remote)? {
            matched += usize::from(retry_parked(batch, carrier, ids, &receipt)?);
        }
    }
    Ok(matched)
}

/// Gives up some receipts that were parked for longer than `PARKED_KEPT`. Returns how many.
pub fn give_up_parked(batch: &mut Batch<'_>, now: Timestamp) -> Result<u64, TableError> {
    batch.advance_to(now);
    let given_up = batch.state.parked.give_up_old(batch.tables, now)?;
    batch.results.tally.receipts_given_up += given_up;
    Ok(given_up)
}

/// Applies a receipt to the part it belongs to. A late or repeated receipt only adds a step.
fn apply(
    batch: &mut Batch<'_>,
    carrier: CarrierId,
    assignment: &IdAssignment,
    facts: &ReceiptFacts,
) -> Result<ReceiptOutcome, TableError> {
    let PartKey { account, message, part } = assignment.part;
    let ReceiptFacts { verdict, err, word, words, at } = facts;
    let key = MessageKey { carrier, account, message };
    let step = StepKind::Receipt { carrier, verdict: *verdict, err: *err, words: words.clone() };
    let applied = progress::apply(batch, key, part, PartEvent::Receipt(*verdict), *err, None, Some(step))?;
    if let Applied::Moved { .. } = applied {
        batch.state.delivery.settled(carrier, assignment, *verdict, *at);
        return Ok(ReceiptOutcome::Applied);
    }
    batch.results.tally.receipts_late += 1;
    let (verdict, err, word) = (*verdict, *err, word.clone().map(CarrierWord));
    let step = if applied == Applied::Ignored && verdict == DeliveryOutcome::NoChange {
        StepKind::UnreadableReceipt { verdict, err, word }
    } else {
        StepKind::LateReceipt { verdict, err, word }
    };
    add_late(batch, assignment.part, step)?;
    Ok(ReceiptOutcome::Unchanged)
}

/// Adds a step for a receipt that changed nothing, up to `LATE_LINES_MAX` of them for each message, and none if the
/// message's record is purged.
fn add_late(batch: &mut Batch<'_>, key: PartKey, step: StepKind) -> Result<(), TableError> {
    let PartKey { account, message, part } = key;
    let noted = batch.tables.read()?.message_exceptions(message)?.late_receipts;
    if noted < LATE_LINES_MAX && batch.tables.read()?.has_message(account, message)? {
        let exceptions = MessageExceptions { late_receipts: noted + 1, ..MessageExceptions::default() };
        let row = MessageExceptionRow { message, exceptions };
        batch.tables.write(RowChange::merge(row, ["late_receipts"]));
        batch.add_step(message, part, step);
    }
    Ok(())
}

/// Returns a carrier's word, cut to the length that is stored.
fn bounded(word: &str) -> Box<str> {
    word.chars().take(RAW_WORD_CHARS_MAX).collect()
}
