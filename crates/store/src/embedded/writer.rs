//! The one writer: a thread that owns the only connection that writes. Everything waiting becomes one transaction and
//! one fsync, then everyone is answered. With nothing else going on an operation is written at once; under load the
//! batch grows by itself while the disk is busy.

use crate::embedded::batch::{Batch, Books};
use crate::embedded::checkpoint::Checkpointer;
use crate::embedded::meters::Meters;
use crate::embedded::op::{Done, Op};
use crate::embedded::shared::Shared;
use crate::fault::StoreFault;
use rusqlite::Connection;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;

/// Operations in one transaction at most, so that the first of them does not wait for too many others.
pub(crate) const BATCH_OPS_MAX: usize = 512;
/// A batch that starts with this many operations is worth a short wait for more to share its fsync.
const GATHER_FROM_OPS: usize = 16;
const GATHER_PAUSE: Duration = Duration::from_millis(1);
/// How long to wait before trying again to write facts that did not fit on the disk.
const FULL_DISK_PAUSE: Duration = Duration::from_millis(200);
/// The exit code after the disk failed (sysexits.h: EX_IOERR).
const EXIT_DISK_FAILED: i32 = 74;

pub(crate) struct Writer {
    pub connection: Connection,
    pub books: Books,
    pub queue: mpsc::Receiver<Op>,
    pub shared: Arc<Shared>,
    pub checkpointer: Checkpointer,
    pub meters: Meters,
    pub batches: u64,
}

impl Writer {
    pub(crate) fn run(mut self) {
        let mut ops = Vec::with_capacity(BATCH_OPS_MAX);
        loop {
            ops.clear();
            if self.queue.blocking_recv_many(&mut ops, BATCH_OPS_MAX) == 0 {
                break;
            }
            self.gather(&mut ops);
            let count = ops.len();
            let stop = ops.iter().any(|op| matches!(op, Op::Stop(_)));
            self.write_all(&mut ops);
            self.shared.next_due_is(self.books.deferred.next_at());
            self.checkpointer.after_batch(count, &self.connection);
            if stop {
                break;
            }
        }
        self.queue.close();
        while let Ok(op) = self.queue.try_recv() {
            op.failed(StoreFault::Closed);
        }
        self.checkpointer.stop(&self.connection);
    }

    /// Under load, waits a moment so that more operations share the transaction.
    fn gather(&mut self, ops: &mut Vec<Op>) {
        if ops.len() < GATHER_FROM_OPS {
            return;
        }
        std::thread::sleep(GATHER_PAUSE);
        while ops.len() < BATCH_OPS_MAX
            && let Ok(op) = self.queue.try_recv()
        {
            ops.push(op);
        }
    }

    fn write_all(&mut self, ops: &mut Vec<Op>) {
        match self.transact(ops) {
            Ok(done) => answer_all(ops, done),
            Err(fault) => {
                tracing::warn!(%fault, operations = ops.len(), "A batch failed as a whole; its operations are tried one by one");
                for op in ops.drain(..) {
                    self.write_alone(op);
                }
            }
        }
    }

    fn write_alone(&mut self, op: Op) {
        let mut alone = vec![op];
        loop {
            match self.transact(&alone) {
                Ok(done) => return answer_all(&mut alone, done),
                Err(fault) => {
                    let keep = fault.is_disk_full() && alone.iter().all(Op::must_be_kept);
                    if !keep {
                        alone.drain(..).for_each(|op| op.failed(StoreFault::damaged(&fault)));
                        return;
                    }
                    tracing::error!(%fault, "The disk is full; a carrier's answers wait in memory until there is room");
                    std::thread::sleep(FULL_DISK_PAUSE);
                }
            }
        }
    }

    /// Runs the operations in one transaction. All of it is durable when this returns what they came to.
    fn transact(&mut self, ops: &[Op]) -> Result<Vec<Done>, StoreFault> {
        let rooms = self.books.lanes.rooms();
        self.batches += 1;
        match self.try_transact(ops) {
            Ok(done) => {
                self.books.balances.committed();
                Ok(done)
            }
            Err(fault) => {
                if fault.is_fatal() {
                    self.die(&fault);
                }
                if fault.is_disk_full() {
                    self.shared.disk_is_full();
                }
                // A full disk may have ended the transaction already; then there is nothing to roll back.
                if !self.connection.is_autocommit()
                    && let Err(error) = self.connection.execute_batch("ROLLBACK")
                {
                    self.die(&StoreFault::from(error));
                }
                self.books.lanes.restore_rooms(rooms);
                if let Err(error) = self.books.rolled_back(&self.connection) {
                    self.die(&error);
                }
                Err(fault)
            }
        }
    }

    fn try_transact(&mut self, ops: &[Op]) -> Result<Vec<Done>, StoreFault> {
        self.connection.execute_batch("BEGIN IMMEDIATE")?;
        let mut batch = Batch::new(&self.connection, &mut self.books, self.batches);
        let mut done = Vec::with_capacity(ops.len());
        for op in ops {
            done.push(op.run(&mut batch)?);
        }
        batch.finish()?;
        let Batch { handouts, tally, .. } = batch;
        self.connection.execute_batch("COMMIT")?;
        // Durable from here on; only now may anyone hear of it.
        for (link, handout) in handouts {
            if let Some(mailbox) = self.books.mailboxes.get(&link) {
                mailbox.put(handout);
            }
        }
        self.meters.count(&tally, ops.len(), self.books.lanes.in_memory());
        Ok(done)
    }

    /// The disk failed under us. Nobody may be told anything any more; the log on the disk decides at the next start.
    fn die(&self, fault: &StoreFault) -> ! {
        tracing::error!(%fault, "The store's disk failed; stopping at once so that nothing is acknowledged that is not stored");
        std::process::exit(EXIT_DISK_FAILED)
    }
}

fn answer_all(ops: &mut Vec<Op>, done: Vec<Done>) {
    for (op, done) in ops.drain(..).zip(done) {
        op.done(done);
    }
}
