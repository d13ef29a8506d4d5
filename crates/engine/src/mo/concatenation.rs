//! Joins the parts of concatenated MO messages. Parts may arrive in any order, over any link of their carrier, and over
//! restarts. A message is delivered when all its parts are there, or after [`CONCATENATION_WAIT`] without the missing ones.

use crate::batch::Batch;
use crate::mo::delivery::{self, ReceivedMo};
use crate::ops::{CONCATENATED_OCTETS_MAX, CONCATENATION_WAIT};
use crate::tables::{
    MoPartChange, TableError, Unfinished, UnfinishedFound, UnfinishedId, UnfinishedKey, UnfinishedSize,
};
use hermod_domain::ids::CarrierId;
use hermod_domain::inbound::{InboundPart, MoContent, number_of};
use hermod_domain::text::ConcatPart;
use hermod_domain::time::Timestamp;

/// Incomplete messages delivered in one batch because their wait is over; the rest follow in the next batch.
const UNFINISHED_PER_BATCH_MAX: u32 = 200;

/// Adds a part to its message, and delivers the message if it is complete. The part must be new.
pub fn join(
    batch: &mut Batch<'_>,
    carrier: CarrierId,
    part: &InboundPart,
    joined: ConcatPart,
) -> Result<(), TableError> {
    let mut group = find_group(batch, carrier, part, joined)?;
    let length = part.segment.octets.len();
    // The handset reused the reference for another message, or this one would grow without limit.
    let is_full = |group: &UnfinishedFound| group.size.octets + length > CONCATENATED_OCTETS_MAX;
    if let Some(ended) = group.take_if(|group| group.has_part || is_full(group)) {
        deliver_group(batch, ended.id)?;
    }
    while batch.state.mo_parts.is_full(carrier) {
        let Some(oldest) = batch.tables.read()?.oldest_unfinished(carrier)? else { break };
        group.take_if(|group| group.id == oldest);
        deliver_group(batch, oldest)?;
    }
    let (id, size) = match group {
        Some(group) => (group.id, group.size),
        None => (begin_group(batch, carrier, part, joined)?, UnfinishedSize { parts: 0, octets: 0 }),
    };
    batch.tables.write(MoPartChange::AddPart { id, no: joined.part, segment: part.segment.clone() });
    let size = UnfinishedSize { parts: size.parts + 1, octets: size.octets + length };
    batch.tables.write(MoPartChange::UnfinishedSize { id, size });
    batch.state.mo_parts.added(carrier, batch.now);
    if size.parts == u32::from(joined.total) {
        deliver_group(batch, id)?;
    }
    Ok(())
}

/// Whether an unfinished message lacks exactly this part.
pub fn is_lacking(
    batch: &Batch<'_>,
    carrier: CarrierId,
    part: &InboundPart,
    joined: ConcatPart,
) -> Result<bool, TableError> {
    Ok(find_group(batch, carrier, part, joined)?.is_some_and(|group| !group.has_part))
}

/// Returns the unfinished message that a part belongs to.
fn find_group(
    batch: &Batch<'_>,
    carrier: CarrierId,
    part: &InboundPart,
    joined: ConcatPart,
) -> Result<Option<UnfinishedFound>, TableError> {
    let (source, destination) =
        (number_of(&part.source).into_owned(), number_of(&part.destination).into_owned());
    let ConcatPart { reference, total, part } = joined;
    let key = UnfinishedKey { carrier, source, destination, reference, total };
    batch.tables.read()?.find_unfinished(&key, part)
}

/// Adds an unfinished message without parts.
fn begin_group(
    batch: &Batch<'_>,
    carrier: CarrierId,
    part: &InboundPart,
    joined: ConcatPart,
) -> Result<UnfinishedId, TableError> {
    let InboundPart { source: written_source, destination: written_destination, .. } = part;
    let (source, destination) =
        (number_of(written_source).into_owned(), number_of(written_destination).into_owned());
    let ConcatPart { reference, total, .. } = joined;
    let key = UnfinishedKey { carrier, source, destination, reference, total };
    let id = UnfinishedId(batch.tables.read()?.last_unfinished()?.map_or(1, |last| last.0 + 1));
    let unfinished = Box::new(Unfinished {
        carrier,
        source: written_source.clone(),
        destination: written_destination.clone(),
        total,
        since: batch.now,
    });
    batch.tables.write(MoPartChange::AddUnfinished { id, unfinished, key });
    Ok(id)
}

/// Delivers messages whose missing parts did not arrive in time, a bounded number of them.
pub fn deliver_unfinished(batch: &mut Batch<'_>, now: Timestamp) -> Result<(), TableError> {
    batch.advance_to(now);
    if batch.state.mo_parts.next_at().is_none_or(|at| at > now) {
        return Ok(());
    }
    let since = now.minus(CONCATENATION_WAIT);
    let due = batch.tables.read()?.unfinished_since(since, UNFINISHED_PER_BATCH_MAX)?;
    for group in due {
        deliver_group(batch, group)?;
    }
    batch.state.mo_parts.delivered_due(batch.tables.read()?.oldest_unfinished_since()?);
    Ok(())
}

/// Delivers a message with the parts that it has.
fn deliver_group(batch: &mut Batch<'_>, group: UnfinishedId) -> Result<(), TableError> {
    let Unfinished { carrier, source, destination, total, since } = batch.tables.read()?.unfinished(group)?;
    let pieces = batch.tables.read()?.mo_parts(group)?;
    batch.tables.write(MoPartChange::DeleteParts(group));
    batch.tables.write(MoPartChange::DeleteUnfinished(group));
    let count = u8::try_from(pieces.len()).unwrap_or(u8::MAX);
    batch.state.mo_parts.removed(carrier, u64::from(count));
    let missing = total.saturating_sub(count);
    if missing > 0 {
        batch.results.tally.inbound_incomplete += 1;
    }
    let whole = MoContent::of(&pieces);
    delivery::deliver(batch, &ReceivedMo { carrier, source, destination, whole, missing, at: since })
}
