//! Commands that run on a schedule: release deferred parts, deliver incomplete MO messages, end parts past their deadline, and
//! delete what is no longer needed.

use crate::batch::Batch;
use crate::commands::Command;
use crate::dispatch;
use crate::expiry;
use crate::late_parts;
use crate::mo::concatenation;
use crate::read_ahead::ReadPlan;
use crate::set_aside;
use crate::state::delivery_figures;
use crate::state::idempotency_keys::KeyStep;
use crate::tables::{MessageKey, TableError, UnreadablePart};
use hermod_domain::ids::PartNo;
use hermod_domain::time::{Day, Timestamp};
use serde::{Deserialize, Serialize};

/// Puts deferred parts whose time has come back into their lanes, and delivers MO messages whose missing parts did not
/// arrive in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReleaseDue {
    pub now: Timestamp,
}

impl Command for ReleaseDue {
    type Outcome = ();

    fn execute(&self, batch: &mut Batch<'_>) -> Result<(), TableError> {
        dispatch::release_due(batch, self.now)?;
        concatenation::deliver_unfinished(batch, self.now)
    }
}

/// Ends those of these parts that are still past their deadline, with their messages. Returns how many.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExpireParts {
    pub parts: Vec<(MessageKey, PartNo)>,
    pub now: Timestamp,
}

impl Command for ExpireParts {
    type Outcome = usize;

    fn plan_reads<'c>(&'c self, plan: &mut ReadPlan<'c>) {
        plan.add_parts(self.parts.iter().map(|(key, _)| *key));
    }

    fn execute(&self, batch: &mut Batch<'_>) -> Result<usize, TableError> {
        expiry::expire(batch, &self.parts, self.now)
    }
}

/// Sets aside those of these messages that still have a part that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SetUnreadableAside {
    pub parts: Vec<UnreadablePart>,
    pub now: Timestamp,
}

impl Command for SetUnreadableAside {
    type Outcome = ();

    fn execute(&self, batch: &mut Batch<'_>) -> Result<(), TableError> {
        batch.advance_to(self.now);
        set_aside::still_unreadable(batch, &self.parts)
    }
}

/// Moves those of these messages whose parts are all accepted to the table of late parts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SetLate {
    pub keys: Vec<MessageKey>,
    pub now: Timestamp,
}

impl Command for SetLate {
    type Outcome = ();

    fn plan_reads<'c>(&'c self, plan: &mut ReadPlan<'c>) {
        plan.add_parts(self.keys.iter().copied());
    }

    fn execute(&self, batch: &mut Batch<'_>) -> Result<(), TableError> {
        late_parts::set_late(batch, &self.keys, self.now)
    }
}

/// Applies a step of merging idempotency keys that a reader prepared.
impl Command for KeyStep {
    type Outcome = ();

    fn execute(&self, batch: &mut Batch<'_>) -> Result<(), TableError> {
        batch.state.keys.apply(batch.tables, self)
    }
}

/// Deletes the delivery figures of days that are past their retention.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DropOldFigures {
    pub today: Day,
}

impl Command for DropOldFigures {
    type Outcome = ();

    fn execute(&self, batch: &mut Batch<'_>) -> Result<(), TableError> {
        delivery_figures::drop_before(batch.tables, self.today);
        Ok(())
    }
}
