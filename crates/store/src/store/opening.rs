//! Opens a store: repairs what the last process left behind, loads the engine's state, and starts the writer thread.

use crate::backend::{self, writing::WritingBackend};
use crate::disk::Disk;
use crate::error::StoreError;
use crate::outboxes::{Outboxes, Receivers};
use crate::record::Feed;
use crate::shared::Shared;
use crate::store::record::Record;
use crate::store::webhooks::{GivingUp, ReportMover};
use crate::store::{Inner, OpenOptions, Store};
use crate::writer::Writer;
use crate::writer::log::{log_forbidden, log_set_aside, log_steps};
use crate::writer::meters::Meters;
use crate::writer::queue;
use hermod_domain::ids::{CarrierId, MessageId};
use hermod_domain::time::Timestamp;
use hermod_engine::batch::{Batch, EngineState};
use hermod_engine::due_times::{self, CorrectedTimes};
use hermod_engine::maps;
use hermod_engine::set_aside;
use hermod_engine::steps::MessageStep;
use hermod_engine::tables::TableError;
use std::hash::{BuildHasher, RandomState};
use std::path::Path;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

impl Store {
    /// Opens the store of a data folder, or creates it. Parts that were being sent when the last process ended become in
    /// doubt. Fails if another process has the folder open, or if the database has lost acknowledged commits.
    pub fn open(options: &OpenOptions) -> Result<Store, StoreError> {
        if options.server.is_none() {
            return open(options);
        }
        // A connection to a server blocks its thread, which a task must not do.
        let opened = std::thread::scope(|threads| threads.spawn(|| open(options)).join());
        opened.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }
}

fn open(options: &OpenOptions) -> Result<Store, StoreError> {
    let OpenOptions { folder, server, low_water_bytes, in_doubt_wait, record, now } = options;
    let (backend, mut writing) = backend::open(folder, server.as_ref())?;
    let position = writing.store_position()?;
    let newest_at_open = writing.tables().read()?.newest_message()?.map(MessageId::accepted_at);
    let was_empty = writing.has_empty_catalogue()?;
    set_aside_unreadable(&writing, *now)?;
    bring_back_due_times(&writing, *in_doubt_wait, *now)?;
    let mut engine = EngineState::load(&writing.tables(), *in_doubt_wait, random_seed())?;
    let receivers = Arc::new(Receivers::new(*now));
    let mut in_doubt = mark_sending_in_doubt(&writing, &mut engine, &receivers, *now)?;
    let outboxes = Outboxes::load(&writing.tables(), &engine, receivers, *now)?;
    let disk = Arc::new(Disk::new(folder.clone(), *low_water_bytes));
    let shared = Arc::new(Shared::new(disk.clone(), outboxes, Arc::new(Feed::new(*record))));
    shared.set_next_due(engine.next_due());
    shared.unconfirmed.add(in_doubt.unconfirmed);
    shared.feed.push(in_doubt.sequence, std::iter::empty(), &mut in_doubt.steps);
    let meters = Meters::register(writing.count_waiting_events()?);
    writing.start_upkeep(disk, *now)?;
    let (queue, queued) = queue::queue();
    let (for_writer, for_readers) = (shared.clone(), queued.clone());
    backend.set_wake_writer(move || for_readers.wake_writer());
    let record =
        record.then(|| Record::open(options, &backend, position, shared.feed.clone())).transpose()?;
    let thread = start_writer(folder, move || {
        let feed = for_writer.feed.clone();
        Writer::new(&writing, engine, queued, for_writer, meters).run();
        writing.close();
        feed.close();
    })?;
    Ok(Store {
        inner: Arc::new(Inner {
            queue,
            backend,
            shared,
            links_opened: AtomicU64::new(0),
            newest_at_open,
            was_empty,
            rematched: Mutex::default(),
            scans: Mutex::default(),
            report_mover: ReportMover::default(),
            giving_up: GivingUp::default(),
            writer: Mutex::new(Some(thread)),
            record,
        }),
        audit: Arc::default(),
    })
}

fn start_writer(folder: &Path, write: impl FnOnce() + Send + 'static) -> Result<JoinHandle<()>, StoreError> {
    std::thread::Builder::new()
        .name("hermod-writer".to_owned())
        .spawn(write)
        .map_err(|error| StoreError::File { path: folder.to_owned(), error })
}

/// What became of the parts that were being sent when the last process ended.
struct InDoubt {
    /// How many of each carrier had no resend left and count as unconfirmed.
    unconfirmed: maps::HashMap<CarrierId, u64>,
    steps: Vec<MessageStep>,
    /// The last batch.
    sequence: u64,
}

/// Marks the parts that were being sent when the last process ended as in doubt.
fn mark_sending_in_doubt(
    writing: &WritingBackend,
    engine: &mut EngineState,
    receivers: &Receivers,
    now: Timestamp,
) -> Result<InDoubt, TableError> {
    let transaction = writing.begin()?;
    let tables = writing.tables();
    let mut batch = Batch::new(&tables, engine, receivers, 0, Arc::default());
    batch.mark_sending_in_doubt(now)?;
    batch.finish()?;
    let unconfirmed = std::mem::take(&mut batch.unconfirmed);
    let forbidden = std::mem::take(&mut batch.forbidden);
    let set_aside = std::mem::take(&mut batch.set_aside);
    let steps = std::mem::take(&mut batch.steps);
    let sequence = transaction.commit()?;
    engine.committed(now);
    log_forbidden(&forbidden);
    log_set_aside(&set_aside);
    log_steps(&steps);
    Ok(InDoubt { unconfirmed, steps, sequence })
}

/// Sets aside the parts whose rows are unreadable, and logs them.
fn set_aside_unreadable(writing: &WritingBackend, now: Timestamp) -> Result<(), TableError> {
    let transaction = writing.begin()?;
    let tables = writing.tables();
    let unreadable = set_aside::set_aside_unreadable(&tables, now)?;
    tables.finish()?;
    transaction.commit()?;
    log_set_aside(&unreadable);
    Ok(())
}

/// Shortens due times that are later than their schedules allow, and logs how many there were. They result from a clock
/// that was ahead.
fn bring_back_due_times(
    writing: &WritingBackend,
    in_doubt_wait: Duration,
    now: Timestamp,
) -> Result<(), TableError> {
    let transaction = writing.begin()?;
    let tables = writing.tables();
    let back = due_times::correct_times(&tables, in_doubt_wait, now)?;
    tables.finish()?;
    transaction.commit()?;
    if back != CorrectedTimes::default() {
        let CorrectedTimes { parts, validity, inbound, receipts } = back;
        tracing::warn!(
            parts,
            validity,
            inbound,
            receipts,
            "Due times were later than their schedules allow and were shortened: the clock was ahead before"
        );
    }
    Ok(())
}

/// Returns a number that differs at every start.
fn random_seed() -> u64 {
    RandomState::new().hash_one(0)
}
