//! The writer: a thread that owns the only connection that writes. It runs all queued operations in one transaction with
//! one fsync, then answers their callers. A customer's request is written at once, results of carriers and receivers with
//! the next request (`queue.rs`); under load the batch grows while the disk is busy.
//!
//! A command that fails does not fail its batch: the batch is rolled back and its commands run one by one. `full_disk.rs`
//! has what happens while the disk is full.

pub(crate) mod answers;
mod full_disk;
mod gather;
pub(crate) mod loading;
mod log;
pub(crate) mod mailbox;
pub(crate) mod meters;
pub(crate) mod operation;
mod pace;
pub(crate) mod queue;
pub(crate) mod report_port;
pub(crate) mod shared;
mod transact;

use crate::backend::writing::WritingBackend;
use crate::error::StoreError;
use full_disk::FullDisk;
use hermod_domain::ids::CarrierId;
use hermod_engine::batch::EngineState;
use hermod_engine::commands::{AnyCommand, AnyOutcome, OpenLink};
use hermod_engine::ops::{LinkId, LinkKind};
use mailbox::Mailbox;
use meters::Meters;
use operation::{Op, Reply};
use pace::ClaimPace;
use queue::OpQueue;
use shared::{CopyRequest, Shared};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use transact::Claims;

/// Maximum number of operations in one transaction, so that the first does not wait long for the others.
pub(crate) const BATCH_OPS_MAX: usize = 512;
/// Pause before operations that did not fit on the disk are written again.
const FULL_DISK_PAUSE: Duration = Duration::from_millis(500);

pub(crate) struct Writer<'c> {
    database: &'c WritingBackend,
    engine: EngineState,
    mailboxes: HashMap<LinkId, Arc<Mailbox>>,
    queue: Arc<OpQueue>,
    /// The carriers that the queue knows to have parts waiting for a slot.
    short_of_slots: Vec<CarrierId>,
    shared: Arc<Shared>,
    meters: Meters,
    pace: ClaimPace,
    batches: u64,
    full_disk: Option<FullDisk>,
}

impl<'c> Writer<'c> {
    pub(crate) fn new(
        database: &'c WritingBackend,
        engine: EngineState,
        queue: Arc<OpQueue>,
        shared: Arc<Shared>,
        meters: Meters,
    ) -> Writer<'c> {
        let mailboxes = HashMap::new();
        Writer {
            database,
            engine,
            mailboxes,
            queue,
            short_of_slots: Vec::new(),
            shared,
            meters,
            pace: ClaimPace::default(),
            batches: 0,
            full_disk: None,
        }
    }
}

impl Writer<'_> {
    /// Adds a link of this node that was open while another node ran the engine. `slots`: its free slots; none if it was
    /// closed.
    pub(crate) fn adopt(&mut self, open: OpenLink, slots: Option<u32>, mailbox: Arc<Mailbox>) {
        if let (LinkKind::Sends, Some(slots)) = (open.kind, slots) {
            self.engine.lanes.link_opened(open.carrier, open.link, open.number);
            self.engine.lanes.grant(open.carrier, open.link, slots);
        }
        self.mailboxes.insert(open.link, mailbox);
    }

    /// Writes operations until [`Op::Stop`], or until the last handle of the store is dropped. Operations still queued
    /// then fail with [`StoreError::Closed`].
    pub(crate) fn run(mut self) {
        let mut ops = Vec::with_capacity(BATCH_OPS_MAX);
        while self.wait_for_ops(&mut ops) && self.write_batch(&mut ops) && self.make_requested_copy(&mut ops)
        {
        }
        // Results that no caller waits for were taken as recorded: a receipt would be sent again without them.
        let (mut results, others): (Vec<Op>, Vec<Op>) =
            self.queue.close().into_iter().partition(|op| matches!(op, Op::Command(_, None)));
        self.write_batch(&mut results);
        others.into_iter().for_each(|op| op.fail(StoreError::Closed));
        self.write_last_figures();
    }

    /// Writes these operations. Returns false after [`Op::Stop`].
    fn write_batch(&mut self, ops: &mut Vec<Op>) -> bool {
        let stop = ops.iter().any(|op| matches!(op, Op::Stop(_)));
        if self.full_disk.is_some() {
            self.handle_full_disk(ops);
            self.write_kept();
        } else if !ops.is_empty() || self.engine.claims_left {
            self.write_all(ops);
        }
        self.engine.trim();
        self.database.after_batch();
        self.queue.set_drain(self.engine.claims_left.then(|| self.pace.results_max()));
        let short_of_slots = self.engine.lanes.short_of_slots();
        if short_of_slots != self.short_of_slots {
            self.queue.set_short_of_slots(short_of_slots.clone());
            self.short_of_slots = short_of_slots;
        }
        !stop
    }

    /// Writes the operations that are queued now, without waiting for more. Returns false after [`Op::Stop`].
    fn write_queued(&mut self, ops: &mut Vec<Op>) -> bool {
        if self.full_disk.is_some() {
            return self.wait_for_ops(ops) && self.write_batch(ops);
        }
        ops.clear();
        self.queue.take_queued(ops) && self.write_batch(ops)
    }

    /// Waits for operations and moves them to `ops`; waits for none if parts are left to claim. On a full disk waits for
    /// [`FULL_DISK_PAUSE`] instead. Returns false once the last handle of the store is dropped.
    #[expect(clippy::disallowed_methods, reason = "no event says that a full disk has room again")]
    fn wait_for_ops(&mut self, ops: &mut Vec<Op>) -> bool {
        ops.clear();
        if self.full_disk.is_some() {
            std::thread::sleep(FULL_DISK_PAUSE);
        } else if !self.engine.claims_left {
            return self.queue.wait(self.database.next_upkeep(), ops);
        }
        self.queue.take_queued(ops)
    }

    /// Writes the operations in one transaction, or one by one if that fails.
    fn write_all(&mut self, ops: &mut Vec<Op>) {
        match self.transact(ops, Claims::Allowed) {
            Ok(done) => answer_all(ops, done),
            Err(error) if error.is_disk_full() => self.handle_full_disk(ops),
            Err(error) => {
                tracing::warn!(%error, operations = ops.len(), "A batch failed; its operations are retried one by one");
                for op in ops.drain(..) {
                    self.write_alone(op);
                }
            }
        }
    }

    /// Writes an operation in a transaction of its own, or in pieces if that fails and it can be split.
    fn write_alone(&mut self, op: Op) {
        match self.transact_one(&op, Claims::Allowed) {
            Ok(done) => op.succeed(done),
            Err(error) if error.is_disk_full() => self.handle_full_disk(&mut vec![op]),
            Err(error) => match op {
                Op::Command(command, reply) => match command.into_pieces() {
                    Ok(pieces) => self.write_piecewise(pieces, reply),
                    Err(command) => Op::Command(command, reply).fail(error),
                },
                op @ (Op::Accept(..) | Op::OpenLink(..) | Op::Stop(_)) => op.fail(error),
            },
        }
    }

    /// Writes the pieces of a command in a transaction each, so that one that cannot be written does not affect the others.
    /// Replies with the outcome of the last piece, or with the error of a piece that was not written. The last one has the reply:
    /// with it the transaction notes that the command of another node was run.
    fn write_piecewise(&mut self, mut pieces: Vec<AnyCommand>, reply: Option<Reply>) {
        let Some(last) = pieces.pop() else { return };
        let mut failed = None;
        for piece in pieces {
            failed = self.write_piece(&Op::Command(piece, None)).err().or(failed);
        }
        let op = Op::Command(last, reply);
        match (self.write_piece(&op), failed) {
            (Ok(outcome), None) => op.succeed(outcome),
            (Err(error), _) | (Ok(_), Some(error)) => op.fail(error),
        }
    }

    fn write_piece(&mut self, op: &Op) -> Result<Option<AnyOutcome>, StoreError> {
        self.transact_one(op, Claims::Allowed).map_err(|error| {
            if error.is_disk_full() {
                if let Op::Command(command, _) = op {
                    self.handle_full_disk(&mut vec![Op::Command(command.clone(), None)]);
                }
                // It may be kept in memory, but it is not durable, so it is not acknowledged.
                return StoreError::DiskLow;
            }
            tracing::error!(%error, ?op, "A response or receipt could not be recorded and is lost");
            if let Op::Command(AnyCommand::SettleReports(finished), _) = op {
                // Their rows remain. The outbox must not wait for their deletion.
                self.shared.outboxes.forget_settled(finished);
            }
            error
        })
    }

    /// Makes the copy of the database that was requested, if any. Queued operations are written between its steps. Returns
    /// false after [`Op::Stop`].
    fn make_requested_copy(&mut self, ops: &mut Vec<Op>) -> bool {
        let Some(CopyRequest { file, reply }) = self.shared.copies.take() else { return true };
        tracing::info!(file = %file.display(), "Copying the database");
        let (database, mut running) = (self.database, true);
        let copied = database.copy_to(&file, &mut || {
            running = self.write_queued(ops);
            if !running || reply.is_closed() { Err(StoreError::Closed) } else { Ok(()) }
        });
        if let Err(error) = &copied {
            tracing::warn!(%error, file = %file.display(), "The copy of the database was not completed");
        }
        self.shared.copies.release();
        // The caller may have dropped its future.
        drop(reply.send(copied));
        running
    }
}

fn answer_all(ops: &mut Vec<Op>, done: Vec<Option<AnyOutcome>>) {
    for (op, done) in ops.drain(..).zip(done) {
        op.succeed(done);
    }
}
