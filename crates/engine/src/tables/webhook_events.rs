//! The tables of webhook events: those that wait, and those that have ended.

use crate::ops::{Endpoint, EventId, HookGivenUp};
use crate::tables::TableError;
use hermod_domain::ids::{ConnectionId, MessageId};
use hermod_domain::origin::Told;
use hermod_domain::time::Timestamp;
use hermod_domain::webhook::DlrForm;

/// The key of a webhook event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct EventKey {
    pub endpoint: Endpoint,
    pub event: EventId,
}

/// The events of an endpoint from one to another, both included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EventRange {
    pub endpoint: Endpoint,
    pub first: EventId,
    pub last: EventId,
}

/// A new webhook event, which nobody has tried to post yet.
#[derive(Clone, Copy, Debug)]
pub struct NewEvent {
    pub key: EventKey,
    pub due_at: Timestamp,
    /// The message sent or received.
    pub message: MessageId,
    /// When what it tells happened.
    pub at: Timestamp,
    pub about: EventAbout,
}

/// What a webhook event tells.
#[derive(Clone, Copy, Debug)]
pub enum EventAbout {
    /// What became of a message that was sent.
    Dlr { connection: ConnectionId, told: Told, err: u16, form: DlrForm },
    /// A message from a handset, by the number it has among its account's.
    Inbound(u64),
}

/// How a webhook event ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventEnd {
    Delivered,
    GivenUp(HookGivenUp),
}

/// The attempts to post an event that waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EventAttempts {
    /// Since it was written or replayed.
    pub failures: u32,
    /// Ever made.
    pub attempts: u32,
}

/// Reads and writes webhook events.
pub trait WebhookEventRows {
    /// Returns the id that was given last.
    fn last_event(&self) -> Result<EventId, TableError>;

    /// Writes the id that was given last.
    fn put_last_event(&self, event: EventId) -> Result<(), TableError>;

    /// Writes a new event among those that wait.
    fn put_event(&self, event: &NewEvent) -> Result<(), TableError>;

    /// Returns the attempts of an event that waits; None if it does not wait.
    fn event_attempts(&self, key: EventKey) -> Result<Option<EventAttempts>, TableError>;

    /// Writes how many attempts an event that waits has had.
    fn put_event_attempts(&self, key: EventKey, attempts: u32) -> Result<(), TableError>;

    /// Writes when an event that waits is due, and how often it has failed. Returns whether it waits.
    fn put_event_due(&self, key: EventKey, due_at: Timestamp, failures: u32) -> Result<bool, TableError>;

    /// Returns the events that wait, have failed so often, and are due later than this.
    fn events_due_after(&self, failures: u32, due_at: Timestamp) -> Result<Vec<EventKey>, TableError>;

    /// Adds to the attempts and failures of an event that waits, and writes when it is due. Returns its attempts; None if
    /// it does not wait.
    fn put_off_event(&self, key: EventKey, due_at: Timestamp, made: u32) -> Result<Option<u32>, TableError>;

    /// Moves an event that waits among those that have ended, and adds to its attempts. Returns its attempts; None if it
    /// does not wait.
    fn end_event(
        &self,
        key: EventKey,
        end: EventEnd,
        ended_at: Timestamp,
        made: u32,
    ) -> Result<Option<u32>, TableError>;

    /// Moves an event that has ended among those that wait, without a failure. Returns whether it had ended.
    fn restore_event(&self, key: EventKey, due_at: Timestamp) -> Result<bool, TableError>;

    /// Returns how many attempts an event that has ended has had; None if it has not ended.
    fn ended_event_attempts(&self, key: EventKey) -> Result<Option<u32>, TableError>;

    /// Writes how many attempts an event that has ended has had.
    fn put_ended_event_attempts(&self, key: EventKey, attempts: u32) -> Result<(), TableError>;

    /// Returns an endpoint's events that were given up, behind one of them, in order, and when each was: at most `limit`.
    fn failed_events(
        &self,
        endpoint: Endpoint,
        after: Option<EventId>,
        limit: u32,
    ) -> Result<Vec<(EventId, Timestamp)>, TableError>;

    /// Deletes the events that ended no later than this, but not their attempts. Returns how many.
    fn delete_events_ended_by(&self, range: EventRange, ended_by: Timestamp) -> Result<u64, TableError>;
}
