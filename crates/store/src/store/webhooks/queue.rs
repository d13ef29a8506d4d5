//! Finding what is due.

use crate::error::StoreError;
use crate::read_results::{Due, Untellable};
use crate::store::Store;
use crate::writer::operation::{Op, Reply, SubmitResponse};
use hermod_domain::time::Timestamp;
use hermod_engine::ops::{
    AfterAttempt, Endpoint, EventId, GiveUpReason, SettledAttempt, WEBHOOKS_TAKEN_MAX, WebhookPage,
};
use hermod_engine::webhooks::WebhookResults;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::{Mutex, PoisonError};
use tokio::sync::oneshot;
use tokio::sync::oneshot::error::TryRecvError;

impl Store {
    /// Every endpoint at which events wait, and when the first of them is due, or was.
    pub async fn webhooks_waiting(&self) -> Result<Vec<(Endpoint, Timestamp)>, StoreError> {
        self.inner.backend.waiting_endpoints().await
    }

    /// Endpoints that something became due at since the last call: it was written, moved there or replayed, and is
    /// durable. Waits until there is one. For one listener; nothing is lost if it does not wait to the end.
    pub async fn woken_endpoints(&self) -> Vec<Endpoint> {
        self.inner.shared.wakeup.take().await
    }

    /// What is due at an endpoint behind a place, in order of when it became due. Nothing is marked: what was taken comes
    /// again until it is settled. What has nothing to tell any more is given up here.
    pub async fn take_webhooks(
        &self,
        endpoint: Endpoint,
        after: Option<(Timestamp, EventId)>,
        now: Timestamp,
        limit: u32,
    ) -> Result<WebhookPage, StoreError> {
        let limit = usize::try_from(limit.clamp(1, WEBHOOKS_TAKEN_MAX)).expect("a few hundred");
        let Due { page, untellable } = self.inner.backend.due_events(endpoint, after, now, limit).await?;
        if !untellable.is_empty() {
            self.give_up(endpoint, &untellable, now).await?;
        }
        Ok(page)
    }

    /// Nobody waits for it: on a full disk that could be long.
    async fn give_up(
        &self,
        endpoint: Endpoint,
        untellable: &[Untellable],
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let Some(reply) = self.inner.giving_up.begin(endpoint) else { return Ok(()) };
        let next = AfterAttempt::GiveUp(GiveUpReason::NothingToTell);
        let settled = untellable.iter().map(|Untellable { event, failures }| SettledAttempt {
            endpoint,
            event: *event,
            failures: *failures,
            attempt: None,
            next,
        });
        let ends = WebhookResults { settled: settled.collect(), now };
        self.send(Op::Command(ends.into(), Some(reply))).await
    }
}

/// Events that have nothing to tell and are being given up: one step at a time for each endpoint. They are read again until
/// that is written, and need not be given up again.
#[derive(Default)]
pub(crate) struct GivingUp(Mutex<HashMap<Endpoint, SubmitResponse>>);

impl GivingUp {
    /// Where to say that a step has come to its end. Nothing: the one before has not.
    fn begin(&self, endpoint: Endpoint) -> Option<Reply> {
        let mut under_way = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        under_way.retain(|_, end| matches!(end.try_recv(), Err(TryRecvError::Empty)));
        let Entry::Vacant(free) = under_way.entry(endpoint) else { return None };
        let (reply, end) = oneshot::channel();
        free.insert(end);
        Some(reply)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hermod_domain::ids::AccountId;
    use hermod_domain::webhook::WebhookKind;
    use hermod_engine::commands::AnyOutcome;

    #[test]
    fn an_endpoint_gives_up_one_step_at_a_time() {
        let giving_up = GivingUp::default();
        let [first, second] =
            [1, 2].map(|account| Endpoint { account: AccountId::new(account), kind: WebhookKind::Dlr });
        let reply = giving_up.begin(first).expect("nothing is under way");
        assert!(giving_up.begin(first).is_none());
        let other = giving_up.begin(second).expect("nobody else's matter");
        drop(reply.send(Ok(AnyOutcome::SettleWebhooks(()))));
        assert!(giving_up.begin(first).is_some(), "it has come to its end");
        drop(other);
        assert!(giving_up.begin(second).is_some(), "so has one that was never asked for");
    }
}
