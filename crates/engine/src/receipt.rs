//! Applies DLRs from carriers: finds the part by the carrier's id or by the recipient's number and applies the receipt to it,
//! or parks the receipt until a response brings that id.

use crate::batch::Batch;
use crate::ops::{CarrierIdQuery, LATE_LINES_MAX, ParkedReceipt, ReceiptOutcome, ReceiptRecord};
use crate::progress::Applied;
use crate::state::carrier_id_days::{Assigned, Match};
use crate::steps::{CarrierWord, StepKind};
use crate::tables::{
    IdAssignment, MessageExceptionChange, MessageKey, ParkedReceiptChange, PartKey, TableError,
};
use hermod_domain::carrier::{IdConversion, RemoteKey};
use hermod_domain::ids::{CarrierId, PartNo, RemoteId};
use hermod_domain::lifecycle::{DeliveryOutcome, PartEvent};
use hermod_domain::phone::Msisdn;
use hermod_domain::receipt::{RAW_WORD_CHARS_MAX, ReceiptWords};
use hermod_domain::time::Timestamp;

/// What a receipt says about its part.
struct ReceiptFacts {
    verdict: DeliveryOutcome,
    err: u16,
    word: Option<Box<str>>,
    words: ReceiptWords,
    at: Timestamp,
}

/// Whether a receipt with this verdict is the last one for its part.
pub fn is_final(verdict: DeliveryOutcome) -> bool {
    match verdict {
        DeliveryOutcome::Delivered
        | DeliveryOutcome::Undeliverable
        | DeliveryOutcome::Rejected
        | DeliveryOutcome::Expired => true,
        DeliveryOutcome::Enroute | DeliveryOutcome::Accepted | DeliveryOutcome::NoChange => false,
    }
}

impl Batch<'_> {
    /// Stores the id that a carrier gave to a part, and applies the receipts that were parked for that id.
    pub fn assign_carrier_id(
        &mut self,
        key: MessageKey,
        part: PartNo,
        to: Msisdn,
        remote: &RemoteId,
        ids: IdConversion,
    ) -> Result<(), TableError> {
        let MessageKey { carrier, account, message } = key;
        let (at, day) = (self.now, self.now.day());
        let part_key = PartKey { account, message, part };
        let assignment = IdAssignment { part: part_key, to: Some(to), at, day };
        if self.state.carrier_ids.assign(self.tables, carrier, remote, assignment)? == Assigned::Reused {
            self.tally.ids_reused += 1;
            *self.reused_ids.entry(carrier).or_default() += 1;
            self.add_step(message, part, StepKind::CarrierIdReused { carrier, remote: remote.clone() });
        }
        self.state.delivery.sent(carrier, to, day);
        if self.state.parked.count(carrier) == 0 {
            return Ok(());
        }
        for key in [Some(RemoteKey::of(remote)), ids.key_in_receipt(remote)].into_iter().flatten() {
            for receipt in self.state.parked.under(self.tables, carrier, &key)? {
                self.retry_parked(carrier, ids, &receipt)?;
            }
        }
        Ok(())
    }

    /// Applies a receipt. Finds its part by the carrier's id, or else by the recipient's number. A receipt that matches
    /// no part, or several, is parked if it has an id, and dropped otherwise. Returns what happened to it.
    pub fn record_receipt(
        &mut self,
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
            at: self.now,
        };
        let found = match remote {
            Some(remote) => {
                let query = CarrierIdQuery { carrier, ids, remote, source: *source };
                self.state.carrier_ids.find(self.tables, &query)?
            }
            None => Match::Nothing,
        };
        let is_ambiguous = match found {
            Match::Part(assignment) => return self.apply_receipt(carrier, &assignment, &facts),
            Match::Nothing => false,
            Match::Ambiguous => true,
        };
        if !is_ambiguous && let Some(assignment) = self.match_by_number(carrier, record)? {
            return self.apply_receipt(carrier, &assignment, &facts);
        }
        let Some(remote) = remote.clone() else { return Ok(ReceiptOutcome::Dropped) };
        // The words are not kept: they are the record's, and a parked receipt reaches its timeline without them.
        let ReceiptFacts { verdict, err, word, words: _, at } = facts;
        let ambiguous = is_ambiguous;
        self.park(carrier, &ParkedReceipt { remote, verdict, err, word, source: *source, at, ambiguous })?;
        if is_ambiguous {
            self.tally.receipts_ambiguous += 1;
            return Ok(ReceiptOutcome::Ambiguous);
        }
        self.tally.receipts_parked += 1;
        Ok(ReceiptOutcome::Parked)
    }

    /// Parks a receipt, and counts those that it displaced.
    fn park(&mut self, carrier: CarrierId, receipt: &ParkedReceipt) -> Result<(), TableError> {
        let crowded_out = self.state.parked.park(self.tables, carrier, receipt)?;
        self.tally.receipts_given_up += crowded_out;
        Ok(())
    }

    /// Looks again for the part of a parked receipt, and applies the receipt if there is exactly one. Returns whether
    /// it was.
    pub fn retry_parked(
        &mut self,
        carrier: CarrierId,
        ids: IdConversion,
        receipt: &ParkedReceipt,
    ) -> Result<bool, TableError> {
        let ParkedReceipt { remote, source, verdict, err, word, at, .. } = receipt;
        let query = CarrierIdQuery { carrier, ids, remote, source: *source };
        match self.state.carrier_ids.find(self.tables, &query)? {
            Match::Part(assignment) => {
                self.state.parked.remove(self.tables, carrier, remote)?;
                self.tally.receipts_rematched += 1;
                let facts = ReceiptFacts {
                    verdict: *verdict,
                    err: *err,
                    word: word.clone(),
                    words: ReceiptWords::default(),
                    at: *at,
                };
                self.apply_receipt(carrier, &assignment, &facts).map(|_| true)
            }
            Match::Ambiguous if !receipt.ambiguous => {
                self.tables.write(ParkedReceiptChange::Ambiguous { carrier, remote: remote.clone() });
                Ok(false)
            }
            Match::Ambiguous | Match::Nothing => Ok(false),
        }
    }

    /// Looks again for the parts of the receipts that are parked for these ids. Returns how many were applied.
    pub fn rematch(
        &mut self,
        carrier: CarrierId,
        ids: IdConversion,
        remotes: &[RemoteId],
        now: Timestamp,
    ) -> Result<usize, TableError> {
        self.advance_to(now);
        let mut matched = 0;
        for remote in remotes {
            // It may have been matched or given up since it was listed.
            if let Some(receipt) = self.tables.read()?.parked_receipt(carrier, remote)? {
                matched += usize::from(self.retry_parked(carrier, ids, &receipt)?);
            }
        }
        Ok(matched)
    }

    /// Gives up some receipts that were parked for longer than `PARKED_KEPT`. Returns how many.
    pub fn give_up_parked(&mut self, now: Timestamp) -> Result<u64, TableError> {
        self.advance_to(now);
        let given_up = self.state.parked.give_up_old(self.tables, now)?;
        self.tally.receipts_given_up += given_up;
        Ok(given_up)
    }

    /// Applies a receipt to the part it belongs to. A late or repeated receipt only adds a step.
    fn apply_receipt(
        &mut self,
        carrier: CarrierId,
        assignment: &IdAssignment,
        facts: &ReceiptFacts,
    ) -> Result<ReceiptOutcome, TableError> {
        let PartKey { account, message, part } = assignment.part;
        let ReceiptFacts { verdict, err, word, words, at } = facts;
        let key = MessageKey { carrier, account, message };
        let step = StepKind::Receipt { carrier, verdict: *verdict, err: *err, words: words.clone() };
        let applied = self.apply(key, part, PartEvent::Receipt(*verdict), *err, None, Some(step))?;
        if let Applied::Moved { .. } = applied {
            self.state.delivery.settled(carrier, assignment, *verdict, *at);
            return Ok(ReceiptOutcome::Applied);
        }
        self.tally.receipts_late += 1;
        let (verdict, err, word) = (*verdict, *err, word.clone().map(CarrierWord));
        let step = if applied == Applied::Ignored && verdict == DeliveryOutcome::NoChange {
            StepKind::UnreadableReceipt { verdict, err, word }
        } else {
            StepKind::LateReceipt { verdict, err, word }
        };
        self.add_late_receipt(assignment.part, step)?;
        Ok(ReceiptOutcome::Unchanged)
    }

    /// Adds a step for a receipt that changed nothing, up to `LATE_LINES_MAX` of them for each message, and none if the
    /// message's record is purged.
    fn add_late_receipt(&mut self, key: PartKey, step: StepKind) -> Result<(), TableError> {
        let PartKey { account, message, part } = key;
        let noted = self.tables.read()?.message_exceptions(message)?.late_receipts;
        if noted < LATE_LINES_MAX && self.tables.read()?.has_message(account, message)? {
            self.tables.write(MessageExceptionChange::LateReceipts { message, count: noted + 1 });
            self.add_step(message, part, step);
        }
        Ok(())
    }
}

/// Returns a carrier's word, cut to the length that is stored.
fn bounded(word: &str) -> Box<str> {
    word.chars().take(RAW_WORD_CHARS_MAX).collect()
}
