//! What a receipt does: it finds its part by the carrier's id and moves it, or waits until an answer brings that id.

use crate::batch::Batch;
use crate::ops::{CarrierIdQuery, LATE_LINES_MAX, ParkedReceipt, ReceiptOutcome, ReceiptRecord};
use crate::progress::Applied;
use crate::state::carrier_id_days::{Match, Assigned};
use crate::steps::{CarrierWord, StepKind};
use crate::tables::{MessageExceptionChange, ParkedReceiptChange, PartKey, MessageKey, TableError, IdAssignment};
use hermod_domain::carrier::{IdConversion, RemoteKey};
use hermod_domain::ids::{CarrierId, MessageId, PartNo, RemoteId};
use hermod_domain::lifecycle::{Event, Verdict};
use hermod_domain::phone::Msisdn;
use hermod_domain::receipt::RAW_WORD_CHARS_MAX;
use hermod_domain::time::Timestamp;

/// What a receipt says about its part.
struct Said {
    verdict: Verdict,
    err: u16,
    word: Option<Box<str>>,
    at: Timestamp,
}

/// Whether a receipt with this verdict is the last word on its part.
pub fn is_final(verdict: Verdict) -> bool {
    match verdict {
        Verdict::Delivered | Verdict::Undeliverable | Verdict::Rejected | Verdict::Expired => true,
        Verdict::Enroute | Verdict::Accepted | Verdict::NoNews => false,
    }
}

impl Batch<'_> {
    /// The carrier took a part and gave it an id. Receipts that waited for that id are done at once.
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
        let assignment = IdAssignment { part: part_key, to: Some(to), at: Some(at), day };
        if self.state.carrier_ids.assign(self.tables, carrier, remote, assignment)? == Assigned::Reused {
            self.tally.ids_reused += 1;
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

    pub fn record_receipt(
        &mut self,
        carrier: CarrierId,
        ids: IdConversion,
        record: &ReceiptRecord,
    ) -> Result<ReceiptOutcome, TableError> {
        let ReceiptRecord { sequence: _, remote, verdict, err, word, source, sender: _ } = record;
        let said = Said { verdict: *verdict, err: *err, word: word.as_deref().map(bounded), at: self.now };
        let found = match remote {
            Some(remote) => {
                let query = CarrierIdQuery { carrier, ids, remote, source: *source };
                self.state.carrier_ids.find(self.tables, &query)?
            }
            None => Match::Nothing,
        };
        let is_ambiguous = match found {
            Match::Part(assignment) => return self.apply_receipt(carrier, &assignment, &said),
            Match::Nothing => false,
            Match::Ambiguous => true,
        };
        if !is_ambiguous && let Some(assignment) = self.match_by_number(carrier, record)? {
            return self.apply_receipt(carrier, &assignment, &said);
        }
        let Some(remote) = remote.clone() else { return Ok(ReceiptOutcome::Dropped) };
        let Said { verdict, err, word, at } = said;
        let ambiguous = is_ambiguous;
        self.park(carrier, &ParkedReceipt { remote, verdict, err, word, source: *source, at, ambiguous })?;
        if is_ambiguous {
            self.tally.receipts_ambiguous += 1;
            return Ok(ReceiptOutcome::Ambiguous);
        }
        self.tally.receipts_parked += 1;
        Ok(ReceiptOutcome::Parked)
    }

    fn park(&mut self, carrier: CarrierId, receipt: &ParkedReceipt) -> Result<(), TableError> {
        let crowded_out = self.state.parked.park(self.tables, carrier, receipt)?;
        self.tally.receipts_given_up += crowded_out;
        Ok(())
    }

    /// Another look at a parked receipt. True if it has found its part now.
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
                let said = Said { verdict: *verdict, err: *err, word: word.clone(), at: *at };
                self.apply_receipt(carrier, &assignment, &said).map(|_| true)
            }
            Match::Ambiguous if !receipt.ambiguous => {
                self.tables.write(ParkedReceiptChange::Ambiguous { carrier, remote: remote.clone() });
                Ok(false)
            }
            Match::Ambiguous | Match::Nothing => Ok(false),
        }
    }

    /// Another look at the receipts that are parked for these ids. Returns how many have found their part.
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
            // It may have found its part, or gone, since it was looked at.
            if let Some(receipt) = self.tables.read()?.parked_receipt(carrier, remote)? {
                matched += usize::from(self.retry_parked(carrier, ids, &receipt)?);
            }
        }
        Ok(matched)
    }

    /// Gives up some receipts that have waited for `PARKED_KEPT`. Returns how many.
    pub fn give_up_parked(&mut self, now: Timestamp) -> Result<u64, TableError> {
        self.advance_to(now);
        let given_up = self.state.parked.give_up_old(self.tables, now)?;
        self.tally.receipts_given_up += given_up;
        Ok(given_up)
    }

    fn apply_receipt(
        &mut self,
        carrier: CarrierId,
        assignment: &IdAssignment,
        said: &Said,
    ) -> Result<ReceiptOutcome, TableError> {
        let PartKey { account, message, part } = assignment.part;
        let Said { verdict, err, word, at } = said;
        let key = MessageKey { carrier, account, message };
        let step = StepKind::Receipt { carrier, verdict: *verdict, err: *err };
        let applied = self.apply(key, part, Event::Receipt(*verdict), *err, None, Some(step))?;
        if let Applied::Moved { .. } = applied {
            self.state.delivery.settled(carrier, assignment, *verdict, *at);
            return Ok(ReceiptOutcome::Applied);
        }
        self.tally.receipts_late += 1;
        let (verdict, err, word) = (*verdict, *err, word.clone().map(CarrierWord));
        let step = if applied == Applied::Ignored && verdict == Verdict::NoNews {
            StepKind::UnreadableReceipt { verdict, err, word }
        } else {
            StepKind::LateReceipt { verdict, err, word }
        };
        self.add_late_receipt(message, part, step)?;
        Ok(ReceiptOutcome::Unchanged)
    }

    /// A carrier that repeats itself without end must not fill the disk with it.
    fn add_late_receipt(
        &mut self,
        message: MessageId,
        part: PartNo,
        step: StepKind,
    ) -> Result<(), TableError> {
        let noted = self.tables.read()?.message_exceptions(message)?.late_receipts;
        if noted < LATE_LINES_MAX {
            self.tables.write(MessageExceptionChange::LateReceipts { message, count: noted + 1 });
            self.add_step(message, part, step);
        }
        Ok(())
    }
}

/// A word of a carrier's is as long as it likes.
fn bounded(word: &str) -> Box<str> {
    word.chars().take(RAW_WORD_CHARS_MAX).collect()
}
