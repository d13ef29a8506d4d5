//! The public handle of the store: accepts messages, closes the store, and gives a handle for each subject, such as
//! [`Store::money`], whose file has its operations. Each is a command for the writer, a read beside it, or both. `opening`, `ports`,
//! `upkeep`, `data_folder` and `on_server` have the rest of the store's own.

mod cluster;
mod customer_requests;
mod data_folder;
mod erasing;
mod inbound;
mod messages;
mod money;
mod on_server;
mod opening;
mod opt_outs;
mod ports;
mod receipts;
mod record;
mod reports;
mod reviews;
mod setup;
#[cfg(test)]
pub(crate) mod tests;
mod upkeep;
mod user_tokens;
mod webhooks;

pub use crate::backend::BindSlot;
pub use cluster::{BindClaim, CatalogueLock, NodeInfo};
pub use hermod_engine::erase::Erased;
pub use hermod_engine::retention::PURGED_PER_STEP_MAX;
pub use hermod_engine::state::day_totals::DAYS_PER_READ_MAX;
pub use hermod_engine::state::deferred::DEFERRED_IN_MEMORY_MAX;
pub use ports::{LinkPort, ReceiverPort};

use crate::backend::Server;
use crate::error::StoreError;
use crate::nodes::FrontEnd;
use crate::record::RunningRecord;
use crate::sql::Connection;
use crate::sql::audit_log;
use crate::writer::operation::QueuedAcceptance;
use crate::writer::operation::{Op, Reply};
use crate::writer::shared::Access;
use cluster::Cluster;
use hermod_domain::audit::AuditEntry;
use hermod_domain::audit::{AuditFilter, AuditKey, AuditRow};
use hermod_domain::catalogue::Catalogue;
use hermod_domain::ids::{CarrierId, RemoteId};
use hermod_domain::time::Timestamp;
use hermod_domain::traffic::{OverVelocity, VelocityLimit};
use hermod_engine::commands::{AnyOutcome, AppendToAuditLog, Audited, FindKey, FindVelocityRefusal, Listed};
use hermod_engine::ops::PAGE_ROWS_MAX;
use hermod_engine::ops::{AcceptOutcome, Acceptance, Duplicate, KeyClaim};
use hermod_engine::tables::TableError;
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;
use tokio::sync::oneshot;
use tokio::sync::oneshot::error::RecvError;
use upkeep::ScanPositions;
use webhooks::{GivingUp, ReportMover};

/// How long a submission should wait in the writer's queue before its caller cancels it.
pub const ACCEPT_WAIT_MAX: Duration = Duration::from_secs(10);

/// The data folder of a store, and settings that hold until it is closed.
#[derive(Clone, Debug)]
pub struct OpenOptions {
    pub folder: PathBuf,
    /// The PostgreSQL server that has the tables; none for the embedded store in the folder.
    pub server: Option<Server>,
    /// Below this many free bytes on the disk, new messages are rejected.
    pub low_water_bytes: u64,
    /// How long a part in doubt waits for a late response or receipt before its first resend. The second and third resend
    /// wait four and twenty times as long.
    pub in_doubt_wait: Duration,
    /// Whether to keep the record: searches, timelines, statistics and the request log.
    pub record: bool,
    pub now: Timestamp,
}

/// A handle to the store. Clones share the same store.
#[derive(Clone)]
pub struct Store {
    inner: Arc<Inner>,
    /// What [`Store::request`] writes into the audit log, in the transaction of its command.
    audit: Arc<[AuditEntry]>,
}

struct Inner {
    access: Arc<Access>,
    links_opened: AtomicU64,
    newest_at_open: Option<Timestamp>,
    was_empty: bool,
    /// The last parked receipt that [`ReceiptStore::rematch`] tried, per carrier; none where it begins with the first.
    rematched: Mutex<HashMap<CarrierId, RemoteId>>,
    scans: Mutex<ScanPositions>,
    report_mover: ReportMover,
    giving_up: GivingUp,
    writer: Mutex<Option<JoinHandle<()>>>,
    /// None if it is switched off.
    record: Option<RunningRecord>,
    /// None for the embedded store.
    cluster: Option<Cluster>,
}

impl Inner {
    fn front_end(&self) -> Option<&Arc<FrontEnd>> {
        self.cluster.as_ref()?.front_end.as_ref()
    }
}

/// Defines a handle for each subject, and the method of [`Store`] that returns it. The files of a subject have its operations.
macro_rules! subjects {
    ($($(#[$about:meta])* $name:ident: $Handle:ident,)+) => {
        $(
            $(#[$about])*
            #[derive(Clone, Copy)]
            pub struct $Handle<'s>(&'s Store);
        )+

        impl Store {$(
            $(#[$about])*
            pub fn $name(&self) -> $Handle<'_> {
                $Handle(self)
            }
        )+}
    };
}

subjects! {
    /// What a node knows of the others, and shares with them.
    cluster: ClusterStore,
    /// Operations on the record.
    record: RecordStore,
    /// Operations on the requests of customers.
    customer_requests: CustomerRequestStore,
    /// Erases phone numbers.
    erasures: ErasureStore,
    /// Operations on MO messages.
    inbound: InboundStore,
    /// Operations on opt-outs.
    opt_outs: OptOutStore,
    /// Operations on messages that were accepted.
    messages: MessageStore,
    /// Operations on balances, the ledger and statements.
    money: MoneyStore,
    /// Operations on the setup.
    setup: SetupStore,
    /// Operations on receipts and the figures about them.
    receipts: ReceiptStore,
    /// The rows that were set aside because they are unreadable.
    rows_set_aside: SetAsideStore,
    /// Operations on reports to binds.
    reports: ReportStore,
    /// Operations on messages held for review.
    reviews: ReviewStore,
    /// Operations on the tokens of users: sessions of the portal and one-time links.
    user_tokens: UserTokenStore,
    /// Operations on webhook events.
    webhooks: WebhookStore,
}

impl Store {
    /// Sets the key of the audit log, which is derived from the pepper. Call it before anything is written to the log; a
    /// second call changes nothing.
    pub fn set_audit_key(&self, key: AuditKey) {
        // A store has one pepper.
        let _ = self.inner.access.shared.audit_key.set(key);
    }

    /// Returns a handle whose next operation writes these entries into the audit log, in the transaction of its change. An
    /// operation that changes nothing writes none. For an operation of several transactions use
    /// [`Store::note_in_audit_log`] before it.
    #[must_use]
    pub fn audited(&self, entries: Vec<AuditEntry>) -> Store {
        Store { inner: self.inner.clone(), audit: entries.into() }
    }

    /// Writes the entries of this handle into the audit log, without a change.
    pub async fn note_in_audit_log(&self) -> Result<(), StoreError> {
        self.run(AppendToAuditLog(self.audit.to_vec())).await
    }

    /// Returns rows of the audit log before number `before`, or all, that match; the newest first.
    pub async fn audit_log(
        &self,
        filter: AuditFilter,
        before: Option<u64>,
        limit: u32,
    ) -> Result<Vec<AuditRow>, StoreError> {
        self.read(move |database| audit_log::page(database, &filter, before, limit.min(PAGE_ROWS_MAX))).await
    }

    /// Returns when the newest message in the store had been accepted, as of opening.
    pub fn newest_at_open(&self) -> Option<Timestamp> {
        self.inner.newest_at_open
    }

    /// Whether the setup was empty when the store was opened: no account, key, connection or carrier.
    pub fn was_empty(&self) -> bool {
        self.inner.was_empty
    }

    /// Makes the writer decide by this catalogue from the next batch on.
    pub fn set_catalogue(&self, catalogue: Arc<Catalogue>) {
        self.inner.access.shared.catalogue.store(catalogue);
    }

    /// Charges, stores and queues one message. It is durable when this returns `Accepted`; otherwise nothing was changed.
    pub async fn accept(&self, acceptance: Acceptance) -> Result<AcceptOutcome, StoreError> {
        self.accept_with_deadline(acceptance, std::future::pending()).await
    }

    /// Does the same as [`Store::accept`], with a deadline: if `deadline` completes before the writer has begun the
    /// submission, it is cancelled, nothing is changed, and this fails with [`StoreError::QueueTimeout`]. Fails at once if
    /// the disk is low or the queue is full.
    pub async fn accept_with_deadline(
        &self,
        acceptance: Acceptance,
        deadline: impl Future<Output = ()>,
    ) -> Result<AcceptOutcome, StoreError> {
        if !self.inner.access.shared.disk.is_accepting() {
            return Err(StoreError::DiskLow);
        }
        let (reply, mut outcome) = oneshot::channel();
        let queued = Arc::new(QueuedAcceptance::new(acceptance));
        self.inner.access.queue.try_reserve()?.send(Op::Accept(queued.clone(), Reply::Caller(reply)));
        tokio::select! {
            biased;
            outcome = &mut outcome => return outcome_of::<Box<Acceptance>>(outcome),
            () = deadline => {}
        }
        if queued.cancel() {
            return Err(StoreError::QueueTimeout);
        }
        outcome_of::<Box<Acceptance>>(outcome.await)
    }

    /// Returns the message that was accepted with this idempotency key. The writer looks it up, so that messages of earlier
    /// operations in its queue count.
    pub async fn find_key(&self, key: KeyClaim) -> Result<Option<Duplicate>, StoreError> {
        self.request(FindKey { key }).await
    }

    /// Returns the traffic control that would refuse a message with these limits now.
    pub async fn velocity_refusal(
        &self,
        limits: Vec<VelocityLimit>,
        now: Timestamp,
    ) -> Result<Option<OverVelocity>, StoreError> {
        self.request(FindVelocityRefusal { limits, now }).await
    }

    /// Whether this process runs the engine. The others send their operations to it, and leave the periodic work to it.
    pub fn runs_engine(&self) -> bool {
        *self.inner.access.shared.runs_engine.borrow()
    }

    /// Whether the lease of this process is valid. Without it another node may have its links.
    pub fn has_lease(&self) -> bool {
        self.inner.access.shared.lease.is_valid()
    }

    /// Whether operations can be run now: this node has a lease, and runs the engine or is connected to it.
    pub fn can_serve(&self) -> bool {
        let is_connected = || self.inner.front_end().is_some_and(|front_end| front_end.is_connected());
        self.inner.access.shared.lease.is_valid() && (self.runs_engine() || is_connected())
    }

    /// Waits until this process runs the engine.
    pub async fn engine_came(&self) {
        let mut runs_engine = self.inner.access.shared.runs_engine.subscribe();
        // The sender is in the store.
        let _ = runs_engine.wait_for(|here| *here).await;
    }

    /// Whether this process may send to carriers now: its lease is valid, and not about to end.
    pub fn may_send(&self) -> bool {
        self.inner.access.shared.lease.may_send()
    }

    /// Whether there is enough disk space to accept new messages.
    pub fn is_accepting(&self) -> bool {
        self.inner.access.shared.disk.is_accepting()
    }

    /// Writes all queued operations, truncates the log and closes the files. Later calls of any clone fail with
    /// [`StoreError::Closed`].
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
        if let Some(cluster) = &self.inner.cluster {
            cluster.own_node.leave().await;
        }
        if let Some(record) = &self.inner.record {
            record.close().await;
        }
        let access = self.inner.access.clone();
        let closed = tokio::task::spawn_blocking(move || access.backend.close()).await;
        closed.map_err(|_| StoreError::damaged("closing the database panicked"))
    }

    /// Reads beside the writer.
    async fn read<T: Send + 'static>(
        &self,
        read: impl FnOnce(&Connection) -> Result<T, TableError> + Send + 'static,
    ) -> Result<T, StoreError> {
        self.inner.access.backend.read(read).await
    }

    /// Queues a command for the writer, and returns its outcome once it is durable.
    async fn request<C: Listed>(&self, command: C) -> Result<C::Outcome, StoreError> {
        if self.audit.is_empty() {
            return self.run(command).await;
        }
        let audited = Audited { command: command.into(), entries: self.audit.to_vec() };
        own_outcome::<C>(*self.run(Box::new(audited)).await?)
    }

    async fn run<C: Listed>(&self, command: C) -> Result<C::Outcome, StoreError> {
        let (reply, outcome) = oneshot::channel();
        self.send(Op::Command(command.into(), Some(Reply::Caller(reply)))).await?;
        outcome_of::<C>(outcome.await)
    }

    /// Queues an operation for the writer. Waits while the queue is full.
    async fn send(&self, op: Op) -> Result<(), StoreError> {
        self.inner.access.queue.reserve().await?.send(op);
        Ok(())
    }
}

/// Returns the outcome that the writer sent for a command of this type.
fn outcome_of<C: Listed>(
    received: Result<Result<AnyOutcome, StoreError>, RecvError>,
) -> Result<C::Outcome, StoreError> {
    own_outcome::<C>(received.map_err(|_| StoreError::Closed)??)
}

fn own_outcome<C: Listed>(outcome: AnyOutcome) -> Result<C::Outcome, StoreError> {
    match outcome {
        AnyOutcome::EntryRemoved(removed) => Err(removed.into()),
        outcome => Ok(C::own_outcome(outcome).expect("the writer answers a command with its own outcome")),
    }
}
