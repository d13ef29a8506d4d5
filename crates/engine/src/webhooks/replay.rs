//! Replays webhook events: posts an event again with the same number and body, on a new retry schedule.

use crate::batch::Batch;
use crate::ops::{Endpoint, EventId, ReplayProgress, WebhookReplay};
use crate::tables::{EventKey, TableError, WebhookEventChange};
use hermod_domain::ids::AccountId;
use hermod_domain::time::Timestamp;
use hermod_domain::webhook::WebhookKind;

impl Batch<'_> {
    /// Makes an event due now, whether it has ended or still waits.
    pub fn replay_webhook(
        &mut self,
        account: AccountId,
        event: EventId,
        now: Timestamp,
    ) -> Result<WebhookReplay, TableError> {
        self.advance_to(now);
        for kind in WebhookKind::ALL {
            let key = EventKey { endpoint: Endpoint { account, kind }, event };
            if self.make_due_now(key, now)? || self.restore_ended(key, now)? {
                return Ok(WebhookReplay::Again);
            }
        }
        Ok(WebhookReplay::Unknown)
    }

    /// Makes a waiting event due now. Returns false if it does not wait.
    fn make_due_now(&mut self, key: EventKey, now: Timestamp) -> Result<bool, TableError> {
        let waited = self.tables.read()?.waiting_event(key)?.is_some();
        if waited {
            self.tables.write(WebhookEventChange::DueTime { key, due_at: now, failures: 0 });
            self.woken.insert(key.endpoint);
        }
        Ok(waited)
    }

    /// Makes an event that has ended due now. Returns false if there is no such event.
    fn restore_ended(&mut self, key: EventKey, now: Timestamp) -> Result<bool, TableError> {
        if self.tables.read()?.event_ended_at(key)?.is_none() {
            return Ok(false);
        }
        self.tables.write(WebhookEventChange::Restore { key, due_at: now });
        self.tally.webhooks_replayed += 1;
        self.woken.insert(key.endpoint);
        Ok(true)
    }

    /// Looks at `limit` given-up events of an endpoint behind `after`, and makes those due now that were given up at or
    /// after `since`.
    pub fn replay_failed(
        &mut self,
        endpoint: Endpoint,
        since: Timestamp,
        after: Option<EventId>,
        limit: u32,
        now: Timestamp,
    ) -> Result<ReplayProgress, TableError> {
        self.advance_to(now);
        let failed = self.tables.read()?.failed_events(endpoint, after, limit)?;
        let full = u32::try_from(failed.len()).is_ok_and(|looked_at| looked_at >= limit);
        let next = failed.last().filter(|_| full).map(|(event, _)| *event);
        let mut replayed = 0;
        for (event, ended_at) in failed {
            if ended_at >= since && self.restore_ended(EventKey { endpoint, event }, now)? {
                replayed += 1;
            }
        }
        Ok(ReplayProgress { replayed, next })
    }
}
