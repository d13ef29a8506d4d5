//! The writer while the disk is full: it keeps results of links, customers and webhooks in memory until there is space,
//! rejects requests, and runs commands that write nothing.

use super::operation::Op;
use super::transact::Claims;
use super::{BATCH_OPS_MAX, Writer, answer_all};
use crate::error::StoreError;
use hermod_engine::commands::{AnyCommand, OnFullDisk};
use std::collections::VecDeque;

/// Maximum size of the webhook results that are kept while the disk is full. Events whose results are dropped are posted
/// again.
const WEBHOOK_RESULTS_KEPT_BYTES_MAX: usize = 64 * 1024 * 1024;

/// The operations that wait for disk space, in order. They are bounded: no part is claimed meanwhile, so there are at most
/// as many responses as the windows hold; carriers stop sending receipts that get no response; and settled reports count in
/// their outbox, which is limited, until they are written.
#[derive(Default)]
pub(super) struct FullDisk {
    kept: VecDeque<Op>,
    webhook_bytes: usize,
}

impl FullDisk {
    /// Takes the next operations to write, at most a batch.
    fn take(&mut self) -> Vec<Op> {
        let ops: Vec<Op> = self.kept.drain(..self.kept.len().min(BATCH_OPS_MAX)).collect();
        self.webhook_bytes = self.webhook_bytes.saturating_sub(webhook_bytes(&ops));
        ops
    }

    /// Whether the operation may be kept. Only webhook results can be large; their sizes are limited together.
    fn has_memory_for(&self, op: &Op) -> bool {
        let bytes = webhook_bytes_of(op);
        bytes == 0 || self.webhook_bytes + bytes <= WEBHOOK_RESULTS_KEPT_BYTES_MAX
    }

    /// Adds an operation at the end.
    fn keep(&mut self, op: Op) {
        self.webhook_bytes += webhook_bytes_of(&op);
        self.kept.push_back(op);
    }

    /// Puts operations back that [`FullDisk::take`] returned.
    fn put_back(&mut self, ops: Vec<Op>) {
        self.webhook_bytes += webhook_bytes(&ops);
        ops.into_iter().rev().for_each(|op| self.kept.push_front(op));
    }
}

fn webhook_bytes(ops: &[Op]) -> usize {
    ops.iter().map(webhook_bytes_of).sum()
}

fn webhook_bytes_of(op: &Op) -> usize {
    if let Op::Command(AnyCommand::SettleWebhooks(results), _) = op { results.weight() } else { 0 }
}

impl Writer<'_> {
    /// Keeps, rejects or runs each operation, as [`Op::on_full_disk`] says.
    pub(super) fn handle_full_disk(&mut self, ops: &mut Vec<Op>) {
        if self.full_disk.is_none() && self.shared.disk.should_log_writes(false) {
            tracing::error!(
                "The disk is full; responses and receipts of carriers are kept in memory until there is space"
            );
        }
        for op in ops.drain(..) {
            let full_disk = self.full_disk.get_or_insert_default();
            match op.on_full_disk() {
                OnFullDisk::Keep if full_disk.has_memory_for(&op) => full_disk.keep(op),
                OnFullDisk::Keep | OnFullDisk::Refuse => op.fail(StoreError::DiskLow),
                OnFullDisk::Run => match self.transact_one(&op, Claims::Withheld) {
                    Ok(done) => op.succeed(done),
                    Err(error) => op.fail(error),
                },
            }
        }
    }

    /// Writes the kept operations. Once all are written, the disk no longer counts as full.
    pub(super) fn write_kept(&mut self) {
        while let Some(full_disk) = &mut self.full_disk {
            // An empty transaction would succeed on a full disk too.
            if full_disk.kept.is_empty() && !self.shared.disk.has_room_to_write() {
                return;
            }
            let mut ops = full_disk.take();
            // The kept operations have earlier times; the engine continues at the time of the last tick.
            self.engine.last_time = self.engine.last_time.max(self.shared.disk.time());
            match self.transact(&ops, Claims::Allowed) {
                Ok(done) => {
                    answer_all(&mut ops, done);
                    self.full_disk.take_if(|full| full.kept.is_empty());
                }
                Err(error) if error.is_disk_full() => {
                    self.full_disk.get_or_insert_default().put_back(ops);
                    return;
                }
                // For another reason than disk space: one of the operations fails.
                Err(_) => ops.into_iter().for_each(|op| self.write_alone(op)),
            }
        }
        if self.shared.disk.should_log_writes(true) {
            tracing::info!("There is disk space again; all operations that were kept in memory are written");
        }
    }
}

#[cfg(test)]
#[path = "full_disk_tests.rs"]
mod tests;
