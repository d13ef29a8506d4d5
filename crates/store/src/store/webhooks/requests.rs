//! What callers ask of webhook events: that what came of posting is written, that events are posted once more, and that
//! old ones are forgotten.

use crate::error::StoreError;
use crate::read_results::OldEvents;
use crate::store::Store;
use hermod_domain::ids::AccountId;
use hermod_domain::time::Timestamp;
use hermod_engine::commands::{ForgetWebhooks, ReplayFailedWebhooks, ReplayWebhook};
use hermod_engine::ops::{
    Endpoint, EventId, REPLAYED_AT_ONCE_MAX, ReplayProgress, SettledAttempt, WEBHOOKS_KEPT, WebhookReplay,
};
use hermod_engine::webhooks::WebhookResults;

/// Looks for events to forget that find none before a step ends. The next step goes on where it ended.
const LOOKS_IN_VAIN_PER_STEP: usize = 5;

impl Store {
    /// What came of attempts. Durable when this returns. On a full disk that takes until there is room; if the caller does
    /// not wait for it, it is written all the same. After a fault the events still wait, and are given out again.
    pub async fn settle_webhooks(
        &self,
        settled: Vec<SettledAttempt>,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        if settled.is_empty() {
            return Ok(());
        }
        self.request(WebhookResults { settled, now }).await
    }

    /// Makes an event due now, whether it has ended or still waits.
    pub async fn replay_webhook(
        &self,
        account: AccountId,
        event: EventId,
        now: Timestamp,
    ) -> Result<WebhookReplay, StoreError> {
        self.request(ReplayWebhook { account, event, now }).await
    }

    /// Makes those due now that were given up at or after a time: one step, oldest first, behind an event. It looks at so
    /// many, and replays those of them that are late enough.
    pub async fn replay_failed(
        &self,
        endpoint: Endpoint,
        since: Timestamp,
        after: Option<EventId>,
        limit: u32,
        now: Timestamp,
    ) -> Result<ReplayProgress, StoreError> {
        let limit = limit.clamp(1, REPLAYED_AT_ONCE_MAX);
        self.request(ReplayFailedWebhooks { endpoint, since, after, limit, now }).await
    }

    /// Forgets some events that ended long ago: one step, which goes on where the last one ended. Returns how many. A
    /// reader finds them, so that the writer is asked only where there is something to forget.
    pub(crate) async fn purge_webhooks(&self, now: Timestamp) -> Result<u64, StoreError> {
        let before = now.minus(WEBHOOKS_KEPT);
        let mut place = self.walk_places().webhook_event.take();
        for _ in 0..LOOKS_IN_VAIN_PER_STEP {
            let after = place.unwrap_or_default();
            let OldEvents { events, next } = self.inner.backend.old_events(after, before).await?;
            self.walk_places().webhook_event = next;
            if !events.is_empty() {
                return self.request(ForgetWebhooks { events, before, now }).await;
            }
            place = next;
            if place.is_none() {
                break;
            }
        }
        Ok(0)
    }
}
