//! The table of attempts to post webhook events.

use crate::tables::{EventKey, EventRange, TableError};
use hermod_domain::time::Timestamp;
use std::time::Duration;

/// One attempt to post an event.
#[derive(Clone, Copy)]
pub struct StoredAttempt<'a> {
    /// The first attempt of an event is 1.
    pub no: u32,
    pub at: Timestamp,
    pub took: Duration,
    pub outcome: StoredOutcome<'a>,
    /// The beginning of the answer's body.
    pub answer: &'a [u8],
}

/// What came of an attempt.
#[derive(Clone, Copy)]
pub enum StoredOutcome<'a> {
    /// The receiver's status code.
    Status(u16),
    /// Why there was no answer.
    Failed(&'a str),
}

/// Reads and writes attempts to post webhook events.
pub trait WebhookAttemptRows {
    /// Writes an attempt, new or not.
    fn put_attempt(&self, key: EventKey, attempt: &StoredAttempt<'_>) -> Result<(), TableError>;

    /// Deletes an event's attempts up to a number, that one included.
    fn delete_attempts(&self, key: EventKey, last: u32) -> Result<(), TableError>;

    /// Deletes the attempts of events that are neither among those that wait nor among those that have ended.
    fn delete_attempts_without_event(&self, range: EventRange) -> Result<(), TableError>;
}
