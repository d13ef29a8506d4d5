//! Showing events: what waits, what was delivered, what was given up and why, and every attempt. Everything is asked under
//! its account, but for the endpoints that fail: what is remembered of their answers ends with the process.

use crate::error::StoreError;
use crate::store::Store;
use hermod_domain::ids::AccountId;
use hermod_engine::ops::{
    EventId, FailingEndpoint, PAGE_ROWS_MAX, WebhookAttempt, WebhookFigures, WebhookFilter, WebhookRecord,
};

impl Store {
    /// An account's events below a number, newest first.
    pub async fn webhook_events(
        &self,
        account: AccountId,
        filter: WebhookFilter,
        before: Option<EventId>,
        limit: u32,
    ) -> Result<Vec<WebhookRecord>, StoreError> {
        let limit = limit.clamp(1, PAGE_ROWS_MAX);
        self.inner.backend.webhook_events(account, filter, before, limit).await
    }

    /// One of an account's events.
    pub async fn webhook_event(
        &self,
        account: AccountId,
        event: EventId,
    ) -> Result<Option<WebhookRecord>, StoreError> {
        self.inner.backend.webhook_event(account, event).await
    }

    /// The attempts at one of an account's events, oldest first. Nothing: it has no such event.
    pub async fn webhook_attempts(
        &self,
        account: AccountId,
        event: EventId,
    ) -> Result<Option<Vec<WebhookAttempt>>, StoreError> {
        self.inner.backend.webhook_attempts(account, event).await
    }

    /// How an account's endpoints do, one figure for each kind.
    pub async fn webhook_figures(&self, account: AccountId) -> Result<Vec<WebhookFigures>, StoreError> {
        self.inner.backend.webhook_figures(account).await
    }

    /// Returns every endpoint that has an event with a failed attempt waiting, and has not taken a newer event since.
    pub async fn failing_endpoints(&self) -> Result<Vec<FailingEndpoint>, StoreError> {
        self.inner.backend.failing_endpoints().await
    }
}
