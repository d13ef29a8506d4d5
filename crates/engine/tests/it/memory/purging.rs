//! Reads and deletions of retention, and its purge marks.

use super::columns::{StoredOrigin, stored_message, stored_range};
use super::{MemoryTables, Rows, messages};
use hermod_domain::ids::{AccountId, MessageId};
use hermod_domain::time::Timestamp;
use hermod_engine::tables::{
    MessageRange, OriginRow, PurgeChange, PurgeMark, PurgingRows, RecordRow, TableError, TextRow,
    UnreadableMessage,
};

impl Rows {
    /// Returns the first message id that each mark does not cover: 0 if nothing is purged.
    pub(super) fn retention_marks(&self) -> [i64; 3] {
        [PurgeMark::Texts, PurgeMark::Records, PurgeMark::Keys].map(|mark| self.purged_before(mark))
    }

    fn purged_before(&self, mark: PurgeMark) -> i64 {
        self.retention.get(&stored_mark(mark)).copied().unwrap_or(0)
    }

    /// Returns messages behind one and before another, in order.
    fn messages_between(
        &self,
        after: Option<MessageId>,
        before: MessageId,
        limit: u32,
    ) -> impl Iterator<Item = (i64, &messages::Row)> {
        let after = after.map_or(-1, MessageId::as_i64);
        let behind = self.message.range(after + 1..).map(|(id, row)| (*id, row));
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        behind.take_while(move |(id, _)| *id < before.as_i64()).take(limit)
    }
}

impl MemoryTables {
    fn put_last_purged(&self, mark: PurgeMark, last: MessageId) -> Result<(), TableError> {
        self.write().retention.put(stored_mark(mark), last.as_i64() + 1);
        Ok(())
    }

    fn delete_texts(&self, range: MessageRange) -> Result<(), TableError> {
        let rows = &mut *self.write();
        let keys: Vec<i64> = rows.message.range(stored_range(range)).map(|(id, _)| *id).collect();
        for key in keys {
            rows.message.update(&key, |row| {
                row.text = None;
                row.tlvs = None;
                row.options = None;
            });
        }
        Ok(())
    }

    fn put_origin(&self, message: MessageId, origin: &OriginRow) -> Result<(), TableError> {
        let origin = StoredOrigin(origin.clone());
        self.write().message.update(&message.as_i64(), |row| row.origin = Some(origin));
        Ok(())
    }

    fn delete_messages(&self, range: MessageRange) -> Result<(), TableError> {
        let range = stored_range(range);
        self.write().message.delete_where(|id, _| range.contains(id));
        Ok(())
    }

    fn delete_timelines(&self, range: MessageRange) -> Result<(), TableError> {
        let range = range.first..=range.last;
        self.write().timeline.delete_where(|_, line| range.contains(&line.message));
        Ok(())
    }
}

impl PurgingRows for MemoryTables {
    fn change_by_purging(&self, change: &PurgeChange) -> Result<(), TableError> {
        match change {
            PurgeChange::Mark { mark, last } => self.put_last_purged(*mark, *last),
            PurgeChange::DeleteTexts(range) => self.delete_texts(*range),
            PurgeChange::Origin { message, origin } => self.put_origin(*message, origin),
            PurgeChange::DeleteMessages(range) => self.delete_messages(*range),
            PurgeChange::DeleteTimelines(range) => self.delete_timelines(*range),
        }
    }

    fn last_purged(&self, mark: PurgeMark) -> Result<Option<MessageId>, TableError> {
        Ok(MessageId::from_i64(self.read().purged_before(mark) - 1))
    }

    fn texts_between(
        &self,
        after: Option<MessageId>,
        before: MessageId,
        limit: u32,
    ) -> Result<Vec<Result<TextRow, UnreadableMessage>>, TableError> {
        let rows = self.read();
        let texts = rows.messages_between(after, before, limit).map(|(id, row)| {
            Ok(Ok(TextRow {
                id: stored_message(id)?,
                carrier: row.carrier,
                account: row.account,
                has_ended: row.settled_at.is_some(),
                origin: row.origin.clone().map(|StoredOrigin(origin)| origin),
            }))
        });
        texts.collect()
    }

    fn records_between(
        &self,
        after: Option<MessageId>,
        before: MessageId,
        limit: u32,
    ) -> Result<Vec<Result<RecordRow, UnreadableMessage>>, TableError> {
        let rows = self.read();
        let records = rows.messages_between(after, before, limit).map(|(id, row)| {
            Ok(Ok(RecordRow {
                id: stored_message(id)?,
                carrier: row.carrier,
                account: row.account,
                cost: row.cost,
                settled_at: row.settled_at,
                alias: row.origin.as_ref().and_then(|StoredOrigin(origin)| origin.alias),
            }))
        });
        records.collect()
    }

    fn first_inbound(&self, account: AccountId, limit: u32) -> Result<Vec<(u64, Timestamp)>, TableError> {
        let rows = self.read();
        let first = rows.inbound.range((account, 0)..=(account, u64::MAX));
        Ok(first.take(usize::try_from(limit)?).map(|(_, row)| (row.id, row.received_at)).collect())
    }
}

fn stored_mark(mark: PurgeMark) -> u8 {
    match mark {
        PurgeMark::Texts => 1,
        PurgeMark::Records => 2,
        PurgeMark::Keys => 3,
    }
}
