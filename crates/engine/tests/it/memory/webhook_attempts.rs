//! Attempts to post webhook events.

use super::MemoryTables;
use super::webhook_events::{is_in_range, stored_key};
use hermod_engine::tables::{
    StoredAttempt, StoredOutcome, TableError, WebhookAttemptChange, WebhookAttemptRows,
};

/// The row of an attempt.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Row {
    at: i64,
    took_ms: u128,
    outcome: Result<u16, String>,
    pub(super) answer: Vec<u8>,
}

impl WebhookAttemptRows for MemoryTables {
    fn change_webhook_attempt(&self, change: &WebhookAttemptChange) -> Result<(), TableError> {
        let rows = &mut *self.write();
        match change {
            WebhookAttemptChange::Put { key, attempt } => {
                let StoredAttempt { no, at, took, outcome, response: answer } = attempt.clone();
                let outcome = match outcome {
                    StoredOutcome::Status(status) => Ok(status),
                    StoredOutcome::Failed(why) => Err(why),
                };
                let (account, kind, event) = stored_key(*key);
                let (at, took_ms) = (at.as_millis(), took.as_millis());
                let row = Row { at, took_ms, outcome, answer };
                rows.webhook_attempt.put((account, kind, event, no), row);
            }
            WebhookAttemptChange::DeleteUpTo { key, last } => {
                let event = stored_key(*key);
                rows.webhook_attempt
                    .delete_where(|(account, kind, id, no), _| (*account, *kind, *id) == event && no <= last);
            }
            WebhookAttemptChange::DeleteWithoutEvent(range) => {
                let (waiting, ended) = (&rows.webhook, &rows.webhook_past);
                rows.webhook_attempt.delete_where(|(account, kind, id, _), _| {
                    let key = (*account, *kind, *id);
                    is_in_range(*range, key) && !waiting.contains_key(&key) && !ended.contains_key(&key)
                });
            }
        }
        Ok(())
    }
}
