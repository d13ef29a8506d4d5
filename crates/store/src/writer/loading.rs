//! Loads the engine from the tables, after repairing what the last process left behind.

use crate::backend::writing::WritingBackend;
use crate::error::StoreError;
use crate::outboxes::Receivers;
use crate::record::Erasures;
use crate::setup;
use crate::writer::log::{log_forbidden, log_set_aside, log_steps};
use crate::writer::shared::Shared;
use hermod_domain::catalogue::Catalogue;
use hermod_domain::ids::{CarrierId, MessageId};
use hermod_domain::time::Timestamp;
use hermod_engine::batch::{Batch, EngineState};
use hermod_engine::commands;
use hermod_engine::due_times::{self, CorrectedTimes};
use hermod_engine::maps;
use hermod_engine::ops::CatalogueRow;
use hermod_engine::recover;
use hermod_engine::set_aside;
use hermod_engine::steps::MessageStep;
use hermod_engine::tables::{SendingPart, TableError};
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use std::time::Duration;

/// What becomes of the parts that were being sent.
pub(crate) enum Sending {
    /// The process that sent them has ended: they are in doubt.
    InDoubt,
    /// Other processes may have them.
    Kept,
}

/// An engine that can run.
pub(crate) struct LoadedStore {
    pub engine: EngineState,
    /// The parts that were being sent, if they were kept.
    pub sending: Vec<SendingPart>,
    pub newest: Option<Timestamp>,
}

/// Returns the setup of these rows.
pub(crate) fn stored_setup(rows: &[CatalogueRow]) -> Result<Arc<Catalogue>, StoreError> {
    setup::read_catalogue(rows).map(Arc::new).map_err(StoreError::damaged)
}

/// Loads the engine, and publishes what that changed. `catalogue`: the stored setup, which the parts in doubt need already.
pub(crate) fn load(
    writing: &WritingBackend,
    shared: &Shared,
    catalogue: Arc<Catalogue>,
    in_doubt_wait: Duration,
    sending: Sending,
    now: Timestamp,
) -> Result<LoadedStore, StoreError> {
    let newest = writing.tables().read()?.newest_message()?.map(MessageId::accepted_at);
    set_aside_unreadable(writing, now)?;
    bring_back_due_times(writing, in_doubt_wait, now)?;
    let mut engine = EngineState::load(&writing.tables(), catalogue, in_doubt_wait, random_seed())?;
    let kept = match sending {
        Sending::InDoubt => {
            let receivers = shared.outboxes.receivers();
            let mut in_doubt = mark_sending_in_doubt(writing, &mut engine, receivers, now)?;
            shared.unconfirmed.add(in_doubt.unconfirmed);
            shared.feed.push(in_doubt.sequence, std::iter::empty(), &mut in_doubt.steps, Erasures::default());
            Vec::new()
        }
        Sending::Kept => writing.tables().read()?.sending_parts()?.rows,
    };
    shared.outboxes.begin(&writing.tables(), &engine, now)?;
    shared.set_next_due(engine.next_due());
    Ok(LoadedStore { engine, sending: kept, newest })
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
    let mut batch = Batch::new(&tables, engine, receivers, 0);
    recover::mark_sending_in_doubt(&mut batch, now)?;
    commands::finish(&mut batch)?;
    let unconfirmed = std::mem::take(&mut batch.results.unconfirmed);
    let forbidden = std::mem::take(&mut batch.results.forbidden);
    let set_aside = std::mem::take(&mut batch.results.set_aside);
    let steps = std::mem::take(&mut batch.results.steps);
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
    let unreadable = set_aside::all_unreadable(&tables, now)?;
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
