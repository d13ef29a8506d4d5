//! Operations on MT messages: find one by name, cancel, move to another carrier, list what waits.

use crate::backend::read_results::WaitingPage;
use crate::error::StoreError;
use crate::operations::MessageStore;
use crate::record::database::text;
use crate::sql::messages;
use crate::sql::{engine_reads, waiting_messages};
use hermod_domain::ids::MessageId;
use hermod_domain::ids::{AccountId, CarrierId};
use hermod_domain::origin::MessageName;
use hermod_domain::time::Timestamp;
use hermod_engine::commands::{Cancel, CancelWaiting, MoveWaiting, ReadQueues, ReadWaitingParts};
use hermod_engine::ops::{
    CancelOutcome, CarrierQueue, ExpectedParties, MessageRecord, Move, PAGE_ROWS_MAX, QueuePosition,
    UnsentMessages, WaitingMessage,
};
use hermod_engine::tables::MessageKey;

/// Messages moved or cancelled in one transaction. Submissions wait for it: with 250 their p99 was five times as long beside a million
/// cancellations.
const CHANGED_PER_WRITE_MAX: usize = 50;

impl MessageStore<'_> {
    /// Cancels a message that no carrier has: it becomes `rejected` and its cost is refunded. A message whose sender or
    /// recipient is not the expected one counts as not found.
    pub async fn cancel(
        self,
        account: AccountId,
        name: MessageName,
        expected: ExpectedParties,
        now: Timestamp,
    ) -> Result<CancelOutcome, StoreError> {
        self.0.request(Cancel { account, name, expected, now }).await
    }

    /// Moves waiting messages to other carriers and returns how many were moved. Messages that have meanwhile been sent,
    /// settled or moved are skipped. Durable when this returns.
    pub async fn reroute(self, moves: Vec<Move>, now: Timestamp) -> Result<usize, StoreError> {
        let mut moved = 0;
        for chunk in moves.chunks(CHANGED_PER_WRITE_MAX) {
            moved += self.0.request(MoveWaiting { moves: chunk.to_vec(), now }).await?;
        }
        Ok(moved)
    }

    /// Cancels messages that wait in a carrier's queue, refunds their costs, and returns how many were cancelled. Messages that
    /// have meanwhile been sent, settled or moved, and those that a carrier may have, are skipped. Durable when this returns.
    pub async fn cancel_waiting(
        self,
        carrier: CarrierId,
        waiting: &[QueuePosition],
        now: Timestamp,
    ) -> Result<usize, StoreError> {
        let mut cancelled = 0;
        for chunk in waiting.chunks(CHANGED_PER_WRITE_MAX) {
            let key = |place: &QueuePosition| {
                let QueuePosition { account, message } = *place;
                MessageKey { carrier, account, message }
            };
            let keys = chunk.iter().map(key).collect();
            cancelled += self.0.request(CancelWaiting { keys, stops_sent: false, now }).await?;
        }
        Ok(cancelled)
    }

    /// Stops messages that a carrier may have: what of them waits is not sent, and nothing is refunded. Returns how many had
    /// something that waited. Durable when this returns.
    pub async fn stop_sent(self, keys: &[MessageKey], now: Timestamp) -> Result<usize, StoreError> {
        let mut stopped = 0;
        for chunk in keys.chunks(CHANGED_PER_WRITE_MAX) {
            stopped += self.0.request(CancelWaiting { keys: chunk.to_vec(), stops_sent: true, now }).await?;
        }
        Ok(stopped)
    }

    /// Returns what is still to be sent, by carrier and account. The cost grows with the queues.
    pub async fn unsent(self) -> Result<Vec<UnsentMessages>, StoreError> {
        self.0.read(waiting_messages::count_unsent).await
    }

    /// Returns the next messages with a part that waits, also those that a carrier may have, of all carriers, in order.
    pub async fn unsent_after(
        self,
        after: Option<MessageKey>,
        limit: u32,
    ) -> Result<Vec<MessageKey>, StoreError> {
        let limit = limit.clamp(1, PAGE_ROWS_MAX);
        self.0.read(move |database| waiting_messages::unsent_after(database, after, limit)).await
    }

    /// Returns the queue of every carrier that has had parts. The counts are exact. The cost does not grow with the queues,
    /// except where a carrier has more deferred parts than fit in memory: those are counted in the tables.
    pub async fn queues(self) -> Result<Vec<CarrierQueue>, StoreError> {
        let snapshots = self.0.request(ReadQueues).await?;
        self.0.read(move |database| engine_reads::complete_queues(database, snapshots)).await
    }

    /// Returns how many parts wait of each of these accounts, in their order. The engine counts them: the cost does not grow with the
    /// queues.
    pub async fn waiting_parts(self, accounts: Vec<AccountId>) -> Result<Vec<u64>, StoreError> {
        self.0.request(ReadWaitingParts { accounts }).await
    }

    /// Returns how many parts the carrier has accepted that wait for a receipt. The cost grows with the parts that it has.
    pub async fn without_receipt(self, carrier: CarrierId) -> Result<u64, StoreError> {
        self.0.read(move |database| waiting_messages::count_without_receipt(database, carrier)).await
    }

    /// Returns messages in a carrier's queue after `after`, in order, of which no part was sent. A message with a part in
    /// doubt counts as sent until the part is due for its resend.
    pub async fn waiting(
        self,
        carrier: CarrierId,
        after: Option<QueuePosition>,
        limit: u32,
    ) -> Result<Vec<WaitingMessage>, StoreError> {
        self.waiting_upto(carrier, after, None, limit).await
    }

    /// Does the same up to an account. A queue is in the order of its accounts.
    pub async fn waiting_upto(
        self,
        carrier: CarrierId,
        after: Option<QueuePosition>,
        upto: Option<AccountId>,
        limit: u32,
    ) -> Result<Vec<WaitingMessage>, StoreError> {
        let limit = usize::try_from(limit.clamp(1, PAGE_ROWS_MAX)).expect("a page");
        let mut position = after;
        let mut found = Vec::new();
        loop {
            let wanted = limit - found.len();
            let WaitingPage { waiting, last } = self
                .0
                .read(move |database| waiting_messages::read_page(database, carrier, position, upto, wanted))
                .await?;
            found.extend(waiting);
            position = last;
            if found.len() >= limit || position.is_none() {
                return Ok(found);
            }
        }
    }

    /// Returns a message and its queue if it waits in one and no part of it was sent.
    pub async fn waiting_message(
        self,
        id: MessageId,
    ) -> Result<Option<(CarrierId, WaitingMessage)>, StoreError> {
        self.0.read(move |database| waiting_messages::find(database, id)).await
    }

    /// Returns the account's message with this name: its id, or its alias on SMPP 3.3 binds.
    pub async fn find_named(
        self,
        account: AccountId,
        name: MessageName,
    ) -> Result<Option<MessageRecord>, StoreError> {
        self.0.read(move |database| engine_reads::message_named(database, account, name)).await
    }

    /// Returns a message of this account.
    pub async fn find(self, account: AccountId, id: MessageId) -> Result<Option<MessageRecord>, StoreError> {
        self.0.read(move |database| messages::find(database, account, id)).await
    }

    /// Returns the text of a message of this account; none if there is no such message, or its text was deleted.
    pub async fn text(self, account: AccountId, id: MessageId) -> Result<Option<String>, StoreError> {
        self.0.read(move |database| text::text_of(database, account, id)).await
    }
}
