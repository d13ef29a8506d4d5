//! What callers ask about messages: find one by its name, cancel one, move some to another carrier, list what waits.

use crate::error::StoreError;
use crate::read_results::WaitingPage;
use crate::store::Store;
use hermod_domain::ids::{AccountId, CarrierId, MessageId};
use hermod_domain::origin::MessageName;
use hermod_domain::time::Timestamp;
use hermod_engine::commands::{Cancel, LimitWebhookWaits, MoveWaiting, ReadQueues};
use hermod_engine::ops::{
    CancelOutcome, CarrierQueue, ExpectedParties, MessageRecord, Move, PAGE_ROWS_MAX, QueuePosition,
    WaitingMessage,
};
use std::time::Duration;

/// Messages moved in one transaction.
const MOVED_PER_WRITE_MAX: usize = 250;

impl Store {
    /// Ends a message that still waits as `rejected` and refunds its cost. A message that has other parties than expected
    /// is as unknown as one that does not exist.
    pub async fn cancel(
        &self,
        account: AccountId,
        name: MessageName,
        expected: ExpectedParties,
        now: Timestamp,
    ) -> Result<CancelOutcome, StoreError> {
        self.request(Cancel { account, name, expected, now }).await
    }

    /// Moves messages that wait for one carrier to another. What is not there any more, has been given to a link or was
    /// moved by somebody else stays as it is. Returns how many were moved; durable when it does.
    pub async fn move_messages(&self, moves: Vec<Move>, now: Timestamp) -> Result<usize, StoreError> {
        let mut moved = 0;
        for chunk in moves.chunks(MOVED_PER_WRITE_MAX) {
            moved += self.request(MoveWaiting { moves: chunk.to_vec(), now }).await?;
        }
        Ok(moved)
    }

    /// What waits for every carrier that ever had something. Counts are kept by the writer and exact; the oldest is looked
    /// for where a lane is read on next, so that neither grows with what waits. Deferred parts are counted in the tables
    /// while they are too many for memory.
    pub async fn queues(&self) -> Result<Vec<CarrierQueue>, StoreError> {
        let snapshots = self.request(ReadQueues).await?;
        self.inner.backend.complete_queues(snapshots).await
    }

    /// Messages that wait for a carrier and have not been given to it, behind a place and in order: of which no part was
    /// taken, is on its way, or is in doubt and has not had its time.
    pub async fn waiting(
        &self,
        carrier: CarrierId,
        after: Option<QueuePosition>,
        limit: u32,
    ) -> Result<Vec<WaitingMessage>, StoreError> {
        let limit = usize::try_from(limit.clamp(1, PAGE_ROWS_MAX)).expect("a page");
        let mut place = after;
        let mut found = Vec::new();
        loop {
            let wanted = limit - found.len();
            let WaitingPage { waiting, last } = self.inner.backend.waiting(carrier, place, wanted).await?;
            found.extend(waiting);
            place = last;
            if found.len() >= limit || place.is_none() {
                return Ok(found);
            }
        }
    }

    /// Brings back webhook events that are due later than their schedule allows. `waits` are the longest wait after each
    /// failure, from the first. Returns how many there were.
    pub async fn limit_webhook_waits(
        &self,
        waits: Vec<Duration>,
        now: Timestamp,
    ) -> Result<usize, StoreError> {
        let changed = self.request(LimitWebhookWaits { waits, now }).await?;
        if changed > 0 {
            tracing::warn!(
                events = changed,
                "Webhook events were due later than their schedule allows and are brought back: the clock was ahead before"
            );
        }
        Ok(changed)
    }

    /// The id of the account's message of that name.
    pub async fn named(
        &self,
        account: AccountId,
        name: MessageName,
    ) -> Result<Option<MessageId>, StoreError> {
        self.inner.backend.named(account, name).await
    }

    /// The account's message of that name.
    pub async fn message_named(
        &self,
        account: AccountId,
        name: MessageName,
    ) -> Result<Option<MessageRecord>, StoreError> {
        self.inner.backend.message_named(account, name).await
    }
}
