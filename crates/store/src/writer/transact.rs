//! Runs a batch of operations in one transaction, commits it, and then publishes its results. After an error the tables and
//! the engine's memory are as they were before the batch.

use super::Writer;
use super::log::{log_blocked_mo, log_forbidden, log_set_aside, log_steps, log_unreadable_reports};
use super::operation::Op;
use super::queue::now;
use crate::backend::SentBy;
use crate::error::StoreError;
use crate::record::Erasures;
use hermod_engine::batch::{Batch, BatchResults};
use hermod_engine::commands::{self, AnyCommand, AnyOutcome};
use hermod_engine::dispatch;
use hermod_engine::maps::HashMap;
use hermod_engine::read_ahead::{self, ReadPlan};
use hermod_engine::tables::TableError;
use std::sync::Arc;

/// Whether a transaction may claim parts for links. A claim is a write, so not while the disk is full.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Claims {
    Allowed,
    Withheld,
}

/// Outcomes of a node's operations, by their numbers.
type Outcomes<'o> = Vec<(u64, Option<&'o AnyOutcome>)>;

impl Writer<'_> {
    /// Runs one operation in a transaction of its own.
    pub(super) fn transact_one(&mut self, op: &Op, claims: Claims) -> Result<Option<AnyOutcome>, StoreError> {
        let mut done = self.transact(std::slice::from_ref(op), claims)?;
        Ok(done.pop().expect("one operation has one outcome"))
    }

    /// Runs the operations in one transaction and returns their outcomes once it is durable. On an error rolls back the
    /// transaction and the engine's state. Ends the process if the disk failed or the rollback fails. If the connection to a
    /// server was lost, runs them again: the rollback has waited for a new one.
    pub(super) fn transact(
        &mut self,
        ops: &[Op],
        claims: Claims,
    ) -> Result<Vec<Option<AnyOutcome>>, StoreError> {
        loop {
            match self.transact_once(ops, claims) {
                Err(error) if error.is_connection_lost() => {
                    tracing::warn!(%error, operations = ops.len(), "A batch was not written and is tried again");
                }
                done => return done,
            }
        }
    }

    fn transact_once(&mut self, ops: &[Op], claims: Claims) -> Result<Vec<Option<AnyOutcome>>, StoreError> {
        let slots = self.engine.lanes.link_slots();
        self.batches += 1;
        // While a backlog drains, a batch of submissions leaves it to the next.
        let leaves_backlog = self.engine.claims_left && !ops.is_empty() && ops.iter().all(Op::passes_others);
        self.engine.stored_claims_max = if leaves_backlog { 0 } else { self.pace.allowed() };
        let started = now();
        match self.try_transact(ops, claims).map_err(StoreError::from) {
            Ok((done, stored_claims)) => {
                if stored_claims > 0 && !leaves_backlog {
                    let (limited, took) = (self.engine.claims_left, now().duration_since(started));
                    self.pace.learn(limited, took, self.queue.is_submitting());
                }
                // Before the callers are answered: one of them may release a part that was deferred here.
                self.shared.set_next_due(self.engine.next_due());
                Ok(done)
            }
            Err(error) => {
                if error.is_fatal() {
                    error.exit_process();
                }
                if error.is_disk_full() {
                    self.shared.disk.mark_full();
                }
                if let Err(error) = self.database.roll_back() {
                    error.exit_process();
                }
                self.engine.lanes.restore_link_slots(slots);
                if let Err(error) = self.engine.rolled_back(&self.database.tables()) {
                    StoreError::from(error).exit_process();
                }
                self.shared.set_next_due(self.engine.next_due());
                Err(error)
            }
        }
    }

    /// Returns the outcomes, and how many stored parts were claimed.
    fn try_transact(
        &mut self,
        ops: &[Op],
        claims: Claims,
    ) -> Result<(Vec<Option<AnyOutcome>>, u64), TableError> {
        let transaction = self.database.begin()?;
        let tables = self.database.tables();
        self.engine.audit_log.key = self.shared.audit_key.get().copied().unwrap_or_default();
        self.engine.catalogue = self.shared.catalogue.load_full();
        let receivers = self.shared.outboxes.receivers();
        let mut batch = Batch::new(&tables, &mut self.engine, receivers, self.batches);
        batch.state.keys.touch(ops.iter().filter_map(Op::key));
        let mut plan = ReadPlan::default();
        ops.iter().filter_map(Op::command).for_each(|command| command.plan_reads(&mut plan));
        read_ahead::planned(&mut batch, plan)?;
        let mut done = Vec::with_capacity(ops.len());
        for op in ops {
            done.push(op.run(&mut batch)?);
        }
        if claims == Claims::Allowed {
            dispatch::claim_parts(&mut batch)?;
            batch.state.delivery.write_if_due(batch.tables, batch.now)?;
        }
        commands::finish(&mut batch)?;
        let Batch { results, stored_claims, now, .. } = batch;
        self.note_applied(ops, &done)?;
        let changes_catalogue = ops.iter().any(Op::changes_catalogue);
        if changes_catalogue {
            self.database.note_catalogue()?;
        }
        let sequence = transaction.commit()?;
        self.engine.committed(now);
        self.publish(ops, &done, results, sequence);
        if changes_catalogue {
            self.shared.catalogue_changed.send_modify(|count| *count += 1);
        }
        Ok((done, stored_claims))
    }

    /// Adds to the transaction which operation of each other node was the last one in this batch, and the outcomes.
    fn note_applied(&self, ops: &[Op], done: &[Option<AnyOutcome>]) -> Result<(), TableError> {
        let mut nodes: HashMap<u32, (SentBy, Outcomes<'_>)> = HashMap::default();
        for (op, done) in ops.iter().zip(done) {
            let Some(sent_by) = op.sent_by() else { continue };
            let (last, outcomes) = nodes.entry(sent_by.node.id).or_insert((sent_by, Vec::new()));
            if sent_by.node > last.node {
                // Of two runs of a node only the later one will ask.
                outcomes.clear();
            }
            if (sent_by.node, sent_by.number) >= (last.node, last.number) {
                *last = sent_by;
                outcomes.extend(op.keeps_outcome().then_some((sent_by.number, done.as_ref())));
            }
        }
        nodes.into_values().try_for_each(|(last, outcomes)| self.database.note_applied(last, &outcomes))
    }

    /// Passes the results of a durable batch to links, outboxes, webhooks, the log, the record and metrics.
    fn publish(&mut self, ops: &[Op], done: &[Option<AnyOutcome>], mut results: BatchResults, sequence: u64) {
        ops.iter().for_each(|op| self.open_mailbox(op));
        for (link, handout) in results.handouts {
            if let Some(mailbox) = self.mailboxes.get(&link) {
                mailbox.put(handout);
            }
        }
        self.shared.outboxes.add_committed(results.reports, &results.reports_gone);
        for op in ops {
            if let Op::Command(AnyCommand::SettleReports(finished), _) = op {
                self.shared.outboxes.forget_settled(finished);
            }
        }
        self.shared.wakeup.wake(results.woken);
        self.shared.unconfirmed.add(results.unconfirmed);
        self.shared.reused_ids.add(results.reused_ids);
        log_unreadable_reports(results.unreadable_reports);
        log_blocked_mo(&results.blocked_mo);
        log_set_aside(&results.set_aside);
        log_forbidden(&results.forbidden);
        log_steps(&results.steps);
        if let Some(end) = results.audit_log_end {
            self.database.keep_audit_head(self.engine.audit_log.key, end);
        }
        let accepted = ops.iter().zip(done).filter_map(|(op, done)| op.accepted(done.as_ref()?));
        let by_other_nodes = ops.iter().filter(|op| op.sent_by().is_some());
        let erased = Erasures {
            all: ops.iter().filter_map(Op::erased).collect(),
            by_other_nodes: by_other_nodes.filter_map(Op::erased).collect(),
        };
        self.shared.feed.push(sequence, accepted, &mut results.steps, erased);
        self.engine.reuse_steps(results.steps);
        if results.tally.texts_purged > 0 || results.tally.messages_purged > 0 {
            self.database.note_purge();
        }
        self.meters.count(&results.tally, ops.len(), self.engine.lanes.in_memory());
    }

    /// Adds the mailbox of a link that was opened, and removes mailboxes whose port was dropped. Closing a link does not
    /// remove its mailbox: its last receipts are still acknowledged.
    fn open_mailbox(&mut self, op: &Op) {
        if let Op::OpenLink(open, mailbox, _) = op {
            self.mailboxes.retain(|_, mailbox| Arc::strong_count(mailbox) > 1);
            self.mailboxes.insert(open.link, mailbox.clone());
        }
    }

    /// Writes the delivery figures collected since they were last written. Errors are only logged, unless the disk failed.
    pub(super) fn write_last_figures(&mut self) {
        if self.engine.delivery.is_empty() || self.full_disk.is_some() {
            return;
        }
        let written = self.database.begin().and_then(|last| {
            let tables = self.database.tables();
            self.engine.delivery.write(&tables)?;
            tables.finish()?;
            last.commit().map(|sequence| self.shared.feed.set_sequence(sequence))
        });
        let Err(error) = written.map_err(StoreError::from) else { return };
        if error.is_fatal() {
            error.exit_process();
        }
        tracing::warn!(%error, "The delivery figures of the last seconds are lost");
    }
}
