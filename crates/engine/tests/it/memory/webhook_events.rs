//! Webhook events: those that wait, and those that have ended.

use super::{MemoryTables, Rows};
use hermod_domain::ids::{AccountId, MessageId};
use hermod_domain::time::Timestamp;
use hermod_domain::webhook::WebhookKind;
use hermod_engine::ops::{Endpoint, EventId};
use hermod_engine::tables::{
    EndedEvent, EventAttempts, EventContent, EventEnd, EventKey, EventRange, NewEvent, TableError,
    WaitingEvent, WebhookEventChange, WebhookEventRows,
};

/// The key of an event: account, kind and id.
pub(super) type Key = (u32, u8, u64);

/// The content of an event, waiting or ended.
#[derive(Clone, Copy, Debug)]
pub(super) struct ReportStatus {
    pub(super) message: MessageId,
    _at: Timestamp,
    pub(super) about: EventContent,
}

/// The row of an event that waits.
#[derive(Clone, Copy, Debug)]
pub(super) struct Waiting {
    pub(super) due_at: Timestamp,
    pub(super) failures: u32,
    pub(super) attempts: u32,
    pub(super) told: ReportStatus,
}

/// The row of an event that has ended.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ended {
    pub(super) end: EventEnd,
    pub(super) ended_at: Timestamp,
    pub(super) attempts: u32,
    told: ReportStatus,
}

impl Rows {
    /// Returns the events of a range that ended no later than this.
    fn ended_by(&self, range: EventRange, ended_by: Timestamp) -> Vec<Key> {
        let ended = self.webhook_past.iter();
        let ended = ended.filter(|(key, row)| is_in_range(range, **key) && row.ended_at <= ended_by);
        ended.map(|(key, _)| *key).collect()
    }
}

impl WebhookEventRows for MemoryTables {
    fn change_webhook_event(&self, change: &WebhookEventChange) -> Result<(), TableError> {
        let rows = &mut *self.write();
        match change {
            WebhookEventChange::Last(event) => rows.webhook_counter.put((), event.0),
            WebhookEventChange::Add(NewEvent { key, due_at, message, at, content: about }) => {
                let told = ReportStatus { message: *message, _at: *at, about: *about };
                let row = Waiting { due_at: *due_at, failures: 0, attempts: 0, told };
                rows.webhook.add(stored_key(*key), row);
            }
            WebhookEventChange::Attempts { key, attempts } => {
                rows.webhook.update(&stored_key(*key), |row| row.attempts = *attempts);
            }
            WebhookEventChange::DueTime { key, due_at, failures } => {
                rows.webhook.update(&stored_key(*key), |row| {
                    row.due_at = *due_at;
                    row.failures = *failures;
                });
            }
            WebhookEventChange::PutOff { key, due_at, counts } => {
                rows.webhook.update(&stored_key(*key), |row| {
                    row.due_at = *due_at;
                    row.failures = counts.failures;
                    row.attempts = counts.attempts;
                });
            }
            WebhookEventChange::End { key, end, ended_at, attempts } => {
                let Waiting { told, .. } = rows.webhook.delete(&stored_key(*key));
                let row = Ended { end: *end, ended_at: *ended_at, attempts: *attempts, told };
                rows.webhook_past.add(stored_key(*key), row);
            }
            WebhookEventChange::Restore { key, due_at } => {
                let Ended { attempts, told, .. } = rows.webhook_past.delete(&stored_key(*key));
                let row = Waiting { due_at: *due_at, failures: 0, attempts, told };
                rows.webhook.add(stored_key(*key), row);
            }
            WebhookEventChange::EndedAttempts { key, attempts } => {
                rows.webhook_past.update(&stored_key(*key), |row| row.attempts = *attempts);
            }
            WebhookEventChange::DeleteEndedBy { range, ended_by } => {
                rows.webhook_past.delete_all(rows.ended_by(*range, *ended_by));
            }
            WebhookEventChange::DeleteAttemptsWithoutEvent(range) => {
                let (waiting, ended) = (&rows.webhook, &rows.webhook_past);
                rows.webhook_attempt.delete_where(|(event, _), _| {
                    let key = stored_key(*event);
                    is_in_range(*range, key) && !waiting.contains_key(&key) && !ended.contains_key(&key)
                });
            }
        }
        Ok(())
    }

    fn last_event(&self) -> Result<EventId, TableError> {
        Ok(EventId(self.read().webhook_counter.get(&()).copied().unwrap_or(0)))
    }

    fn waiting_event(&self, key: EventKey) -> Result<Option<WaitingEvent>, TableError> {
        Ok(self.read().webhook.get(&stored_key(key)).map(waiting))
    }

    fn waiting_events(&self, keys: &[EventKey]) -> Result<Vec<(EventKey, WaitingEvent)>, TableError> {
        let rows = self.read();
        let found = keys.iter().filter_map(|key| Some((*key, waiting(rows.webhook.get(&stored_key(*key))?))));
        Ok(found.collect())
    }

    fn events_due_after(&self, failures: u32, due_at: Timestamp) -> Result<Vec<EventKey>, TableError> {
        let rows = self.read();
        let due = rows.webhook.iter().filter(|(_, row)| row.failures == failures && row.due_at > due_at);
        Ok(due.filter_map(|(key, _)| event_key(*key)).collect())
    }

    fn event_ended_at(&self, key: EventKey) -> Result<Option<Timestamp>, TableError> {
        Ok(self.read().webhook_past.get(&stored_key(key)).map(|row| row.ended_at))
    }

    fn ended_event(&self, key: EventKey) -> Result<Option<EndedEvent>, TableError> {
        let rows = self.read();
        let row = rows.webhook_past.get(&stored_key(key));
        Ok(row.map(|row| EndedEvent { message: Some(row.told.message), attempts: row.attempts }))
    }

    fn failed_events(
        &self,
        endpoint: Endpoint,
        after: Option<EventId>,
        limit: u32,
    ) -> Result<Vec<(EventId, Timestamp)>, TableError> {
        let rows = self.read();
        let (account, kind) = (endpoint.account.get(), endpoint.kind.as_u8());
        let after = after.map_or(0, |event| event.0);
        let ended = rows.webhook_past.range((account, kind, 0)..=(account, kind, u64::MAX));
        let failed = ended.filter(|((.., id), row)| *id > after && row.end != EventEnd::Delivered);
        Ok(failed.take(usize::try_from(limit)?).map(|((.., id), row)| (EventId(*id), row.ended_at)).collect())
    }

    fn count_events_ended_by(&self, range: EventRange, ended_by: Timestamp) -> Result<u64, TableError> {
        Ok(u64::try_from(self.read().ended_by(range, ended_by).len())?)
    }
}

pub(super) fn stored_key(key: EventKey) -> Key {
    let EventKey { endpoint: Endpoint { account, kind }, event } = key;
    (account.get(), kind.as_u8(), event.0)
}

pub(super) fn event_key((account, kind, event): Key) -> Option<EventKey> {
    let endpoint = Endpoint { account: AccountId::new(account), kind: WebhookKind::from_u8(kind)? };
    Some(EventKey { endpoint, event: EventId(event) })
}

/// Whether an event belongs to the range's endpoint and lies within the range.
pub(super) fn is_in_range(range: EventRange, (account, kind, event): Key) -> bool {
    let EventRange { endpoint, first, last } = range;
    (account, kind) == (endpoint.account.get(), endpoint.kind.as_u8()) && (first.0..=last.0).contains(&event)
}

fn waiting(row: &Waiting) -> WaitingEvent {
    WaitingEvent {
        message: Some(row.told.message),
        counts: EventAttempts { failures: row.failures, attempts: row.attempts },
    }
}
