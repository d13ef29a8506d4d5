//! Receives MO messages: drops duplicates, joins concatenated parts, and delivers the message to its account. All of it
//! happens in the transaction of the link's command, and the deliver_sm is answered after the commit. So an answered
//! message is never lost, and one that the carrier sends again is stored once.

pub mod concatenation;
pub mod conversations;
pub mod delivery;
pub mod inbound;
pub mod unassigned;

use crate::batch::Batch;
use crate::ops::{PART_REPEATS_KNOWN, REPEATS_KNOWN};
use crate::tables::{MoPartChange, SeenKey, TableError};
use delivery::ReceivedMo;
use hermod_domain::ids::CarrierId;
use hermod_domain::inbound::{InboundPart, MoContent};
use hermod_domain::time::Timestamp;
use std::time::Duration;

/// Receives one deliver_sm. A duplicate is only counted, except that STOP in it still opts the handset out.
pub fn receive(batch: &mut Batch<'_>, carrier: CarrierId, part: &InboundPart) -> Result<(), TableError> {
    let known = if part.concat.is_some() { PART_REPEATS_KNOWN } else { REPEATS_KNOWN };
    let mut is_new = is_new(batch, carrier, part.digest(), known)?;
    if let Some(joined) = part.concat {
        // Handsets reuse references: a message that lacks exactly this part is another one.
        is_new = is_new || concatenation::is_lacking(batch, carrier, part, joined)?;
        if is_new {
            return concatenation::join(batch, carrier, part, joined);
        }
        batch.results.tally.inbound_repeated += 1;
        return Ok(());
    }
    let mo = ReceivedMo {
        carrier,
        source: part.source.clone(),
        destination: part.destination.clone(),
        whole: MoContent::of(&[(1, part.segment.clone())]),
        missing: 0,
        at: batch.now,
    };
    if is_new {
        return delivery::deliver(batch, &mo);
    }
    batch.results.tally.inbound_repeated += 1;
    delivery::apply_stop_of_duplicate(batch, &mo)
}

/// Whether the carrier did not deliver the same message or part lately. Remembers its digest.
fn is_new(
    batch: &Batch<'_>,
    carrier: CarrierId,
    digest: [u8; 16],
    known: Duration,
) -> Result<bool, TableError> {
    // A command that waited for free disk space has an old time; the digest counts from now on.
    let now = batch.now.max(batch.state.last_time);
    let key = SeenKey { carrier, digest };
    let is_new = batch.tables.read()?.seen_until(&key)?.is_none_or(|until| until <= now);
    if is_new {
        batch.tables.write(MoPartChange::Seen { key, until: now.plus(known) });
    }
    Ok(is_new)
}

/// Deletes digests that are too old to recognise a duplicate, at most `limit`. Returns how many.
pub fn forget_repeats(batch: &mut Batch<'_>, now: Timestamp, limit: usize) -> Result<usize, TableError> {
    batch.advance_to(now);
    let over = batch.tables.read()?.seen_no_longer_than(now, limit)?;
    over.iter().for_each(|key| batch.tables.write(MoPartChange::DeleteSeen(*key)));
    Ok(over.len())
}
