//! A message without its text: everything the customer wrote goes, what is said about the message stays.

use super::{Mark, PURGED_PER_STEP_MAX};
use crate::embedded::batch::Batch;
use crate::embedded::blobs;
use crate::fault::StoreFault;
use hermod_domain::ids::{AccountId, CarrierId, MessageId};
use rusqlite::params;

struct Row {
    id: i64,
    carrier: CarrierId,
    account: AccountId,
    has_ended: bool,
    has_text: bool,
    origin: Option<Vec<u8>>,
}

impl Batch<'_> {
    /// How many messages it has dealt with.
    pub(super) fn purge_texts(&mut self, before: MessageId) -> Result<u64, StoreFault> {
        let mut done = 0;
        let mut upto = None;
        for row in self.next_texts(before)? {
            if !row.has_ended && self.is_still_to_be_sent(row.carrier, row.account, row.id)? {
                break;
            }
            self.remove_text(&row)?;
            upto = Some(row.id + 1);
            done += 1;
        }
        if let Some(upto) = upto {
            self.set_mark(Mark::Texts, upto)?;
        }
        self.tally.purged.texts += done;
        Ok(done)
    }

    fn next_texts(&self, before: MessageId) -> Result<Vec<Row>, StoreFault> {
        let from = self.mark(Mark::Texts)?.max(self.mark(Mark::Records)?);
        let mut statement = self.connection.prepare_cached(
            "SELECT id, carrier, account, settled_at IS NOT NULL,
                    text IS NOT NULL OR tlvs IS NOT NULL OR shape IS NOT NULL, origin
             FROM message WHERE id >= ?1 AND id < ?2 ORDER BY id LIMIT ?3",
        )?;
        let rows = statement.query_map(params![from, before.as_i64(), PURGED_PER_STEP_MAX], |row| {
            Ok(Row {
                id: row.get(0)?,
                carrier: CarrierId::new(row.get(1)?),
                account: AccountId::new(row.get(2)?),
                has_ended: row.get(3)?,
                has_text: row.get(4)?,
                origin: row.get(5)?,
            })
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    fn remove_text(&self, row: &Row) -> Result<(), StoreFault> {
        if row.has_text {
            self.connection
                .prepare_cached("UPDATE message SET text = NULL, tlvs = NULL, shape = NULL WHERE id = ?1")?
                .execute([row.id])?;
        }
        let Some(blob) = &row.origin else { return Ok(()) };
        let (mut origin, alias) = blobs::origin_of(blob)?;
        if !origin.quote.is_empty() {
            origin.quote.clear();
            self.connection
                .prepare_cached("UPDATE message SET origin = ?2 WHERE id = ?1")?
                .execute(params![row.id, blobs::origin_to_blob(&origin, alias).as_slice()])?;
        }
        Ok(())
    }
}
