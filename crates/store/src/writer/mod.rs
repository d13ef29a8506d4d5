//! The one writer: a thread that owns the only connection that writes. Everything waiting becomes one transaction and
//! one fsync, then everyone is answered. With nothing else going on an operation is written at once; under load the
//! batch grows by itself while the disk is busy.
//!
//! An operation that fails does so alone: the batch is rolled back and its operations are run one by one. On a full disk
//! what was asked for is refused, what carriers and customers said is kept in memory until there is room, and the rest
//! goes on.

pub(crate) mod checkpoint;
pub(crate) mod mailbox;
pub(crate) mod mark;
pub(crate) mod meters;
pub(crate) mod op;
pub(crate) mod waiting;

use crate::embedded::set_aside_requests::log_set_aside;
use crate::embedded::shared::Shared;
use crate::fault::StoreFault;
use crate::sqlite::SqliteTables;
use checkpoint::Checkpointer;
use hermod_engine::batch::{Batch, Books};
use hermod_engine::commands::{AnyCommand, AnyOutcome, OnFullDisk};
use hermod_engine::ops::LinkId;
use hermod_engine::progress::ForbiddenEvent;
use hermod_engine::report::UnreadableReport;
use mailbox::Mailbox;
use mark::Mark;
use meters::Meters;
use op::{Op, Reply};
use rusqlite::Connection;
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::sync::mpsc::error::TryRecvError;

/// Operations in one transaction at most, so that the first of them does not wait for too many others.
pub(crate) const BATCH_OPS_MAX: usize = 512;
/// How long to wait before trying again to write facts that did not fit on the disk.
const FULL_DISK_PAUSE: Duration = Duration::from_millis(500);
/// Bytes of what came of webhooks that are kept while the disk is full. What is beyond is posted again.
const HOOK_ENDS_KEPT_BYTES_MAX: usize = 64 * 1024 * 1024;

pub(crate) struct Writer<'c> {
    pub connection: &'c Connection,
    pub books: Books,
    pub mailboxes: HashMap<LinkId, Arc<Mailbox>>,
    pub queue: mpsc::Receiver<Op>,
    pub shared: Arc<Shared>,
    pub checkpointer: Checkpointer,
    pub mark: Mark,
    pub meters: Meters,
    pub batches: u64,
    pub full_disk: Option<FullDisk>,
}

/// The disk has no room. What links have learned since, and what customers have answered, waits here, in order. It cannot
/// grow much: nothing is claimed meanwhile, so answers are at most what the windows hold, and carriers stop when their
/// receipts are not answered. What customers answer counts in their outboxes until it is written, and those are limited.
#[derive(Default)]
pub(crate) struct FullDisk {
    kept: VecDeque<Op>,
    hook_bytes: usize,
}

impl FullDisk {
    /// What is to be tried next.
    fn take(&mut self) -> Vec<Op> {
        let ops: Vec<Op> = self.kept.drain(..self.kept.len().min(BATCH_OPS_MAX)).collect();
        self.hook_bytes = self.hook_bytes.saturating_sub(hook_bytes(&ops));
        ops
    }

    /// Only the answers of webhook receivers can be large; they are limited together.
    fn has_memory_for(&self, op: &Op) -> bool {
        let bytes = hook_bytes_of(op);
        bytes == 0 || self.hook_bytes + bytes <= HOOK_ENDS_KEPT_BYTES_MAX
    }

    fn keep(&mut self, op: Op) {
        self.hook_bytes += hook_bytes_of(&op);
        self.kept.push_back(op);
    }

    fn put_back(&mut self, ops: Vec<Op>) {
        self.hook_bytes += hook_bytes(&ops);
        ops.into_iter().rev().for_each(|op| self.kept.push_front(op));
    }
}

fn hook_bytes(ops: &[Op]) -> usize {
    ops.iter().map(hook_bytes_of).sum()
}

fn hook_bytes_of(op: &Op) -> usize {
    if let Op::Command(AnyCommand::SettleWebhooks(ends), _) = op { ends.weight() } else { 0 }
}

/// May a transaction give parts to links? That writes, so not while the disk is full.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Claims {
    Allowed,
    Withheld,
}

impl Writer<'_> {
    pub(crate) fn run(mut self) {
        let mut ops = Vec::with_capacity(BATCH_OPS_MAX);
        while self.wait_for_ops(&mut ops) && self.work_off(&mut ops) && self.copy_if_wanted(&mut ops) {}
        self.queue.close();
        while let Ok(op) = self.queue.try_recv() {
            let fault = StoreFault::Closed;
            if let Op::Command(AnyCommand::SettleReports(ends), _) = &op {
                tracing::warn!(%fault, ?ends, "What a customer has answered could not be recorded");
            }
            op.failed(fault);
        }
        self.write_last_figures();
        self.checkpointer.stop(self.connection);
    }

    /// Writes these operations. False once the store is to stop.
    fn work_off(&mut self, ops: &mut Vec<Op>) -> bool {
        let stop = ops.iter().any(|op| matches!(op, Op::Stop(_)));
        if self.full_disk.is_some() {
            self.make_do(ops);
            self.write_what_was_kept();
        } else {
            self.write_all(ops);
        }
        self.books.trim();
        self.checkpointer.after_batch(self.connection);
        !stop
    }

    /// Writes what waits now, without waiting for more. False once the store is to stop.
    pub(crate) fn work_off_waiting(&mut self, ops: &mut Vec<Op>) -> bool {
        if self.full_disk.is_some() {
            return self.wait_for_ops(ops) && self.work_off(ops);
        }
        ops.clear();
        match self.take_waiting(ops) {
            Err(TryRecvError::Disconnected) if ops.is_empty() => false,
            _ => ops.is_empty() || self.work_off(ops),
        }
    }

    /// The delivery figures gathered since they were last written. Nobody is kept waiting or refused for them.
    fn write_last_figures(&mut self) {
        if self.books.delivery.is_empty() || self.full_disk.is_some() {
            return;
        }
        let written = self.connection.unchecked_transaction().map_err(StoreFault::from).and_then(|last| {
            self.books.delivery.write(&SqliteTables { connection: &last })?;
            self.mark.count(&last)?;
            last.commit().map_err(StoreFault::from)
        });
        match written {
            Ok(()) => self.mark.committed(),
            Err(fault) if fault.is_fatal() => fault.die(),
            Err(fault) => tracing::warn!(%fault, "The last seconds of delivery figures are lost"),
        }
    }

    /// False once nobody is left who could ask for anything.
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
            Err(fault) if fault.is_disk_full() => self.make_do(ops),
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
            Err(fault) if fault.is_disk_full() => self.make_do(&mut vec![op]),
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
                    self.make_do(&mut vec![op]);
                    // It may be kept, but it is not written, and nobody may be told that it is.
                    written = Err(StoreFault::DiskLow);
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

    /// The disk is full: what needs no room is done, what was asked for is refused, what a carrier said is kept.
    fn make_do(&mut self, ops: &mut Vec<Op>) {
        if self.full_disk.is_none() && self.shared.told_writes.is_to_be_told(false, self.shared.ticked_at()) {
            tracing::error!("The disk is full; what carriers say waits in memory until there is room");
        }
        for op in ops.drain(..) {
            let full_disk = self.full_disk.get_or_insert_default();
            match op.on_full_disk() {
                OnFullDisk::Keep if full_disk.has_memory_for(&op) => full_disk.keep(op),
                OnFullDisk::Keep | OnFullDisk::Refuse => op.failed(StoreFault::DiskLow),
                OnFullDisk::Run => match self.transact_one(&op, Claims::Withheld) {
                    Ok(done) => op.done(done),
                    Err(fault) => op.failed(fault),
                },
            }
        }
    }

    /// Tries again, with everything that links have learned since.
    fn write_what_was_kept(&mut self) {
        while let Some(full_disk) = &mut self.full_disk {
            // An empty transaction would succeed and prove nothing.
            if full_disk.kept.is_empty() && !self.shared.has_room_to_write() {
                return;
            }
            let mut ops = full_disk.take();
            // They tell what time it was.
            self.books.told = self.books.told.max(self.shared.ticked_at());
            match self.transact(&ops, Claims::Allowed) {
                Ok(done) => {
                    answer_all(&mut ops, done);
                    self.full_disk.take_if(|full| full.kept.is_empty());
                }
                Err(fault) if fault.is_disk_full() => {
                    self.full_disk.get_or_insert_default().put_back(ops);
                    return;
                }
                // Not for lack of room: one of them is at fault.
                Err(_) => ops.into_iter().for_each(|op| self.write_alone(op)),
            }
        }
        if self.shared.told_writes.is_to_be_told(true, self.shared.ticked_at()) {
            tracing::info!("There is room on the disk again; everything that was kept is written");
        }
    }

    fn transact_one(&mut self, op: &Op, claims: Claims) -> Result<Option<AnyOutcome>, StoreFault> {
        let mut done = self.transact(std::slice::from_ref(op), claims)?;
        Ok(done.pop().expect("one operation comes to one end"))
    }

    /// Runs the operations in one transaction. All of it is durable when this returns what they came to.
    fn transact(&mut self, ops: &[Op], claims: Claims) -> Result<Vec<Option<AnyOutcome>>, StoreFault> {
        let rooms = self.books.lanes.rooms();
        self.batches += 1;
        match self.try_transact(ops, claims) {
            Ok(done) => {
                // Before anyone is answered: who was told of a deferral may ask for its release at once.
                self.shared.next_due_is(self.books.next_due());
                Ok(done)
            }
            Err(fault) => {
                if fault.is_fatal() {
                    fault.die();
                }
                if fault.is_disk_full() {
                    self.shared.disk_is_full();
                }
                // A full disk may have ended the transaction already; then there is nothing to roll back.
                if !self.connection.is_autocommit()
                    && let Err(error) = self.connection.execute_batch("ROLLBACK")
                {
                    StoreFault::from(error).die();
                }
                self.books.lanes.restore_rooms(rooms);
                if let Err(error) = self.books.rolled_back(&SqliteTables { connection: self.connection }) {
                    StoreFault::from(error).die();
                }
                self.shared.next_due_is(self.books.next_due());
                Err(fault)
            }
        }
    }

    fn try_transact(&mut self, ops: &[Op], claims: Claims) -> Result<Vec<Option<AnyOutcome>>, StoreFault> {
        self.connection.prepare_cached("BEGIN IMMEDIATE")?.execute([])?;
        let changes = self.connection.total_changes();
        let tables = SqliteTables { connection: self.connection };
        let mut batch = Batch::new(
            &tables,
            &mut self.books,
            self.shared.outboxes.receivers(),
            self.batches,
            self.shared.catalogue.load_full(),
        );
        let mut done = Vec::with_capacity(ops.len());
        for op in ops {
            done.push(op.run(&mut batch)?);
        }
        if claims == Claims::Allowed {
            batch.hand_out()?;
            batch.books.delivery.write_if_due(batch.tables, batch.now)?;
        }
        batch.finish()?;
        let Batch {
            handouts,
            reports,
            reports_gone,
            unreadable_reports,
            rung,
            unconfirmed,
            set_aside,
            forbidden,
            tally,
            now,
            ..
        } = batch;
        let wrote = self.connection.total_changes() != changes;
        if wrote {
            self.mark.count(self.connection)?;
        }
        self.connection.prepare_cached("COMMIT")?.execute([])?;
        if wrote {
            self.mark.committed();
        }
        // Durable from here on; only now may anyone hear of it.
        self.books.committed(now);
        ops.iter().for_each(|op| self.open_mailbox(op));
        for (link, handout) in handouts {
            if let Some(mailbox) = self.mailboxes.get(&link) {
                mailbox.put(handout);
            }
        }
        self.shared.outboxes.committed(reports, &reports_gone);
        for op in ops {
            if let Op::Command(AnyCommand::SettleReports(ends), _) = op {
                self.shared.outboxes.written(ends);
            }
        }
        for UnreadableReport { connection, report, error } in unreadable_reports {
            let fault = StoreFault::from(error);
            tracing::error!(%fault, report.id = report.0, connection.id = %connection, "A report cannot be read; it is neither moved to a webhook nor listed as given up");
        }
        self.shared.bell.ring(rung);
        self.shared.unconfirmed.add(unconfirmed);
        log_set_aside(&set_aside);
        log_forbidden(&forbidden);
        self.meters.count(&tally, ops.len(), self.books.lanes.in_memory());
        Ok(done)
    }
}

impl Writer<'_> {
    /// Remembers the mailbox of a link that was opened. A closed link still learns that its receipts are recorded; a
    /// mailbox without a reader is dropped.
    fn open_mailbox(&mut self, op: &Op) {
        if let Op::OpenLink(open, mailbox, _) = op {
            self.mailboxes.retain(|_, mailbox| Arc::strong_count(mailbox) > 1);
            self.mailboxes.insert(open.link, mailbox.clone());
        }
    }
}

fn answer_all(ops: &mut Vec<Op>, done: Vec<Option<AnyOutcome>>) {
    for (op, done) in ops.drain(..).zip(done) {
        op.done(done);
    }
}

pub(crate) fn log_forbidden(events: &[ForbiddenEvent]) {
    for ForbiddenEvent { message, part, event, before } in events {
        tracing::error!(message.id = %message, %part, ?event, ?before, "An event that the lifecycle forbids was not applied");
    }
}

#[cfg(test)]
#[path = "full_disk_tests.rs"]
mod tests;
