//! Deletes the texts of messages, and everything else that the customer wrote. Ids, states, times and money stay.

use super::PURGED_PER_STEP_MAX;
use crate::batch::Batch;
use crate::set_aside;
use crate::tables::{
    MessageKey, MessageRange, OriginRow, PurgeChange, PurgeMark, TableError, TextRow, UnreadableMessage,
};
use hermod_domain::ids::MessageId;
use hermod_domain::lifecycle::PartState;

/// Deletes the texts of some messages before this one. Returns how many messages it passed. A message that cannot
/// be read is set aside, and its text is deleted too.
pub(super) fn purge_before(batch: &mut Batch<'_>, before: MessageId) -> Result<u64, TableError> {
    let mut done = 0;
    let mut range: Option<MessageRange> = None;
    for row in next_page(batch, before)? {
        let id = match row {
            Ok(TextRow { id, carrier, account, has_ended, origin }) => {
                if !has_ended && is_still_to_be_sent(batch, MessageKey { carrier, account, message: id })? {
                    break;
                }
                clear_quote(batch, id, origin);
                id
            }
            Err(UnreadableMessage { id, part }) => {
                set_aside::list(batch, part)?;
                id
            }
        };
        range = Some(MessageRange { first: range.map_or(id, |range| range.first), last: id });
        done += 1;
    }
    if let Some(range) = range {
        batch.tables.write(PurgeChange::DeleteTexts(range));
        batch.tables.write(PurgeChange::Mark { mark: PurgeMark::Texts, last: range.last });
    }
    batch.results.tally.texts_purged += done;
    Ok(done)
}

/// Returns the next messages behind the mark.
fn next_page(
    batch: &Batch<'_>,
    before: MessageId,
) -> Result<Vec<Result<TextRow, UnreadableMessage>>, TableError> {
    let texts = batch.tables.read()?.last_purged(PurgeMark::Texts)?;
    let after = texts.max(batch.tables.read()?.last_purged(PurgeMark::Records)?);
    batch.tables.read()?.texts_between(after, before, PURGED_PER_STEP_MAX)
}

/// Deletes the quote of the text in a message's origin.
fn clear_quote(batch: &Batch<'_>, message: MessageId, origin: Option<OriginRow>) {
    if let Some(mut origin) = origin.filter(|row| !row.origin.quote.is_empty()) {
        origin.origin.quote.clear();
        batch.tables.write(PurgeChange::Origin { message, origin });
    }
}

/// Whether parts of a message are still to be sent. Then its text is needed until its validity ends, also beyond its
/// retention.
fn is_still_to_be_sent(batch: &mut Batch<'_>, key: MessageKey) -> Result<bool, TableError> {
    let to_be_sent = [PartState::Queued, PartState::Sending, PartState::InDoubt];
    let parts = batch.tables.read()?.part_states(key);
    let parts = set_aside::if_unreadable(batch, key, parts)?.unwrap_or_default();
    Ok(parts.iter().any(|part| to_be_sent.contains(&part.state)))
}
