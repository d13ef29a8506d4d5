//! The queues of webhook events: which endpoints have events, which events are due, and the results of posting them.

use crate::backend::read_results::{Due, UndeliverableEvent};
use crate::error::StoreError;
use crate::operations::WebhookStore;
use crate::sql::webhook_due;
use crate::writer::operation::{Op, Reply, ReplyReceiver};
use hermod_domain::time::Timestamp;
use hermod_engine::commands::LimitWebhookWaits;
use hermod_engine::ops::{
    AfterAttempt, Endpoint, EventId, GiveUpReason, SettledAttempt, WEBHOOKS_TAKEN_MAX, WebhookPage,
};
use hermod_engine::webhooks::WebhookResults;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::oneshot;
use tokio::sync::oneshot::error::TryRecvError;

impl WebhookStore<'_> {
    /// Returns every endpoint with waiting events, and when its first event is or was due.
    pub async fn waiting(self) -> Result<Vec<(Endpoint, Timestamp)>, StoreError> {
        self.0.read(webhook_due::waiting_endpoints).await
    }

    /// Waits until an event becomes due because it was created, moved or replayed, and returns the endpoints of all such
    /// events since the last call. The events are durable. For one caller at a time. Dropping the future loses nothing.
    pub async fn woken_endpoints(self) -> Vec<Endpoint> {
        self.0.inner.access.shared.wakeup.take().await
    }

    /// Returns the events that are due at an endpoint after `after`, in order of their due times. Nothing is marked: an event
    /// is returned again until its result is recorded. Events without content are given up.
    pub async fn take(
        self,
        endpoint: Endpoint,
        after: Option<(Timestamp, EventId)>,
        now: Timestamp,
        limit: u32,
    ) -> Result<WebhookPage, StoreError> {
        let limit = usize::try_from(limit.clamp(1, WEBHOOKS_TAKEN_MAX)).expect("a few hundred");
        let Due { page, undeliverable } = self
            .0
            .read(move |database| webhook_due::due_events(database, endpoint, after, now, limit))
            .await?;
        if !undeliverable.is_empty() {
            self.give_up(endpoint, &undeliverable, now).await?;
        }
        Ok(page)
    }

    /// Queues the command that gives these events up, unless the last one of this endpoint has not run yet. Does not wait for
    /// its outcome, which may take long on a full disk.
    async fn give_up(
        self,
        endpoint: Endpoint,
        undeliverable: &[UndeliverableEvent],
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let Some(reply) = self.0.inner.giving_up.begin(endpoint) else { return Ok(()) };
        let next = AfterAttempt::GiveUp(GiveUpReason::NothingToTell);
        let settled = undeliverable.iter().map(|UndeliverableEvent { event, failures }| SettledAttempt {
            endpoint,
            event: *event,
            failures: *failures,
            attempt: None,
            next,
        });
        let results = WebhookResults { settled: settled.collect(), now };
        self.0.send(Op::Command(results.into(), Some(reply))).await
    }

    /// Records the results of attempts. Durable when this returns. On a full disk it waits for space; if the future is dropped
    /// meanwhile, the results are still recorded. After an error the events wait and are returned again.
    pub async fn settle(self, settled: Vec<SettledAttempt>, now: Timestamp) -> Result<(), StoreError> {
        if settled.is_empty() {
            return Ok(());
        }
        self.0.request(WebhookResults { settled, now }).await
    }

    /// Shortens the waits of webhook events that are due later than their schedule allows, and returns how many there were.
    /// `waits`: the longest wait after each failure, beginning with the first.
    pub async fn limit_waits(self, waits: Vec<Duration>, now: Timestamp) -> Result<usize, StoreError> {
        let changed = self.0.request(LimitWebhookWaits { waits, now }).await?;
        if changed > 0 {
            tracing::warn!(
                events = changed,
                "Webhook events were due later than their schedule allows and were rescheduled: the clock was ahead before"
            );
        }
        Ok(changed)
    }
}

/// The endpoints whose events without content are being given up, one command at a time per endpoint. Until it has run, the
/// same events are read again and must not be given up twice.
#[derive(Default)]
pub(crate) struct GivingUp(Mutex<HashMap<Endpoint, ReplyReceiver>>);

impl GivingUp {
    /// Returns the reply channel for a new command; `None` while the previous one has not run.
    fn begin(&self, endpoint: Endpoint) -> Option<Reply> {
        let mut running = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        running.retain(|_, end| matches!(end.try_recv(), Err(TryRecvError::Empty)));
        let Entry::Vacant(free) = running.entry(endpoint) else { return None };
        let (reply, end) = oneshot::channel();
        free.insert(end);
        Some(Reply::Caller(reply))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hermod_domain::ids::AccountId;
    use hermod_domain::webhook::WebhookKind;
    use hermod_engine::commands::AnyOutcome;

    #[test]
    fn endpoint_runs_one_give_up_command_at_a_time() {
        let giving_up = GivingUp::default();
        let [first, second] =
            [1, 2].map(|account| Endpoint { account: AccountId::new(account), kind: WebhookKind::Dlr });
        let reply = giving_up.begin(first).expect("no command is running");
        assert!(giving_up.begin(first).is_none());
        let other = giving_up.begin(second).expect("endpoints are independent");
        reply.send(Ok(AnyOutcome::SettleWebhooks(())));
        assert!(giving_up.begin(first).is_some(), "the first command has run");
        drop(other);
        assert!(giving_up.begin(second).is_some(), "a dropped command has ended too");
    }
}
