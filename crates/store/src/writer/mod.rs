//! The one writer: a thread that owns the only connection that writes. Everything waiting becomes one transaction and
//! one fsync, then every caller is answered. An operation that comes alone is written at once; under load the
//! batch grows by itself while the disk is busy.
//!
//! A command that fails does so alone: the batch is rolled back and its commands are run one by one (`transact.rs`).
//! `full_disk.rs` says what happens while there is no room.

mod copying;
mod full_disk;
pub(crate) mod log;
pub(crate) mod mailbox;
pub(crate) mod meters;
pub(crate) mod operation;
mod transact;
pub(crate) mod waiting;

use crate::backend::writing::WritingBackend;
use crate::error::StoreError;
use crate::shared::Shared;
use full_disk::FullDisk;
use hermod_engine::batch::EngineState;
use hermod_engine::commands::{AnyCommand, AnyOutcome};
use hermod_engine::ops::LinkId;
use mailbox::Mailbox;
use meters::Meters;
use operation::{Op, Reply};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::sync::mpsc::error::TryRecvError;
use transact::Claims;

/// Operations in one transaction at most, so that the first of them does not wait for too many others.
pub(crate) const BATCH_OPS_MAX: usize = 512;
/// How long to wait before trying again to write facts that did not fit on the disk.
const FULL_DISK_PAUSE: Duration = Duration::from_millis(500);

pub(crate) struct Writer<'c> {
    database: &'c WritingBackend,
    state: EngineState,
    mailboxes: HashMap<LinkId, Arc<Mailbox>>,
    queue: mpsc::Receiver<Op>,
    shared: Arc<Shared>,
    meters: Meters,
    batches: u64,
    full_disk: Option<FullDisk>,
}

impl<'c> Writer<'c> {
    pub(crate) fn new(
        database: &'c WritingBackend,
        state: EngineState,
        queue: mpsc::Receiver<Op>,
        shared: Arc<Shared>,
        meters: Meters,
    ) -> Writer<'c> {
        let mailboxes = HashMap::new();
        Writer { database, state, mailboxes, queue, shared, meters, batches: 0, full_disk: None }
    }
}

impl Writer<'_> {
    /// Writes what is asked for until the store is stopped or its last handle is dropped.
    pub(crate) fn run(mut self) {
        let mut ops = Vec::with_capacity(BATCH_OPS_MAX);
        while self.wait_for_ops(&mut ops) && self.work_off(&mut ops) && self.copy_if_wanted(&mut ops) {}
        self.queue.close();
        while let Ok(op) = self.queue.try_recv() {
            let fault = StoreError::Closed;
            if let Op::Command(AnyCommand::SettleReports(ends), _) = &op {
                tracing::warn!(%fault, ?ends, "What a customer has answered could not be recorded");
            }
            op.failed(fault);
        }
        self.write_last_figures();
    }

    /// Writes these operations. False once the store is to stop.
    fn work_off(&mut self, ops: &mut Vec<Op>) -> bool {
        let stop = ops.iter().any(|op| matches!(op, Op::Stop(_)));
        if self.full_disk.is_some() {
            self.handle_full_disk(ops);
            self.write_kept();
        } else {
            self.write_all(ops);
        }
        self.state.trim();
        self.database.after_batch();
        !stop
    }

    /// Writes what waits now, without waiting for more. False once the store is to stop.
    fn work_off_waiting(&mut self, ops: &mut Vec<Op>) -> bool {
        if self.full_disk.is_some() {
            return self.wait_for_ops(ops) && self.work_off(ops);
        }
        ops.clear();
        match self.take_waiting(ops) {
            Err(TryRecvError::Disconnected) if ops.is_empty() => false,
            _ => ops.is_empty() || self.work_off(ops),
        }
    }

    /// False once nobody is left who could ask for anything.
    #[expect(clippy::disallowed_methods, reason = "no event says that a full disk has room again")]
    fn wait_for_ops(&mut self, ops: &mut Vec<Op>) -> bool {
        ops.clear();
        if self.full_disk.is_some() {
            std::thread::sleep(FULL_DISK_PAUSE);
            return self.take_waiting(ops) != Err(TryRecvError::Disconnected);
        }
        self.queue.blocking_recv_many(ops, BATCH_OPS_MAX) > 0
    }

    fn take_waiting(&mut self, ops: &mut Vec<Op>) -> Result<(), TryRecvError> {
        while ops.len() < BATCH_OPS_MAX {
            ops.push(self.queue.try_recv()?);
        }
        Ok(())
    }

    fn write_all(&mut self, ops: &mut Vec<Op>) {
        match self.transact(ops, Claims::Allowed) {
            Ok(done) => answer_all(ops, done),
            Err(fault) if fault.is_disk_full() => self.handle_full_disk(ops),
            Err(fault) => {
                tracing::warn!(%fault, operations = ops.len(), "A batch failed as a whole; its operations are tried one by one");
                for op in ops.drain(..) {
                    self.write_alone(op);
                }
            }
        }
    }

    fn write_alone(&mut self, op: Op) {
        match self.transact_one(&op, Claims::Allowed) {
            Ok(done) => op.done(done),
            Err(fault) if fault.is_disk_full() => self.handle_full_disk(&mut vec![op]),
            Err(fault) => match op {
                Op::Command(command, reply) => match command.into_pieces() {
                    Ok(pieces) => self.write_piecewise(pieces, reply),
                    Err(command) => Op::Command(command, reply).failed(fault),
                },
                op @ (Op::Accept(..) | Op::OpenLink(..) | Op::Stop(_)) => op.failed(fault),
            },
        }
    }

    /// One fact that cannot be written must not take the others with it. The caller, if there is one, is told the outcome
    /// of the last piece, or the fault of a piece that was not written.
    fn write_piecewise(&mut self, pieces: Vec<AnyCommand>, reply: Option<Reply>) {
        let mut written = Ok(None);
        for piece in pieces {
            let op = Op::Command(piece, None);
            match self.transact_one(&op, Claims::Allowed) {
                Ok(outcome) => written = written.map(|_| outcome),
                Err(fault) if fault.is_disk_full() => {
                    self.handle_full_disk(&mut vec![op]);
                    // It may be kept, but it is not written, and nobody may be told that it is.
                    written = Err(StoreError::DiskLow);
                }
                Err(fault) => {
                    tracing::error!(%fault, ?op, "What a carrier or a customer said could not be recorded and is lost");
                    if let Op::Command(AnyCommand::SettleReports(ends), _) = &op {
                        // Their rows stay, and nobody waits for them to go.
                        self.shared.outboxes.written(ends);
                    }
                    written = Err(fault);
                }
            }
        }
        if let (Some(reply), Some(written)) = (reply, written.transpose()) {
            drop(reply.send(written));
        }
    }
}

fn answer_all(ops: &mut Vec<Op>, done: Vec<Option<AnyOutcome>>) {
    for (op, done) in ops.drain(..).zip(done) {
        op.done(done);
    }
}
