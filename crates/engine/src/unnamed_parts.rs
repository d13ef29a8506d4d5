//! Parts that a carrier accepted without a usable id. They are never resent. A receipt that no id matches is matched to
//! one of them by the recipient's number and the time, if exactly one part qualifies.

use crate::batch::Batch;
use crate::ops::ReceiptRecord;
use crate::progress::Applied;
use crate::receipt::is_final;
use crate::state::carrier_id_days::DAYS_KEPT;
use crate::steps::{LateResponse, StepKind};
use crate::tables::{IdAssignment, MessageKey, PartKey, TableError, UnnamedPart, UnnamedPartChange};
use hermod_domain::carrier::IdConversion;
use hermod_domain::ids::{CarrierId, PartNo};
use hermod_domain::lifecycle::PartEvent;
use hermod_domain::phone::Msisdn;
use hermod_domain::receipt::ReceiptWords;
use hermod_domain::sender::Sender;
use hermod_domain::time::{Day, Timestamp};
use std::time::Duration;

/// How long before its response a receipt may arrive: the longest wait for a response.
const OVERTAKES_BY_MAX: Duration = Duration::from_secs(60);
/// Parts to one number that are compared. With more, a receipt could not be assigned to one of them.
const SAME_NUMBER_MAX: usize = 64;

impl Batch<'_> {
    /// Applies a response that accepts a part without a usable id.
    pub fn accepted_without_id(
        &mut self,
        key: MessageKey,
        part: PartNo,
        to: Msisdn,
    ) -> Result<(), TableError> {
        let step = StepKind::NoCarrierId { carrier: key.carrier };
        match self.apply(key, part, PartEvent::Accepted, 0, None, Some(step))? {
            Applied::Moved { .. } => {}
            Applied::Inactive => return self.add_late_response(key, part, LateResponse::AcceptedWithoutId),
            Applied::Ignored => return Ok(()),
        }
        let MessageKey { carrier, account, message } = key;
        self.state.delivery.sent(carrier, to, self.now.day());
        let part = PartKey { account, message, part };
        self.tables.write(UnnamedPartChange::Put(UnnamedPart { carrier, to, part, at: self.now }));
        self.match_overtaking(carrier, to)
    }

    /// Applies a receipt that arrived before the response without an id. It is parked under the id that it carries.
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
            words: ReceiptWords::default(),
            source: receipt.source,
            sender: None,
        };
        if self.match_by_number(carrier, &record)?.is_some() {
            // Its id is assigned to the part now.
            self.retry_parked(carrier, IdConversion::None, receipt)?;
        }
        Ok(())
    }

    /// Returns the one part without an id that a receipt can belong to; none if there is no such part, or several.
    /// Assigns the receipt's id to it, so that later and repeated receipts are found by that id.
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
        // An old row may still wait for its deletion.
        let before = not_waited_for_before(self.now.day());
        candidates.retain(|(part, _)| part.at >= before);
        let Some(UnnamedPart { part, at, .. }) = only_one(&candidates, record.sender.as_ref()) else {
            return Ok(None);
        };
        let assignment = IdAssignment { part, to: Some(to), at, day: at.day() };
        if let Some(remote) = &record.remote {
            self.state.carrier_ids.assign(self.tables, carrier, remote, assignment)?;
        }
        if record.remote.is_some() || is_final(record.verdict) {
            self.tables.write(UnnamedPartChange::Delete { carrier, to, part });
        }
        self.tally.receipts_by_number += 1;
        Ok(Some(assignment))
    }

    /// Deletes those of these parts that were accepted before a time, because no receipt for them is expected any more.
    pub fn forget_unnamed_parts(
        &mut self,
        parts: &[UnnamedPart],
        before: Timestamp,
    ) -> Result<(), TableError> {
        for UnnamedPart { carrier, to, part, .. } in parts {
            let (carrier, to, part) = (*carrier, *to, *part);
            // The carrier may have accepted it again since it was listed.
            if self.tables.read()?.unnamed_part_accepted_at(carrier, to, &part)?.is_some_and(|at| at < before)
            {
                self.tables.write(UnnamedPartChange::Delete { carrier, to, part });
            }
        }
        Ok(())
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
