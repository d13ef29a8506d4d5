//! The store as its callers see it: opened, closed, asked to accept messages; `requests`, `ports`, `webhooks` and `upkeep`
//! have the other operations.

#[cfg(test)]
mod commands_tests;
mod copying;
mod ports;
mod requests;
pub(crate) mod shared;
mod told_state;
mod unconfirmed;
mod upkeep;
mod walks;
mod webhooks;

pub use hermod_engine::erase::{ERASED_NUMBER, Erased};
pub use hermod_engine::ops::Handout;
pub use hermod_engine::retention::PURGED_PER_STEP_MAX;
pub use hermod_engine::state::day_totals::DAYS_PER_READ_MAX;
pub use hermod_engine::state::deferred::DEFERRED_IN_MEMORY_MAX;
pub use ports::{LinkPort, ReceiverPort};
pub use shared::LogSize;

use crate::backend::Backend;
use crate::fault::StoreFault;
use crate::outboxes::{Outboxes, Receivers};
use crate::sqlite::checkpoint::{self, Checkpointer};
use crate::sqlite::lock::{self, FolderLock};
use crate::sqlite::mark::Mark;
use crate::sqlite::readers::Readers;
use crate::sqlite::webhook_events::count_waiting;
use crate::sqlite::{self, SqliteTables, schema};
use crate::writer::Writer;
use crate::writer::log::{log_forbidden, log_set_aside};
use crate::writer::meters::Meters;
use crate::writer::op::Op;
use crate::writer::waiting::Waiting;
use hermod_domain::catalogue::Catalogue;
use hermod_domain::ids::{AccountId, CarrierId, MessageId, RemoteId};
use hermod_domain::time::Timestamp;
use hermod_engine::batch::{Batch, Books};
use hermod_engine::commands::{AnyOutcome, FindKey, Listed};
use hermod_engine::due_times::{self, BroughtBack};
use hermod_engine::ops::{AcceptOutcome, Acceptance, KeyClaim, MessageRecord, Replay};
use hermod_engine::tables::{MessageRows, TableError};
use rusqlite::Connection;
use shared::Shared;
use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;
use tokio::sync::oneshot::error::RecvError;
use tokio::sync::{mpsc, oneshot};
use walks::WalkPlaces;

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
    writer: Mutex<Option<JoinHandle<()>>>,
    /// Held for as long as the store is open.
    lock: Mutex<Option<FolderLock>>,
}

impl Store {
    /// Opens or makes the store. Parts that were being sent when the last process ended are in doubt from here on.
    pub fn open(options: &OpenOptions) -> Result<Store, StoreFault> {
        let OpenOptions { folder, low_water_bytes, in_doubt_wait, now } = options;
        lock::make_folder(folder)?;
        let lock = FolderLock::take(folder)?;
        let mut connection = schema::open_for_writing(folder)?;
        let mark = Mark::open(folder, &connection)?;
        checkpoint::truncate_at_start(folder, &connection)?;
        let newest_at_open =
            SqliteTables { connection: &connection }.newest_message()?.map(MessageId::accepted_at);
        let was_empty = sqlite::catalogue::is_empty(&connection)?;
        set_aside_unreadable(&connection, *now)?;
        bring_back_due_times(&connection, *in_doubt_wait, *now)?;
        let mut books = Books::load(&SqliteTables::of(&connection), *in_doubt_wait, chance())?;
        let receivers = Arc::new(Receivers::new(*now));
        connection.execute_batch("BEGIN IMMEDIATE").map_err(StoreFault::sqlite)?;
        let tables = SqliteTables::of(&connection);
        let mut batch = Batch::new(&tables, &mut books, &*receivers, 0, Arc::default());
        batch.doubt_what_was_being_sent(*now)?;
        batch.finish()?;
        let unconfirmed = std::mem::take(&mut batch.unconfirmed);
        let forbidden = std::mem::take(&mut batch.forbidden);
        let set_aside = std::mem::take(&mut batch.set_aside);
        connection.execute_batch("COMMIT").map_err(StoreFault::sqlite)?;
        books.committed(*now);
        log_forbidden(&forbidden);
        log_set_aside(&set_aside);

        let outboxes = Outboxes::load(&tables, &books, receivers, *now)?;
        drop(tables);
        let shared = Arc::new(Shared::new(folder.clone(), *low_water_bytes, outboxes));
        shared.next_due_is(books.next_due());
        shared.unconfirmed.add(unconfirmed);
        let hooks_waiting = count_waiting(&connection)?;
        let (queue, waiting) = mpsc::channel(QUEUE_OPS_MAX);
        let checkpointer = Checkpointer::start(folder, &mut connection, shared.clone())?;
        let (for_writer, meters) = (shared.clone(), Meters::register(hooks_waiting));
        let write = move || {
            let writer = Writer {
                connection: &connection,
                books,
                mailboxes: HashMap::new(),
                queue: waiting,
                shared: for_writer,
                checkpointer,
                mark,
                meters,
                batches: 0,
                full_disk: None,
            };
            writer.run();
        };
        let thread = std::thread::Builder::new()
            .name("hermod-writer".to_owned())
            .spawn(write)
            .map_err(|error| StoreFault::File { path: folder.clone(), error })?;
        Ok(Store {
            inner: Arc::new(Inner {
                queue,
                backend: Backend::Sqlite(Readers::open(folder)?),
                shared,
                links_opened: AtomicU64::new(0),
                newest_at_open,
                was_empty,
                rematched: Mutex::default(),
                walks: Mutex::default(),
                writer: Mutex::new(Some(thread)),
                lock: Mutex::new(Some(lock)),
            }),
        })
    }

    /// Whether a process works on this data folder: a gateway, or a command that opened the folder itself.
    pub fn is_in_use(folder: &Path) -> Result<bool, StoreFault> {
        lock::is_in_use(folder)
    }

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
        self.inner.shared.follow(catalogue);
    }

    /// Charges, stores and queues one message. Durable when this returns `Accepted`; nothing happened otherwise.
    pub async fn accept(&self, acceptance: Acceptance) -> Result<AcceptOutcome, StoreFault> {
        self.accept_unless(acceptance, std::future::pending()).await
    }

    /// The same, for a sender who does not wait for ever: if `waited` is over before the writer has begun with the
    /// submission, it is given up, certainly not done, and the answer is [`StoreFault::Waited`].
    pub async fn accept_unless(
        &self,
        acceptance: Acceptance,
        waited: impl Future<Output = ()>,
    ) -> Result<AcceptOutcome, StoreFault> {
        if !self.inner.shared.accepting() {
            return Err(StoreFault::DiskLow);
        }
        let (reply, mut answer) = oneshot::channel();
        let waiting = Arc::new(Waiting::new(acceptance));
        self.inner.queue.try_send(Op::Accept(waiting.clone(), reply)).map_err(|error| match error {
            mpsc::error::TrySendError::Full(_) => StoreFault::QueueFull(QUEUE_OPS_MAX),
            mpsc::error::TrySendError::Closed(_) => StoreFault::Closed,
        })?;
        tokio::select! {
            biased;
            answered = &mut answer => return outcome_of::<Box<Acceptance>>(answered),
            () = waited => {}
        }
        if waiting.give_up() {
            return Err(StoreFault::Waited);
        }
        outcome_of::<Box<Acceptance>>(answer.await)
    }

    /// Was this idempotency key used? Asked of the writer, so that a send under way counts.
    pub async fn find_key(&self, key: KeyClaim) -> Result<Option<Replay>, StoreFault> {
        self.request(FindKey { key }).await
    }

    /// The message, if it is this account's.
    pub async fn message(
        &self,
        account: AccountId,
        id: MessageId,
    ) -> Result<Option<MessageRecord>, StoreFault> {
        self.inner.backend.message(account, id).await
    }

    /// Is there room on the disk for new messages?
    pub fn accepting(&self) -> bool {
        self.inner.shared.accepting()
    }

    /// Finishes what is waiting, empties the log and closes the files. Later calls of any clone fail with `Closed`.
    pub async fn close(&self) -> Result<(), StoreFault> {
        let (reply, stopped) = oneshot::channel();
        self.send(Op::Stop(reply)).await?;
        stopped.await.map_err(|_| StoreFault::Closed)??;
        let thread = self.inner.writer.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(thread) = thread {
            let ended = tokio::task::spawn_blocking(move || thread.join()).await;
            if !matches!(ended, Ok(Ok(()))) {
                return Err(StoreFault::damaged("the writer thread panicked"));
            }
        }
        self.inner.backend.close();
        drop(self.inner.lock.lock().unwrap_or_else(PoisonError::into_inner).take());
        Ok(())
    }

    /// Has the writer run a command in its next transaction, and returns the outcome once it is durable.
    async fn request<C: Listed>(&self, command: C) -> Result<C::Outcome, StoreFault> {
        let (reply, answer) = oneshot::channel();
        self.send(Op::Command(command.into(), Some(reply))).await?;
        outcome_of::<C>(answer.await)
    }

    /// Waits for a place in the writer's queue.
    async fn send(&self, op: Op) -> Result<(), StoreFault> {
        self.inner.queue.send(op).await.map_err(|_| StoreFault::Closed)
    }
}

/// Returns what the writer has answered to a command of this type.
fn outcome_of<C: Listed>(
    answered: Result<Result<AnyOutcome, StoreFault>, RecvError>,
) -> Result<C::Outcome, StoreFault> {
    let outcome = answered.map_err(|_| StoreFault::Closed)??;
    Ok(C::own_outcome(outcome).expect("the writer answers a command with its own outcome"))
}

/// Sets aside the parts whose rows make no sense, and logs them.
fn set_aside_unreadable(connection: &Connection, now: Timestamp) -> Result<(), TableError> {
    let all = connection.unchecked_transaction()?;
    let tables = SqliteTables::of(&all);
    let unreadable = hermod_engine::set_aside::set_aside_unreadable(&tables, now)?;
    tables.finish()?;
    all.commit()?;
    log_set_aside(&unreadable);
    Ok(())
}

/// Brings back due times that are further away than their schedules allow, and logs how many there were.
fn bring_back_due_times(
    connection: &Connection,
    in_doubt_wait: Duration,
    now: Timestamp,
) -> Result<(), TableError> {
    let all = connection.unchecked_transaction()?;
    let tables = SqliteTables::of(&all);
    let back = due_times::bring_back(&tables, in_doubt_wait, now)?;
    tables.finish()?;
    all.commit()?;
    if back != BroughtBack::default() {
        let BroughtBack { parts, validity, inbound, receipts } = back;
        tracing::warn!(
            parts,
            validity,
            inbound,
            receipts,
            "Due times were further away than their schedules allow and are brought back: the clock was ahead before"
        );
    }
    Ok(())
}

/// A number that differs from start to start.
fn chance() -> u64 {
    RandomState::new().hash_one(0)
}
