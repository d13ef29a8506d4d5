//! A message without its text: everything the customer wrote goes, what is said about the message stays.

use super::PURGED_PER_STEP_MAX;
use crate::batch::Batch;
use crate::tables::{OriginRow, Place, PurgeMark, TableError, TextRow};
use hermod_domain::ids::MessageId;

impl Batch<'_> {
    /// How many messages it has dealt with.
    pub fn purge_texts(&mut self, before: MessageId) -> Result<u64, TableError> {
        let mut done = 0;
        let mut last = None;
        for row in self.next_texts(before)? {
            let TextRow { id, carrier, account, has_ended, .. } = row;
            if !has_ended && self.is_still_to_be_sent(Place { carrier, account, message: id })? {
                break;
            }
            self.remove_text(row)?;
            last = Some(id);
            done += 1;
        }
        if let Some(last) = last {
            self.tables.put_last_purged(PurgeMark::Texts, last)?;
        }
        self.tally.purged.texts += done;
        Ok(done)
    }

    fn next_texts(&self, before: MessageId) -> Result<Vec<TextRow>, TableError> {
        let texts = self.tables.last_purged(PurgeMark::Texts)?;
        let after = texts.max(self.tables.last_purged(PurgeMark::Records)?);
        self.tables.texts_between(after, before, PURGED_PER_STEP_MAX)
    }

    fn remove_text(&self, row: TextRow) -> Result<(), TableError> {
        if row.has_text {
            self.tables.delete_text(row.id)?;
        }
        let Some(OriginRow { mut origin, alias }) = row.origin else { return Ok(()) };
        if origin.quote.is_empty() {
            return Ok(());
        }
        origin.quote.clear();
        self.tables.put_origin(row.id, &OriginRow { origin, alias })
    }
}
