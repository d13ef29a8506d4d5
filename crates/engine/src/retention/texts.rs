//! Deletes the texts of messages, and everything else that the customer wrote. Ids, states, times and money stay.

use super::PURGED_PER_STEP_MAX;
use crate::batch::Batch;
use crate::set_aside;
use crate::tables::{
    MessageKey, MessageRange, OriginRow, PurgeChange, PurgeMark, TableError, TextRow, UnreadableMessage,
};
use hermod_domain::ids::MessageId;

impl Batch<'_> {
    /// Deletes the texts of some messages before this one. Returns how many messages it passed. A message that cannot
    /// be read is set aside, and its text is deleted too.
    pub(super) fn purge_texts_before(&mut self, before: MessageId) -> Result<u64, TableError> {
        let mut done = 0;
        let mut range: Option<MessageRange> = None;
        for row in self.next_texts(before)? {
            let id = match row {
                Ok(TextRow { id, carrier, account, has_ended, origin }) => {
                    if !has_ended && self.is_still_to_be_sent(MessageKey { carrier, account, message: id })? {
                        break;
                    }
                    self.clear_quote(id, origin);
                    id
                }
                Err(UnreadableMessage { id, part }) => {
                    set_aside::list(self, part)?;
                    id
                }
            };
            range = Some(MessageRange { first: range.map_or(id, |range| range.first), last: id });
            done += 1;
        }
        if let Some(range) = range {
            self.tables.write(PurgeChange::DeleteTexts(range));
            self.tables.write(PurgeChange::Mark { mark: PurgeMark::Texts, last: range.last });
        }
        self.tally.purged.texts += done;
        Ok(done)
    }

    /// Returns the next messages behind the mark.
    fn next_texts(&self, before: MessageId) -> Result<Vec<Result<TextRow, UnreadableMessage>>, TableError> {
        let texts = self.tables.read()?.last_purged(PurgeMark::Texts)?;
        let after = texts.max(self.tables.read()?.last_purged(PurgeMark::Records)?);
        self.tables.read()?.texts_between(after, before, PURGED_PER_STEP_MAX)
    }

    /// Deletes the quote of the text in a message's origin.
    fn clear_quote(&self, message: MessageId, origin: Option<OriginRow>) {
        if let Some(mut origin) = origin.filter(|row| !row.origin.quote.is_empty()) {
            origin.origin.quote.clear();
            self.tables.write(PurgeChange::Origin { message, origin });
        }
    }
}
