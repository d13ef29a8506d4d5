//! Ends parts past their deadline: the validity of a waiting part, or the wait for the receipt of a sent part.

use crate::batch::Batch;
use crate::progress::{self, Applied};
use crate::set_aside;
use crate::steps::StepKind;
use crate::tables::{MessageKey, PartRow, TableError};
use hermod_domain::catalogue::Catalogue;
use hermod_domain::ids::PartNo;
use hermod_domain::lifecycle::{PartEvent, PartState};
use hermod_domain::time::Timestamp;

/// Returns the event of a part that is past its deadline; none if it is not. The carrier's entry in the catalogue says
/// how long after the end of its validity a receipt is expected.
pub fn expiry_event(row: &PartRow, now: Timestamp, catalogue: &Catalogue) -> Option<PartEvent> {
    let PartRow { key, expires_at, .. } = *row;
    let receipt_until = || expires_at.plus(catalogue.receipt_wait(key.carrier));
    match row.now.state {
        PartState::Queued | PartState::InDoubt => (expires_at <= now).then_some(PartEvent::ValidityEnded),
        PartState::Sent | PartState::Presumed | PartState::Enroute => {
            (expires_at <= now && receipt_until() <= now).then_some(PartEvent::ReceiptOverdue)
        }
        PartState::Sending
        | PartState::Overdue
        | PartState::Delivered
        | PartState::Undeliverable
        | PartState::Expired
        | PartState::Rejected => None,
    }
}

/// Ends those of these parts that are still past their deadline. Returns how many.
pub fn expire(
    batch: &mut Batch<'_>,
    parts: &[(MessageKey, PartNo)],
    now: Timestamp,
) -> Result<usize, TableError> {
    batch.advance_to(now);
    let mut expired = 0;
    for (key, part) in parts {
        let Some(row) = set_aside::read_part(batch, *key, *part)? else { continue };
        if let Some(event) = expiry_event(&row, now, &batch.catalogue) {
            // A job that is still in a lane finds its message ended when its turn comes.
            let step = (event == PartEvent::ValidityEnded).then_some(StepKind::Expired);
            let applied = progress::apply(batch, *key, *part, event, 0, None, step)?;
            expired += usize::from(matches!(applied, Applied::Moved { .. }));
        }
    }
    Ok(expired)
}
