//! Listing, replaying and purging webhook events. Every read is limited to one account, except that of failing endpoints.

use crate::backend::read_results::OldEvents;
use crate::error::StoreError;
use crate::operations::WebhookStore;
use crate::sql::{webhook_due, webhook_listing, webhook_purging};
use hermod_domain::ids::AccountId;
use hermod_domain::time::Timestamp;
use hermod_engine::commands::{ForgetWebhooks, ReplayFailedWebhooks, ReplayWebhook, RetryWaitingWebhooks};
use hermod_engine::ops::{
    Endpoint, EventId, FailingEndpoint, PAGE_ROWS_MAX, REPLAYED_AT_ONCE_MAX, ReplayProgress, WEBHOOKS_KEPT,
    WebhookAttempt, WebhookContent, WebhookFigures, WebhookFilter, WebhookRecord, WebhookReplay,
};

/// Reads of one purge step that may find nothing to delete. The next step continues where it ended.
const READS_PER_PURGE_STEP: usize = 5;

impl WebhookStore<'_> {
    /// Returns an account's events with ids below `before`, or all, newest first.
    pub async fn list(
        self,
        account: AccountId,
        filter: WebhookFilter,
        before: Option<EventId>,
        limit: u32,
    ) -> Result<Vec<WebhookRecord>, StoreError> {
        let limit = limit.clamp(1, PAGE_ROWS_MAX);
        self.0
            .read(move |database| webhook_listing::list_events(database, account, filter, before, limit))
            .await
    }

    /// Returns an event of an account.
    pub async fn find(self, account: AccountId, event: EventId) -> Result<Option<WebhookRecord>, StoreError> {
        self.0.read(move |database| webhook_listing::find_event(database, account, event)).await
    }

    /// Returns what an event of an account posts; `None` if there is no such event, or its message was purged or erased.
    pub async fn content(
        self,
        account: AccountId,
        event: EventId,
    ) -> Result<Option<WebhookContent>, StoreError> {
        self.0.read(move |database| webhook_due::find_content(database, account, event)).await
    }

    /// Returns the attempts of an account's event, oldest first; `None` if the account has no such event.
    pub async fn attempts(
        self,
        account: AccountId,
        event: EventId,
    ) -> Result<Option<Vec<WebhookAttempt>>, StoreError> {
        self.0.read(move |database| webhook_listing::find_attempts(database, account, event)).await
    }

    /// Returns the numbers of waiting and failed events of an account, per kind.
    pub async fn figures(self, account: AccountId) -> Result<Vec<WebhookFigures>, StoreError> {
        self.0.read(move |database| webhook_listing::account_figures(database, account)).await
    }

    /// Returns the endpoints with a waiting event that has failed, and without a newer event that was delivered.
    pub async fn failing_endpoints(self) -> Result<Vec<FailingEndpoint>, StoreError> {
        self.0.read(webhook_due::failing_endpoints).await
    }

    /// Makes an event due now, whether it waits, was delivered or was given up.
    pub async fn replay(
        self,
        account: AccountId,
        event: EventId,
        now: Timestamp,
    ) -> Result<WebhookReplay, StoreError> {
        self.0.request(ReplayWebhook { account, event, now }).await
    }

    /// Makes events of an endpoint due now that were given up at or after `since`. Each call checks at most `limit` given-up
    /// events after `after`, oldest first.
    pub async fn replay_failed(
        self,
        endpoint: Endpoint,
        since: Timestamp,
        after: Option<EventId>,
        limit: u32,
        now: Timestamp,
    ) -> Result<ReplayProgress, StoreError> {
        let limit = limit.clamp(1, REPLAYED_AT_ONCE_MAX);
        self.0.request(ReplayFailedWebhooks { endpoint, since, after, limit, now }).await
    }

    /// Makes the waiting events of an endpoint due now that are due later. Returns how many. A reader finds them, so that the writer
    /// changes a bounded number at a time. An event that fails again meanwhile waits again.
    pub async fn retry_waiting(self, endpoint: Endpoint, now: Timestamp) -> Result<u64, StoreError> {
        let (mut after, mut retried) = ((now, EventId(i64::MAX.cast_unsigned())), 0);
        loop {
            let limit = REPLAYED_AT_ONCE_MAX;
            let found = self
                .0
                .read(move |database| webhook_listing::events_due_later(database, endpoint, after, limit))
                .await?;
            let Some(last) = found.last() else { return Ok(retried) };
            after = *last;
            // Those that fail again meanwhile are due later and would be found again.
            let is_last_page = found.len() < usize::try_from(limit).expect("a page");
            let events = found.into_iter().map(|(_, event)| event).collect();
            retried += self.0.request(RetryWaitingWebhooks { endpoint, events, now }).await?;
            if is_last_page {
                return Ok(retried);
            }
        }
    }

    /// Deletes a bounded number of ended events whose retention is over, and returns how many. Continues where the last call
    /// ended. A reader finds the events, so that the writer runs only if there is something to delete.
    pub(crate) async fn purge(self, now: Timestamp) -> Result<u64, StoreError> {
        let before = now.minus(WEBHOOKS_KEPT);
        let mut position = self.0.scan_positions().webhook_event.take();
        for _ in 0..READS_PER_PURGE_STEP {
            let after = position.unwrap_or_default();
            let OldEvents { events, next } =
                self.0.read(move |database| webhook_purging::old_events(database, after, before)).await?;
            self.0.scan_positions().webhook_event = next;
            if !events.is_empty() {
                return self.0.request(ForgetWebhooks { events, before, now }).await;
            }
            position = next;
            if position.is_none() {
                break;
            }
        }
        Ok(0)
    }
}
