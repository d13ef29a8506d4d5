//! Fills the record of a closed store with messages that the store does not have: for benchmarks.

use crate::error::StoreError;
use crate::record::FilledMessage;
use crate::record::database::writing::{Flush, RecordConnection};
use crate::record::pending::PendingMessage;
use crate::record::tally::SharedCollected;
use crate::sqlite::database::Database;
use hermod_domain::time::Timestamp;
use std::path::Path;
use std::sync::Arc;

/// The record of a closed store, while it is filled.
pub struct RecordFiller {
    record: RecordConnection,
    collected: SharedCollected,
}

impl RecordFiller {
    /// Opens the record of a store. Fails with [`StoreError::InUse`] if the store is open.
    pub fn open(folder: &Path) -> Result<RecordFiller, StoreError> {
        let (store, main) = Database::open(folder)?;
        let position = main.store_position()?;
        main.close();
        store.close();
        let record = RecordConnection::open(folder, position)?;
        let collected = SharedCollected::default();
        *collected.lock() = Arc::new(record.read_collected()?);
        Ok(RecordFiller { record, collected })
    }

    /// Adds messages in one transaction, as the follower does.
    pub fn add(&mut self, messages: Vec<FilledMessage>) -> Result<(), StoreError> {
        let mut messages: Vec<PendingMessage> = messages.into_iter().map(FilledMessage::pending).collect();
        messages.sort_unstable_by_key(|message| message.id);
        let position = self.record.position()?;
        let flush = Flush { messages: &messages, requests: &[], position, is_watched: false };
        let flushed = self.record.flush(&flush)?;
        self.collected.add(&flushed.counts);
        Ok(self.record.checkpoint_if_due()?)
    }

    /// Moves what was counted to the tables of the statistics. The follower does this every minute.
    pub fn fold(&self, now: Timestamp) -> Result<(), StoreError> {
        Ok(self.record.fold(&self.collected, now)?)
    }

    /// Closes the record.
    pub fn finish(self) -> Result<(), StoreError> {
        Ok(self.record.finish()?)
    }
}
