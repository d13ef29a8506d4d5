//! The table of attempts to post webhook events.

use crate::tables::{EventKey, EventRange, TableError};
use hermod_domain::time::Timestamp;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// One attempt to post an event.
#[derive(Clone, Serialize, Deserialize)]
pub struct StoredAttempt {
    /// The first attempt of an event is 1.
    pub no: u32,
    pub at: Timestamp,
    pub took: Duration,
    pub outcome: StoredOutcome,
    /// The beginning of the response's body.
    #[serde(with = "hermod_domain::octets")]
    pub response: Vec<u8>,
}

/// The outcome of an attempt.
#[derive(Clone, Serialize, Deserialize)]
pub enum StoredOutcome {
    /// The HTTP status of the response.
    Status(u16),
    /// Why there was no response.
    Failed(String),
}

/// A change of the table.
#[derive(Clone, Serialize, Deserialize)]
pub enum WebhookAttemptChange {
    Put {
        key: EventKey,
        attempt: StoredAttempt,
    },
    /// The attempts of an event up to a number, that one included, are deleted.
    DeleteUpTo {
        key: EventKey,
        last: u32,
    },
    /// The attempts of events that are neither among those that wait nor among those that have ended are deleted.
    DeleteWithoutEvent(EventRange),
}

/// Reads and writes attempts to post webhook events.
pub trait WebhookAttemptRows {
    /// Applies a change.
    fn change_webhook_attempt(&self, change: &WebhookAttemptChange) -> Result<(), TableError>;
}
