//! One transaction: runs a batch of commands, commits it, and then acts on what it decided. After a fault everything is as it
//! was before the batch, in the tables and in memory.

use super::Writer;
use super::log::{log_forbidden, log_set_aside, log_steps, log_unreadable_reports};
use super::operation::Op;
use crate::error::StoreError;
use hermod_domain::ids::{CarrierId, ConnectionId};
use hermod_domain::time::Timestamp;
use hermod_engine::batch::{Batch, ForbiddenEvent, Tally};
use hermod_engine::commands::{AnyCommand, AnyOutcome};
use hermod_engine::maps::{HashMap, HashSet};
use hermod_engine::ops::{Endpoint, Handout, LinkId, Report};
use hermod_engine::steps::MessageStep;
use hermod_engine::tables::{TableError, UnreadablePart, UnreadableReport};
use std::sync::Arc;

/// May a transaction give parts to links? That writes, so not while the disk is full.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Claims {
    Allowed,
    Withheld,
}

/// What a batch decided that is acted on once it is durable.
struct Committing {
    handouts: HashMap<LinkId, Handout>,
    reports: Vec<Report>,
    reports_gone: Vec<(ConnectionId, u64)>,
    unreadable_reports: Vec<UnreadableReport>,
    woken: HashSet<Endpoint>,
    unconfirmed: HashMap<CarrierId, u64>,
    set_aside: Vec<UnreadablePart>,
    forbidden: Vec<ForbiddenEvent>,
    steps: Vec<MessageStep>,
    tally: Tally,
    now: Timestamp,
}

impl Committing {
    fn of(batch: Batch<'_>) -> Committing {
        let Batch {
            handouts,
            reports,
            reports_gone,
            unreadable_reports,
            woken,
            unconfirmed,
            set_aside,
            forbidden,
            steps,
            tally,
            now,
            ..
        } = batch;
        Committing {
            handouts,
            reports,
            reports_gone,
            unreadable_reports,
            woken,
            unconfirmed,
            set_aside,
            forbidden,
            steps,
            tally,
            now,
        }
    }
}

impl Writer<'_> {
    pub(super) fn transact_one(&mut self, op: &Op, claims: Claims) -> Result<Option<AnyOutcome>, StoreError> {
        let mut done = self.transact(std::slice::from_ref(op), claims)?;
        Ok(done.pop().expect("one operation comes to one end"))
    }

    /// Runs the operations in one transaction. All of it is durable when this returns what they came to.
    pub(super) fn transact(
        &mut self,
        ops: &[Op],
        claims: Claims,
    ) -> Result<Vec<Option<AnyOutcome>>, StoreError> {
        let slots = self.state.lanes.link_slots();
        self.batches += 1;
        match self.try_transact(ops, claims).map_err(StoreError::from) {
            Ok(done) => {
                // Before anyone is answered: who was told of a deferral may ask for its release at once.
                self.shared.next_due_is(self.state.next_due());
                Ok(done)
            }
            Err(fault) => {
                if fault.is_fatal() {
                    fault.die();
                }
                if fault.is_disk_full() {
                    self.shared.disk.is_full();
                }
                if let Err(fault) = self.database.roll_back() {
                    fault.die();
                }
                self.state.lanes.restore_link_slots(slots);
                if let Err(error) = self.state.rolled_back(&self.database.tables()) {
                    StoreError::from(error).die();
                }
                self.shared.next_due_is(self.state.next_due());
                Err(fault)
            }
        }
    }

    fn try_transact(&mut self, ops: &[Op], claims: Claims) -> Result<Vec<Option<AnyOutcome>>, TableError> {
        let transaction = self.database.begin()?;
        let tables = self.database.tables();
        let mut batch = Batch::new(
            &tables,
            &mut self.state,
            self.shared.outboxes.receivers(),
            self.batches,
            self.shared.catalogue.load_full(),
        );
        batch.state.keys.touch(ops.iter().filter_map(Op::key));
        let mut done = Vec::with_capacity(ops.len());
        for op in ops {
            done.push(op.run(&mut batch)?);
        }
        if claims == Claims::Allowed {
            batch.dispatch_parts()?;
            batch.state.delivery.write_if_due(batch.tables, batch.now)?;
        }
        batch.finish()?;
        let committing = Committing::of(batch);
        transaction.commit()?;
        self.publish(ops, committing);
        Ok(done)
    }

    /// Acts on what is durable now. Only now may a link, a customer or the log hear of it.
    fn publish(&mut self, ops: &[Op], committed: Committing) {
        self.state.committed(committed.now);
        ops.iter().for_each(|op| self.open_mailbox(op));
        for (link, handout) in committed.handouts {
            if let Some(mailbox) = self.mailboxes.get(&link) {
                mailbox.put(handout);
            }
        }
        self.shared.outboxes.committed(committed.reports, &committed.reports_gone);
        for op in ops {
            if let Op::Command(AnyCommand::SettleReports(ends), _) = op {
                self.shared.outboxes.written(ends);
            }
        }
        self.shared.wakeup.wake(committed.woken);
        self.shared.unconfirmed.add(committed.unconfirmed);
        log_unreadable_reports(committed.unreadable_reports);
        log_set_aside(&committed.set_aside);
        log_forbidden(&committed.forbidden);
        log_steps(&committed.steps);
        self.state.reuse_steps(committed.steps);
        self.meters.count(&committed.tally, ops.len(), self.state.lanes.in_memory());
    }

    /// Remembers the mailbox of a link that was opened. A closed link still learns that its receipts are recorded; a
    /// mailbox without a reader is dropped.
    fn open_mailbox(&mut self, op: &Op) {
        if let Op::OpenLink(open, mailbox, _) = op {
            self.mailboxes.retain(|_, mailbox| Arc::strong_count(mailbox) > 1);
            self.mailboxes.insert(open.link, mailbox.clone());
        }
    }

    /// Writes the delivery figures gathered since they were last written. No caller waits for them or is refused for them.
    pub(super) fn write_last_figures(&mut self) {
        if self.state.delivery.is_empty() || self.full_disk.is_some() {
            return;
        }
        let written = self.database.begin().and_then(|last| {
            let tables = self.database.tables();
            self.state.delivery.write(&tables)?;
            tables.finish()?;
            last.commit()
        });
        let Err(fault) = written.map_err(StoreError::from) else { return };
        if fault.is_fatal() {
            fault.die();
        }
        tracing::warn!(%fault, "The last seconds of delivery figures are lost");
        if let Err(fault) = self.database.roll_back() {
            tracing::warn!(%fault, "The last transaction could not be rolled back");
        }
    }
}
