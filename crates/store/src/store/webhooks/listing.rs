//! Showing events: what waits, what was delivered, what was given up and why, and every attempt. Everything is asked under
//! its account, but for the endpoints that fail: what is remembered of their answers ends with the process.

use crate::fault::StoreFault;
use crate::store::Store;
use hermod_domain::ids::AccountId;
use hermod_engine::ops::{
    EventId, FailingEndpoint, HookAttempt, HookFigures, HookFilter, HookRecord, PAGE_ROWS_MAX,
};

impl Store {
    /// An account's events below a number, newest first.
    pub async fn hook_events(
        &self,
        account: AccountId,
        filter: HookFilter,
        before: Option<EventId>,
        limit: u32,
    ) -> Result<Vec<HookRecord>, StoreFault> {
        let limit = limit.clamp(1, PAGE_ROWS_MAX);
        self.inner.backend.hook_events(account, filter, before, limit).await
    }

    /// One of an account's events.
    pub async fn hook_event(
        &self,
        account: AccountId,
        event: EventId,
    ) -> Result<Option<HookRecord>, StoreFault> {
        self.inner.backend.hook_event(account, event).await
    }

    /// The attempts at one of an account's events, oldest first. Nothing: it has no such event.
    pub async fn hook_attempts(
        &self,
        account: AccountId,
        event: EventId,
    ) -> Result<Option<Vec<HookAttempt>>, StoreFault> {
        self.inner.backend.hook_attempts(account, event).await
    }

    /// How an account's endpoints do, one figure for each kind.
    pub async fn hook_figures(&self, account: AccountId) -> Result<Vec<HookFigures>, StoreFault> {
        self.inner.backend.hook_figures(account).await
    }

    /// Returns every endpoint that has an event with a failed attempt waiting, and has not taken a newer event since.
    pub async fn failing_endpoints(&self) -> Result<Vec<FailingEndpoint>, StoreFault> {
        self.inner.backend.failing_endpoints().await
    }
}
