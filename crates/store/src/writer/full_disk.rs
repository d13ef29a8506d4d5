//! What the writer does while the disk is full: facts are kept in memory until there is room, requests are refused, and what
//! writes nothing runs.

use super::operation::Op;
use super::transact::Claims;
use super::{BATCH_OPS_MAX, Writer, answer_all};
use crate::error::StoreError;
use hermod_engine::commands::{AnyCommand, OnFullDisk};
use std::collections::VecDeque;

/// Bytes of what came of webhooks that are kept while the disk is full. What is beyond is posted again.
const WEBHOOK_ENDS_KEPT_BYTES_MAX: usize = 64 * 1024 * 1024;

/// The disk has no room. What links have learned since, and what customers have answered, waits here, in order. It cannot
/// grow much: nothing is claimed meanwhile, so answers are at most what the windows hold, and carriers stop when their
/// receipts are not answered. What customers answer counts in their outboxes until it is written, and those are limited.
#[derive(Default)]
pub(super) struct FullDisk {
    kept: VecDeque<Op>,
    webhook_bytes: usize,
}

impl FullDisk {
    /// What is to be tried next.
    fn take(&mut self) -> Vec<Op> {
        let ops: Vec<Op> = self.kept.drain(..self.kept.len().min(BATCH_OPS_MAX)).collect();
        self.webhook_bytes = self.webhook_bytes.saturating_sub(webhook_bytes(&ops));
        ops
    }

    /// Only the answers of webhook receivers can be large; they are limited together.
    fn has_memory_for(&self, op: &Op) -> bool {
        let bytes = webhook_bytes_of(op);
        bytes == 0 || self.webhook_bytes + bytes <= WEBHOOK_ENDS_KEPT_BYTES_MAX
    }

    fn keep(&mut self, op: Op) {
        self.webhook_bytes += webhook_bytes_of(&op);
        self.kept.push_back(op);
    }

    fn put_back(&mut self, ops: Vec<Op>) {
        self.webhook_bytes += webhook_bytes(&ops);
        ops.into_iter().rev().for_each(|op| self.kept.push_front(op));
    }
}

fn webhook_bytes(ops: &[Op]) -> usize {
    ops.iter().map(webhook_bytes_of).sum()
}

fn webhook_bytes_of(op: &Op) -> usize {
    if let Op::Command(AnyCommand::SettleWebhooks(ends), _) = op { ends.weight() } else { 0 }
}

impl Writer<'_> {
    /// Does with each command what it says about a full disk.
    pub(super) fn handle_full_disk(&mut self, ops: &mut Vec<Op>) {
        if self.full_disk.is_none() && self.shared.disk.is_to_be_told_of_writes(false) {
            tracing::error!("The disk is full; what carriers say waits in memory until there is room");
        }
        for op in ops.drain(..) {
            let full_disk = self.full_disk.get_or_insert_default();
            match op.on_full_disk() {
                OnFullDisk::Keep if full_disk.has_memory_for(&op) => full_disk.keep(op),
                OnFullDisk::Keep | OnFullDisk::Refuse => op.failed(StoreError::DiskLow),
                OnFullDisk::Run => match self.transact_one(&op, Claims::Withheld) {
                    Ok(done) => op.done(done),
                    Err(fault) => op.failed(fault),
                },
            }
        }
    }

    /// Tries again to write what is kept. Once all of it is written, the disk counts as full no more.
    pub(super) fn write_kept(&mut self) {
        while let Some(full_disk) = &mut self.full_disk {
            // An empty transaction would succeed and prove nothing.
            if full_disk.kept.is_empty() && !self.shared.disk.has_room_to_write() {
                return;
            }
            let mut ops = full_disk.take();
            // They tell what time it was.
            self.state.last_time = self.state.last_time.max(self.shared.disk.ticked_at());
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
        if self.shared.disk.is_to_be_told_of_writes(true) {
            tracing::info!("There is room on the disk again; everything that was kept is written");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hermod_domain::ids::AccountId;
    use hermod_domain::time::Timestamp;
    use hermod_domain::webhook::WebhookKind;
    use hermod_engine::ops::{AfterAttempt, Endpoint, EventId, SettledAttempt};
    use hermod_engine::webhooks::WebhookResults;

    fn posted(event: u64) -> WebhookResults {
        let endpoint = Endpoint { account: AccountId::new(1), kind: WebhookKind::Dlr };
        let next = AfterAttempt::Delivered;
        let settled = SettledAttempt { endpoint, event: EventId(event), failures: 0, attempt: None, next };
        WebhookResults { settled: vec![settled], now: Timestamp::EPOCH }
    }

    #[test]
    fn what_is_tried_again_is_not_counted_as_kept() {
        let mut full_disk = FullDisk::default();
        let ops = u64::try_from(BATCH_OPS_MAX).unwrap() + 3;
        full_disk.put_back((0..ops).map(|event| Op::Command(posted(event).into(), None)).collect());
        let one = posted(0).weight();
        assert_eq!(full_disk.webhook_bytes, (BATCH_OPS_MAX + 3) * one);
        let first = full_disk.take();
        assert_eq!((first.len(), full_disk.webhook_bytes), (BATCH_OPS_MAX, 3 * one));
        full_disk.put_back(first);
        assert_eq!(full_disk.webhook_bytes, (BATCH_OPS_MAX + 3) * one);
        assert_eq!(
            (full_disk.take().len(), full_disk.take().len(), full_disk.webhook_bytes),
            (BATCH_OPS_MAX, 3, 0)
        );
    }
}
