//! Commands about messages: accept, cancel, cancel and move what waits, find an idempotency key, read the queues.

use crate::accept;
use crate::batch::Batch;
use crate::cancel;
use crate::commands::{Command, OnFullDisk};
use crate::failover;
use crate::ops::{AcceptOutcome, Acceptance, CancelOutcome, Duplicate, ExpectedParties, KeyClaim, Move};
use crate::read_ahead::ReadPlan;
use crate::state::queues::QueueSnapshot;
use crate::tables::{MessageKey, TableError};
use hermod_domain::ids::AccountId;
use hermod_domain::origin::MessageName;
use hermod_domain::time::Timestamp;
use hermod_domain::traffic::{OverVelocity, VelocityLimit};
use serde::{Deserialize, Serialize};

impl Command for Acceptance {
    type Outcome = AcceptOutcome;

    const IGNORES_REPORTS: bool = true;

    fn execute(&self, batch: &mut Batch<'_>) -> Result<AcceptOutcome, TableError> {
        accept::message(batch, self)
    }
}

/// Cancels a message while no carrier has, or may have, any part of it, and refunds its cost.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cancel {
    pub account: AccountId,
    pub name: MessageName,
    /// A message with other parties counts as not found.
    pub expected: ExpectedParties,
    pub now: Timestamp,
}

impl Command for Cancel {
    type Outcome = CancelOutcome;

    fn execute(&self, batch: &mut Batch<'_>) -> Result<CancelOutcome, TableError> {
        let Cancel { account, name, expected, now } = self;
        cancel::message(batch, *account, *name, expected, *now)
    }
}

/// Moves messages that wait for one carrier to another. Those that do not wait there any more stay as they are. Returns how
/// many were moved.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MoveWaiting {
    pub moves: Vec<Move>,
    pub now: Timestamp,
}

impl Command for MoveWaiting {
    type Outcome = usize;

    fn plan_reads<'c>(&'c self, plan: &mut ReadPlan<'c>) {
        plan.add_parts(self.moves.iter().map(failover::key_before));
    }

    fn execute(&self, batch: &mut Batch<'_>) -> Result<usize, TableError> {
        failover::move_waiting(batch, &self.moves, self.now)
    }
}

/// Cancels messages in queues and refunds their costs, for the operator. Those that do not wait there any more stay as they
/// are. Returns how many were cancelled, or stopped.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CancelWaiting {
    pub keys: Vec<MessageKey>,
    /// Messages that a carrier may have are stopped: what of them waits is not sent, and nothing is refunded.
    pub stops_sent: bool,
    pub now: Timestamp,
}

impl Command for CancelWaiting {
    type Outcome = usize;

    fn plan_reads<'c>(&'c self, plan: &mut ReadPlan<'c>) {
        plan.add_parts(self.keys.iter().copied());
    }

    fn execute(&self, batch: &mut Batch<'_>) -> Result<usize, TableError> {
        cancel::waiting(batch, &self.keys, self.stops_sent, self.now)
    }
}

/// Finds the message that used an idempotency key. Runs on the writer, which also knows keys that are not committed yet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FindKey {
    pub key: KeyClaim,
}

impl Command for FindKey {
    type Outcome = Option<Duplicate>;

    const ON_FULL_DISK: OnFullDisk = OnFullDisk::Run;

    fn execute(&self, batch: &mut Batch<'_>) -> Result<Option<Duplicate>, TableError> {
        batch.state.keys.find(batch.tables, &self.key)
    }
}

/// Finds the traffic control that would refuse a message now. Counts nothing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FindVelocityRefusal {
    pub limits: Vec<VelocityLimit>,
    pub now: Timestamp,
}

impl Command for FindVelocityRefusal {
    type Outcome = Option<OverVelocity>;

    const ON_FULL_DISK: OnFullDisk = OnFullDisk::Run;

    fn execute(&self, batch: &mut Batch<'_>) -> Result<Option<OverVelocity>, TableError> {
        Ok(batch.state.recent_traffic.refusal(&self.limits, self.now))
    }
}

/// Reads how many parts wait of each of these accounts, in their order: for a slot or for a time, at all carriers together.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadWaitingParts {
    pub accounts: Vec<AccountId>,
}

impl Command for ReadWaitingParts {
    type Outcome = Vec<u64>;

    const ON_FULL_DISK: OnFullDisk = OnFullDisk::Run;

    fn execute(&self, batch: &mut Batch<'_>) -> Result<Vec<u64>, TableError> {
        Ok(self.accounts.iter().map(|account| batch.state.queues.waiting_of(*account)).collect())
    }
}

/// Reads the queues of all carriers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadQueues;

impl Command for ReadQueues {
    type Outcome = Vec<QueueSnapshot>;

    const ON_FULL_DISK: OnFullDisk = OnFullDisk::Run;

    fn execute(&self, batch: &mut Batch<'_>) -> Result<Vec<QueueSnapshot>, TableError> {
        Ok(batch.state.queues.snapshots(&batch.state.lanes, &batch.state.deferred))
    }
}
