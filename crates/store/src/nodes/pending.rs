//! Operations that were sent to the engine of another node and are not answered yet. They are kept, because the connection may
//! be lost: the next engine says which of them were run.

use super::frames::RunBefore;
use crate::error::StoreError;
use crate::writer::operation::Op;
use hermod_engine::commands::{AnyCommand, AnyOutcome};
use std::collections::{HashMap, VecDeque};

/// The operations in the order of their numbers, which follow each other.
pub(crate) struct PendingOperations {
    /// Of the first one in the list.
    first: u64,
    /// None where the answer came before that of an earlier one.
    ops: VecDeque<Option<Op>>,
}

impl Default for PendingOperations {
    fn default() -> PendingOperations {
        PendingOperations { first: 1, ops: VecDeque::new() }
    }
}

impl PendingOperations {
    pub(crate) fn len(&self) -> usize {
        self.ops.len()
    }

    /// Adds an operation that is about to be sent. Returns its number.
    pub(crate) fn push(&mut self, op: Op) -> u64 {
        let number = self.next_number();
        self.ops.push_back(Some(op));
        number
    }

    /// Returns the number that the next operation gets.
    pub(crate) fn next_number(&self) -> u64 {
        self.first + u64::try_from(self.ops.len()).unwrap_or(0)
    }

    /// Takes the operation that was answered; none if it was before.
    pub(crate) fn take(&mut self, number: u64) -> Option<Op> {
        let index = usize::try_from(number.checked_sub(self.first)?).ok()?;
        let op = self.ops.get_mut(index)?.take();
        while let Some(None) = self.ops.front() {
            self.ops.pop_front();
            self.first += 1;
        }
        op
    }

    /// Returns the number up to which all operations are answered.
    pub(crate) fn settled(&self) -> u64 {
        self.first - 1
    }

    /// Takes the operations up to this number, with their numbers: they were run, and their answers are lost.
    fn take_applied(&mut self, applied: u64) -> Vec<(u64, Op)> {
        let mut taken = Vec::new();
        while self.first <= applied
            && let Some(op) = self.ops.pop_front()
        {
            taken.extend(op.map(|op| (self.first, op)));
            self.first += 1;
        }
        self.first = self.first.max(applied + 1);
        taken
    }

    /// Ends the operations that another engine has run. Returns those that are to be run again.
    pub(crate) fn end_applied(&mut self, before: RunBefore) -> Vec<Op> {
        let RunBefore { applied, outcomes } = before;
        let mut outcomes: HashMap<u64, Option<AnyOutcome>> = outcomes.into_iter().collect();
        let end = |(number, op): (u64, Op)| match outcomes.remove(&number) {
            Some(outcome) => {
                op.succeed(outcome);
                None
            }
            // Its outcome would have been stored with its changes: it was refused or failed, and can be run again.
            None if op.keeps_outcome() => Some(op),
            None => {
                end_without_outcome(op);
                None
            }
        };
        self.take_applied(applied).into_iter().filter_map(end).collect()
    }

    /// Returns the operations that have no answer, with their numbers.
    pub(crate) fn unanswered(&self) -> impl Iterator<Item = (u64, &Op)> {
        (self.first..).zip(&self.ops).filter_map(|(number, op)| Some((number, op.as_ref()?)))
    }

    /// Takes all operations that have no answer, in order.
    pub(crate) fn take_all(&mut self) -> Vec<Op> {
        self.first += u64::try_from(self.ops.len()).unwrap_or(0);
        self.ops.drain(..).flatten().collect()
    }
}

/// Ends an operation that was run and whose outcome is lost.
fn end_without_outcome(op: Op) {
    let outcome = match &op {
        Op::OpenLink(..) => Some(AnyOutcome::OpenLink(())),
        Op::Command(AnyCommand::CloseLink(_), _) => Some(AnyOutcome::CloseLink(())),
        Op::Command(AnyCommand::ReportLink(_), _) => Some(AnyOutcome::ReportLink(())),
        Op::Command(AnyCommand::SettleReports(_), _) => Some(AnyOutcome::SettleReports(())),
        Op::Command(AnyCommand::SettleWebhooks(_), _) => Some(AnyOutcome::SettleWebhooks(())),
        Op::Accept(..) | Op::Command(..) | Op::Stop(_) => None,
    };
    match outcome {
        Some(outcome) => op.succeed(Some(outcome)),
        None => op.fail(StoreError::OutcomeUnknown),
    }
}

#[cfg(test)]
#[path = "pending_tests.rs"]
mod tests;
