//! What carriers can bill of a message that ends or moves. A submission without a response stays in doubt at every later carrier, so
//! what an earlier carrier can bill is noted when the message leaves it.

use crate::batch::Batch;
use crate::ops::{EarlierCost, TargetCarrier};
use crate::set_aside;
use crate::steps::StepKind;
use crate::tables::{MessageKey, PartRow, RowChange, TableError};
use hermod_domain::ids::{MessageId, PartNo};
use hermod_domain::lifecycle::{self, Billable, PartEvent, Parts, Progress};

/// Returns what its carrier can bill of a message that an event ends.
pub fn billable(
    batch: &Batch<'_>,
    message: MessageId,
    before: &Progress,
    event: PartEvent,
    after: &Progress,
) -> Result<Billable, TableError> {
    let billable = lifecycle::billable(before, event, after);
    if before.parts.iter().all(|part| part.doubts == 0) {
        return Ok(billable);
    }
    let earlier = batch.tables.read()?.earlier_costs(message)?;
    Ok(billable.without(earlier.last().map_or(0, |last| last.doubts)))
}

/// A message that is about to leave its carrier.
pub enum Leaving {
    /// Its carrier can bill nothing.
    Unsent,
    /// Its carrier may have got it.
    InDoubt(Box<EarlierCost>),
    /// Its row cannot be read, so it is set aside.
    SetAside,
}

/// Returns what the carrier of a message with these parts can bill. To be called before the message moves.
pub fn leaving(batch: &mut Batch<'_>, key: MessageKey, parts: &[PartRow]) -> Result<Leaving, TableError> {
    let submitted = submissions(parts);
    if submitted == 0 {
        return Ok(Leaving::Unsent);
    }
    let message = key.message;
    let cost = batch.tables.read()?.message_carrier_cost(message);
    let Some(cost) = set_aside::if_unreadable(batch, key, cost)? else { return Ok(Leaving::SetAside) };
    let earlier = batch.tables.read()?.earlier_costs(message)?;
    let (no, doubts) = earlier.last().map_or((0, 0), |last| (last.no, last.doubts));
    Ok(Leaving::InDoubt(Box::new(EarlierCost {
        message,
        no: no.saturating_add(1),
        carrier: key.carrier,
        submitted: submitted.saturating_sub(doubts),
        doubts: 0,
        cost,
    })))
}

/// Notes that a message moved to a carrier, where it has these parts.
pub fn note_move(
    batch: &mut Batch<'_>,
    message: MessageId,
    left: Leaving,
    to: TargetCarrier,
    parts: &[PartRow],
) {
    let earlier = match left {
        Leaving::InDoubt(left) => Some(Box::new(EarlierCost { doubts: submissions(parts), ..*left })),
        Leaving::Unsent | Leaving::SetAside => None,
    };
    if let Some(earlier) = &earlier {
        batch.tables.write(RowChange::Put(**earlier));
    }
    batch.add_step(message, PartNo::FIRST, StepKind::CarrierCost { cost: to.cost, earlier });
}

/// Returns how many `submit_sm` of parts that wait had no response.
fn submissions(parts: &[PartRow]) -> u16 {
    let parts: Parts = parts.iter().map(|part| part.now).collect();
    lifecycle::submissions(&parts)
}
