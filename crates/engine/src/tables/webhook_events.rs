//! The tables of webhook events: those that wait, and those that have ended.

use crate::ops::{Endpoint, EventId, GiveUpReason};
use crate::tables::TableError;
use hermod_domain::ids::{ConnectionId, MessageId};
use hermod_domain::receipt::ReportStatus;
use hermod_domain::time::Timestamp;
use hermod_domain::webhook::DlrForm;
use serde::{Deserialize, Serialize};

/// The key of a webhook event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct EventKey {
    pub endpoint: Endpoint,
    pub event: EventId,
}

/// The events of an endpoint from one to another, both included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EventRange {
    pub endpoint: Endpoint,
    pub first: EventId,
    pub last: EventId,
}

/// A new webhook event, which was never posted.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct NewEvent {
    pub key: EventKey,
    pub due_at: Timestamp,
    /// The message sent or received.
    pub message: MessageId,
    /// When the reported change happened.
    pub at: Timestamp,
    pub content: EventContent,
}

/// What a webhook event tells.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub enum EventContent {
    /// The status of a message.
    Dlr { connection: ConnectionId, status: ReportStatus, err: u16, form: DlrForm },
    /// An MO message, by its number in its account.
    Inbound(u64),
}

/// How a webhook event ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum EventEnd {
    Delivered,
    GivenUp(GiveUpReason),
}

/// The attempts to post an event that waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EventAttempts {
    /// Since it was written or replayed.
    pub failures: u32,
    /// Ever made.
    pub attempts: u32,
}

/// An event that waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WaitingEvent {
    /// The message that it reports; none if its id is invalid.
    pub message: Option<MessageId>,
    pub counts: EventAttempts,
}

/// An event that has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EndedEvent {
    /// The message that it reports; none if its id is invalid.
    pub message: Option<MessageId>,
    pub attempts: u32,
}

/// A change of the tables.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum WebhookEventChange {
    /// The id that was given last.
    Last(EventId),
    /// A new event among those that wait.
    Add(NewEvent),
    /// The attempts that an event that waits has had.
    Attempts { key: EventKey, attempts: u32 },
    /// When an event that waits is due, and how often it has failed.
    DueTime { key: EventKey, due_at: Timestamp, failures: u32 },
    /// When a waiting event is due again, and its attempts.
    PutOff { key: EventKey, due_at: Timestamp, counts: EventAttempts },
    /// An event that waits goes among those that have ended, with all its attempts.
    End { key: EventKey, end: EventEnd, ended_at: Timestamp, attempts: u32 },
    /// An event that has ended goes among those that wait, without a failure.
    Restore { key: EventKey, due_at: Timestamp },
    /// The attempts that an event that has ended has had.
    EndedAttempts { key: EventKey, attempts: u32 },
    /// The events that ended no later than this are deleted, but not their attempts.
    DeleteEndedBy { range: EventRange, ended_by: Timestamp },
    /// The attempts of events that neither wait nor have ended are deleted.
    DeleteAttemptsWithoutEvent(EventRange),
}

impl WebhookEventChange {
    /// Returns the event that changes; none if it is not a single one.
    pub fn key(&self) -> Option<EventKey> {
        match *self {
            WebhookEventChange::Add(NewEvent { key, .. })
            | WebhookEventChange::Attempts { key, .. }
            | WebhookEventChange::DueTime { key, .. }
            | WebhookEventChange::PutOff { key, .. }
            | WebhookEventChange::End { key, .. }
            | WebhookEventChange::Restore { key, .. }
            | WebhookEventChange::EndedAttempts { key, .. } => Some(key),
            // Events that have ended are not read ahead.
            WebhookEventChange::Last(_)
            | WebhookEventChange::DeleteEndedBy { .. }
            | WebhookEventChange::DeleteAttemptsWithoutEvent(_) => None,
        }
    }
}

/// Reads and writes webhook events.
pub trait WebhookEventRows {
    /// Applies a change.
    fn change_webhook_event(&self, change: &WebhookEventChange) -> Result<(), TableError>;

    /// Returns the id that was given last.
    fn last_event(&self) -> Result<EventId, TableError>;

    /// Returns an event that waits; None if it does not wait.
    fn waiting_event(&self, key: EventKey) -> Result<Option<WaitingEvent>, TableError>;

    /// Returns those of these events that wait, in any order.
    fn waiting_events(&self, keys: &[EventKey]) -> Result<Vec<(EventKey, WaitingEvent)>, TableError>;

    /// Returns the waiting events that have failed this often and are due later than this.
    fn events_due_after(&self, failures: u32, due_at: Timestamp) -> Result<Vec<EventKey>, TableError>;

    /// Returns when an event ended; None if it has not.
    fn event_ended_at(&self, key: EventKey) -> Result<Option<Timestamp>, TableError>;

    /// Returns an event that has ended; None if it has not.
    fn ended_event(&self, key: EventKey) -> Result<Option<EndedEvent>, TableError>;

    /// Returns an endpoint's events that were given up, behind one of them, in order, and when each was: at most `limit`.
    fn failed_events(
        &self,
        endpoint: Endpoint,
        after: Option<EventId>,
        limit: u32,
    ) -> Result<Vec<(EventId, Timestamp)>, TableError>;

    /// Returns how many events ended no later than this.
    fn count_events_ended_by(&self, range: EventRange, ended_by: Timestamp) -> Result<u64, TableError>;
}
