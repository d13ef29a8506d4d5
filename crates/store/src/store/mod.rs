//! The store as its callers see it: opened, closed, asked to accept messages; `requests`, `ports`, `webhooks` and `upkeep`
//! have the other operations.

#[cfg(test)]
mod tests;
mod data_folder;
mod opening;
mod ports;
mod requests;
mod upkeep;
mod webhooks;

pub use hermod_engine::erase::{ERASED_NUMBER, Erased};
pub use hermod_engine::retention::PURGED_PER_STEP_MAX;
pub use hermod_engine::state::day_totals::DAYS_PER_READ_MAX;
pub use hermod_engine::state::deferred::DEFERRED_IN_MEMORY_MAX;
pub use ports::{LinkPort, ReceiverPort};

use crate::backend::Backend;
use crate::error::StoreError;
use crate::shared::Shared;
use crate::writer::operation::Op;
use crate::writer::waiting::Waiting;
use hermod_domain::catalogue::Catalogue;
use hermod_domain::ids::{AccountId, CarrierId, MessageId, RemoteId};
use hermod_domain::time::Timestamp;
use hermod_engine::commands::{AnyOutcome, FindKey, Listed};
use hermod_engine::ops::{AcceptOutcome, Acceptance, Duplicate, KeyClaim, MessageRecord};
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;
use tokio::sync::oneshot::error::RecvError;
use tokio::sync::{mpsc, oneshot};
use upkeep::WalkPlaces;
use webhooks::{Absent, GivingUp};

/// Operations that may wait for the writer. Beyond that a submission is refused with 503: it would only grow old.
pub const QUEUE_OPS_MAX: usize = 8_192;
/// How long a submission should wait for the writer to begin with it before its sender gives up.
pub const ACCEPT_WAIT_MAX: Duration = Duration::from_secs(10);

/// Where the store lives and how it behaves.
#[derive(Clone, Debug)]
pub struct OpenOptions {
    pub folder: PathBuf,
    /// Below this much free disk, new messages are refused.
    pub low_water_bytes: u64,
    /// How long a part in doubt waits for a late sign of life before its first resend; the second
    /// and third wait four and twenty times as long.
    pub in_doubt_wait: Duration,
    pub now: Timestamp,
}

/// A handle to the store; clones share it.
#[derive(Clone)]
pub struct Store {
    inner: Arc<Inner>,
}

struct Inner {
    queue: mpsc::Sender<Op>,
    backend: Backend,
    shared: Arc<Shared>,
    links_opened: AtomicU64,
    newest_at_open: Option<Timestamp>,
    was_empty: bool,
    /// Where the next look at a carrier's parked receipts begins.
    rematched: Mutex<HashMap<CarrierId, RemoteId>>,
    walks: Mutex<WalkPlaces>,
    absent: Absent,
    giving_up: GivingUp,
    writer: Mutex<Option<JoinHandle<()>>>,
}

impl Store {
    /// When the newest message was accepted that the store held when it was opened.
    pub fn newest_at_open(&self) -> Option<Timestamp> {
        self.inner.newest_at_open
    }

    /// Whether nothing had been set up in it when it was opened: no account, key, connection or carrier.
    pub fn was_empty(&self) -> bool {
        self.inner.was_empty
    }

    /// From here on the writer goes by this catalogue: whose a number is, and who is to be told how.
    pub fn follow(&self, catalogue: Arc<Catalogue>) {
        self.inner.shared.catalogue.store(catalogue);
    }

    /// Charges, stores and queues one message. Durable when this returns `Accepted`; nothing happened otherwise.
    pub async fn accept(&self, acceptance: Acceptance) -> Result<AcceptOutcome, StoreError> {
        self.accept_with_deadline(acceptance, std::future::pending()).await
    }

    /// The same, for a sender who does not wait for ever: if `waited` is over before the writer has begun with the
    /// submission, it is given up, certainly not done, and the answer is [`StoreError::QueueTimeout`].
    pub async fn accept_with_deadline(
        &self,
        acceptance: Acceptance,
        waited: impl Future<Output = ()>,
    ) -> Result<AcceptOutcome, StoreError> {
        if !self.inner.shared.disk.accepting() {
            return Err(StoreError::DiskLow);
        }
        let (reply, mut answer) = oneshot::channel();
        let waiting = Arc::new(Waiting::new(acceptance));
        self.inner.queue.try_send(Op::Accept(waiting.clone(), reply)).map_err(|error| match error {
            mpsc::error::TrySendError::Full(_) => StoreError::QueueFull(QUEUE_OPS_MAX),
            mpsc::error::TrySendError::Closed(_) => StoreError::Closed,
        })?;
        tokio::select! {
            biased;
            answered = &mut answer => return outcome_of::<Box<Acceptance>>(answered),
            () = waited => {}
        }
        if waiting.give_up() {
            return Err(StoreError::QueueTimeout);
        }
        outcome_of::<Box<Acceptance>>(answer.await)
    }

    /// Was this idempotency key used? Asked of the writer, so that a send under way counts.
    pub async fn find_key(&self, key: KeyClaim) -> Result<Option<Duplicate>, StoreError> {
        self.request(FindKey { key }).await
    }

    /// The message, if it is this account's.
    pub async fn message(
        &self,
        account: AccountId,
        id: MessageId,
    ) -> Result<Option<MessageRecord>, StoreError> {
        self.inner.backend.message(account, id).await
    }

    /// Is there room on the disk for new messages?
    pub fn accepting(&self) -> bool {
        self.inner.shared.disk.accepting()
    }

    /// Finishes what is waiting, empties the log and closes the files. Later calls of any clone fail with `Closed`.
    pub async fn close(&self) -> Result<(), StoreError> {
        let (reply, stopped) = oneshot::channel();
        self.send(Op::Stop(reply)).await?;
        stopped.await.map_err(|_| StoreError::Closed)??;
        let thread = self.inner.writer.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(thread) = thread {
            let ended = tokio::task::spawn_blocking(move || thread.join()).await;
            if !matches!(ended, Ok(Ok(()))) {
                return Err(StoreError::damaged("the writer thread panicked"));
            }
        }
        self.inner.backend.close();
        Ok(())
    }

    /// Has the writer run a command in its next transaction, and returns the outcome once it is durable.
    async fn request<C: Listed>(&self, command: C) -> Result<C::Outcome, StoreError> {
        let (reply, answer) = oneshot::channel();
        self.send(Op::Command(command.into(), Some(reply))).await?;
        outcome_of::<C>(answer.await)
    }

    /// Waits for a place in the writer's queue.
    async fn send(&self, op: Op) -> Result<(), StoreError> {
        self.inner.queue.send(op).await.map_err(|_| StoreError::Closed)
    }
}

/// Returns what the writer has answered to a command of this type.
fn outcome_of<C: Listed>(
    answered: Result<Result<AnyOutcome, StoreError>, RecvError>,
) -> Result<C::Outcome, StoreError> {
    let outcome = answered.map_err(|_| StoreError::Closed)??;
    Ok(C::own_outcome(outcome).expect("the writer answers a command with its own outcome"))
}
