//! The table of the steps of messages that are kept: those beyond their ordinary course. No decision reads it.

use crate::steps::{MessageStep, StepId};
use crate::tables::TableError;
use serde::{Deserialize, Serialize};

/// A change of the ids that steps may have.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub enum StepChange {
    /// All ids up to this one are reserved.
    Reserved(StepId),
}

/// Keeps steps, and the ids that were reserved for them.
pub trait TimelineRows {
    /// Applies a change.
    fn change_steps(&self, change: &StepChange) -> Result<(), TableError>;

    /// Returns the last id of a step that is reserved, and may have been given.
    fn reserved_step(&self) -> Result<StepId, TableError>;

    /// Adds a line to the timelines for each step that has a `StepKind::timeline_text`.
    fn keep_steps(&self, steps: &[MessageStep]) -> Result<(), TableError>;
}
