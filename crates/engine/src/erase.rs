//! Erases a phone number on request of the person it belongs to. In everything that has ended, texts are deleted and
//! the number is replaced by [`ERASED_NUMBER`]. Ids, states, times and money stay, so that every balance can still be
//! proved. What has not ended is left alone and named. Opt-outs stay, because they protect the person.

use crate::batch::Batch;
use crate::tables::{
    AttemptKey, DayCarrierId, ErasableKind, ErasableMessage, ErasureChange, InboundKey, TableError,
};
use hermod_domain::erasure::{ERASURES_KEPT, ErasureScope, KeptErasure};
use hermod_domain::ids::MessageId;
use hermod_domain::origin::{Origin, SmppAddress};

/// Replaces an erased number. Its country code 999 belongs to no country.
pub const ERASED_NUMBER: u64 = 9_990_000_000;

/// How much was erased.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Erased {
    pub messages: u64,
    pub inbound: u64,
    /// Held messages, parked receipts, conversations and unassigned MO messages.
    pub others: u64,
    /// Messages and MO messages that were left alone because they, or reports about them, are still being delivered.
    pub in_progress: u64,
    /// The first of those messages.
    pub named: Vec<MessageId>,
}

/// Erases the number in those of these messages that have ended. Returns how many, and the messages that have not.
pub fn messages(batch: &mut Batch<'_>, ids: &[MessageId]) -> Result<(u64, Vec<MessageId>), TableError> {
    let (mut done, mut left) = (0, Vec::new());
    for id in ids {
        // Its record may have been purged since it was found.
        let Some(message) = batch.tables.read()?.erasable_message(*id)? else { continue };
        if message.has_ended {
            erase_message(batch, *id, message);
            done += 1;
        } else {
            left.push(*id);
        }
    }
    Ok((done, left))
}

/// Erases the recipient, the origin and the text of a message.
fn erase_message(batch: &Batch<'_>, message: MessageId, found: ErasableMessage) {
    let ErasableMessage { carrier, to, mut origin, .. } = found;
    if let Some(row) = &mut origin {
        erase_origin(&mut row.origin);
    }
    // The message has ended, so no receipt needs to be matched by number.
    batch.tables.write(ErasureChange::UnnamedParts { carrier, to, message });
    batch.tables.write(ErasureChange::Message { message, to: ERASED_NUMBER, origin });
}

/// Erases the number in these MO messages.
pub fn inbound(batch: &mut Batch<'_>, keys: &[InboundKey]) {
    for key in keys {
        batch.tables.write(ErasureChange::Inbound { key: *key, from: ERASED_NUMBER });
    }
}

/// Erases the recipient of those of these carrier ids whose messages have ended.
pub fn carrier_ids(batch: &mut Batch<'_>, ids: &[DayCarrierId]) -> Result<(), TableError> {
    let days = batch.tables.read()?.carrier_id_days()?;
    // A day may have been retired since its ids were listed: they are about to be deleted.
    for id in ids.iter().filter(|id| days.contains(&id.day)) {
        let message = batch.tables.read()?.erasable_message(id.part.message)?;
        if message.is_none_or(|message| message.has_ended) {
            batch.tables.write(ErasureChange::CarrierId(id.clone()));
        }
    }
    Ok(())
}

/// Removes the responses to these attempts.
pub fn responses(batch: &mut Batch<'_>, attempts: &[AttemptKey]) {
    attempts.iter().for_each(|attempt| batch.tables.write(ErasureChange::Response(*attempt)));
}

/// Keeps an erasure, so that it can be made again.
pub fn keep(batch: &mut Batch<'_>, erasure: KeptErasure) {
    let delete_before = erasure.at.minus(ERASURES_KEPT);
    batch.tables.write(ErasureChange::Keep { erasure, delete_before });
}

/// Erases the number in reviews and conversations, and without an account also in parked receipts and unassigned MO
/// messages, which belong to none. Returns how many rows there were.
pub fn others(batch: &mut Batch<'_>, scope: ErasureScope) -> Result<u64, TableError> {
    let mut kinds = vec![ErasableKind::Review, ErasableKind::Conversation];
    if scope.account.is_none() {
        kinds.extend([ErasableKind::ParkedReceipt, ErasableKind::UnassignedInbound]);
    }
    let mut done = 0;
    for kind in kinds {
        done += batch.tables.read()?.count_erasable(kind, &scope)?;
        batch.tables.write(ErasureChange::Others { kind, scope });
    }
    Ok(done)
}

/// Removes the quote of the text, and the recipient as the customer wrote it.
fn erase_origin(origin: &mut Origin) {
    origin.quote.clear();
    origin.destination = SmppAddress::default();
}

#[cfg(test)]
mod tests {
    use super::*;
    use hermod_domain::origin::RegisteredDelivery;

    #[test]
    fn erased_origin_names_neither_recipient_nor_text() {
        let before = Origin {
            registered_delivery: RegisteredDelivery::from_octet(1),
            short_id: true,
            on_transmitter: false,
            reference: Some(7),
            source: SmppAddress::new(5, 0, b"Hermod"),
            destination: SmppAddress::new(1, 1, b"4915112345678"),
            quote: b"hello".iter().copied().collect(),
        };
        let mut erased = before.clone();
        erase_origin(&mut erased);
        let (destination, quote) = (SmppAddress::default(), Default::default());
        assert!(erased == Origin { destination, quote, ..before }, "everything else stays");
    }
}
