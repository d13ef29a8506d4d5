//! Parts that a carrier took without giving them a usable id. They are never resent; a receipt that no id matches is
//! matched to one of them by the recipient's number and the time, where exactly one part qualifies.

use crate::batch::Batch;
use crate::ops::ReceiptRecord;
use crate::progress::Applied;
use crate::receipt::is_final;
use crate::state::carrier_id_days::DAYS_KEPT;
use crate::steps::{LateResponse, StepKind};
use crate::tables::{PartKey, MessageKey, TableError, IdAssignment, UnnamedPart, UnnamedPartChange};
use hermod_domain::carrier::IdConversion;
use hermod_domain::ids::{CarrierId, PartNo};
use hermod_domain::lifecycle::Event;
use hermod_domain::phone::Msisdn;
use hermod_domain::sender::Sender;
use hermod_domain::time::{Day, Timestamp};
use std::time::Duration;

/// By how much a receipt may overtake its answer: as long as answers are waited for.
const OVERTAKES_BY_MAX: Duration = Duration::from_secs(60);
/// Parts to one number that are looked at. Beyond that no receipt could be told apart anyway.
const SAME_NUMBER_MAX: usize = 64;

impl Batch<'_> {
    /// The carrier took a part and gave it no usable id.
    pub fn accepted_without_id(&mut self, key: MessageKey, part: PartNo, to: Msisdn) -> Result<(), TableError> {
        let step = StepKind::NoCarrierId { carrier: key.carrier };
        match self.apply(key, part, Event::Accepted, 0, None, Some(step))? {
            Applied::Moved { .. } => {}
            Applied::Inactive => return self.add_late_response(key, part, LateResponse::TakenWithoutId),
            Applied::Ignored => return Ok(()),
        }
        let MessageKey { carrier, account, message } = key;
        self.state.delivery.sent(carrier, to, self.now.day());
        let part = PartKey { account, message, part };
        self.tables.write(UnnamedPartChange::Put(UnnamedPart { carrier, to, part, at: self.now }));
        self.match_overtaking(carrier, to)
    }

    /// A receipt may overtake the answer that gives no id. It waits under its own id then.
    fn match_overtaking(&mut self, carrier: CarrierId, to: Msisdn) -> Result<(), TableError> {
        if self.state.parked.count(carrier) == 0 {
            return Ok(());
        }
        let since = self.now.minus(OVERTAKES_BY_MAX);
        let waiting = self.state.parked.lately_about(self.tables, carrier, to, since)?;
        let [receipt] = &waiting[..] else { return Ok(()) };
        let record = ReceiptRecord {
            sequence: 0,
            remote: Some(receipt.remote.clone()),
            verdict: receipt.verdict,
            err: receipt.err,
            word: receipt.word.clone(),
            source: receipt.source,
            sender: None,
        };
        if self.match_by_number(carrier, &record)?.is_some() {
            // Its id is tied to the part now.
            self.retry_parked(carrier, IdConversion::None, receipt)?;
        }
        Ok(())
    }

    /// Returns the one part without an id that a receipt can be about. Ties the receipt's id to it, so that whatever the
    /// carrier says about it next, a repetition above all, is found by that id.
    pub fn match_by_number(
        &mut self,
        carrier: CarrierId,
        record: &ReceiptRecord,
    ) -> Result<Option<IdAssignment>, TableError> {
        let Some(to) = record.source else { return Ok(None) };
        let mut candidates = self.tables.read()?.unnamed_parts(carrier, to, SAME_NUMBER_MAX)?;
        if candidates.len() == SAME_NUMBER_MAX {
            return Ok(None);
        }
        // A row that is too old may still wait for its deletion.
        let before = not_waited_for_before(self.now.day());
        candidates.retain(|(part, _)| part.at >= before);
        let Some(UnnamedPart { part, at, .. }) = only_one(&candidates, record.sender.as_ref()) else {
            return Ok(None);
        };
        let assignment = IdAssignment { part, to: Some(to), at: Some(at), day: at.day() };
        if let Some(remote) = &record.remote {
            self.state.carrier_ids.assign(self.tables, carrier, remote, assignment)?;
        }
        if record.remote.is_some() || is_final(record.verdict) {
            self.tables.write(UnnamedPartChange::Delete { carrier, to, part });
        }
        self.tally.receipts_by_number += 1;
        Ok(Some(assignment))
    }

    /// Deletes those of these parts whose receipts are not waited for any more.
    pub fn forget_unnamed_parts(
        &mut self,
        parts: &[UnnamedPart],
        before: Timestamp,
    ) -> Result<(), TableError> {
        for UnnamedPart { carrier, to, part, .. } in parts {
            let (carrier, to, part) = (*carrier, *to, *part);
            // The carrier may have taken it again meanwhile.
            if self.tables.read()?.unnamed_part_taken_at(carrier, to, &part)?.is_some_and(|at| at < before) {
                self.tables.write(UnnamedPartChange::Delete { carrier, to, part });
            }
        }
        Ok(())
    }
}

/// The sender narrows the choice where a receipt names one that was written as the customer had it. Carriers may have
/// been given another one, so a sender that fits none excludes none.
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

/// Returns the time before which a part was taken whose receipts are not waited for any more.
pub fn not_waited_for_before(today: Day) -> Timestamp {
    Day::new(today.get() - DAYS_KEPT).start()
}
