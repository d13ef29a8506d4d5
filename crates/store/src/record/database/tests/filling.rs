//! Fills a record with messages that no store has: for tests, and for benchmarks with the feature `fill`.

use crate::error::StoreError;
use crate::record::database::writing::{Flush, RecordConnection};
use crate::record::keys::SearchKey;
use crate::record::pending::{NewMessage, PendingMessage, encode};
use crate::record::tally::SharedCollected;
use crate::record::{HistoryStep, RecordedMessage, StepNote};
use crate::sqlite::database::Database;
use hermod_domain::ids::CarrierId;
use hermod_domain::time::Timestamp;
use hermod_engine::steps::StepKind;
use std::path::Path;
use std::sync::Arc;

/// A message with everything that happened to it.
#[derive(Clone, Debug)]
pub struct FilledMessage {
    pub message: RecordedMessage,
    /// The carrier that had it first, if it moved to another one.
    pub first_carrier: Option<CarrierId>,
    /// The id of the HTTP request.
    pub request: Option<Box<str>>,
    /// The digest of the idempotency key.
    pub key: Option<[u8; 16]>,
    /// In the order in which they happened.
    pub steps: Vec<HistoryStep>,
}

impl FilledMessage {
    /// Returns what a flush writes.
    pub(crate) fn pending(self) -> PendingMessage {
        let FilledMessage { message, first_carrier, request, key, steps } = self;
        let mut pending = PendingMessage::new(message.id);
        for step in &steps {
            pending.last_ms = step.at_ms;
            encode(step, &mut pending.steps);
            match &step.what {
                StepNote::Step(StepKind::CarrierAccepted { remote, .. }) => {
                    pending.keys.push(SearchKey::of_carrier_id(remote));
                }
                StepNote::Step(StepKind::WebhookAttempt { event, .. }) => {
                    pending.keys.push(SearchKey::of_event(*event));
                }
                _ => {}
            }
        }
        pending.new = Some(NewMessage {
            first_carrier: first_carrier.unwrap_or(message.carrier),
            charged_parts: message.parts,
            balance: None,
            request,
            route: None,
            compared: None,
            key,
            message,
        });
        pending
    }
}

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
