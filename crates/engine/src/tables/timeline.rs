//! The table of the steps of messages that are kept: those beyond their ordinary course. No decision reads it.

use crate::steps::{MessageStep, StepId};
use crate::tables::TableError;
use serde::{Deserialize, Serialize};

/// A change of the table, or of the ids that steps may have.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum StepChange {
    /// All ids up to this one are reserved.
    Reserved(StepId),
    /// A line is added to the timeline of a message, by `StepKind::timeline_text`.
    Keep(MessageStep),
}

/// Keeps steps, and the ids that were reserved for them.
pub trait TimelineRows {
    /// Applies a change.
    fn change_steps(&self, change: &StepChange) -> Result<(), TableError>;

    /// Returns the last id of a step that is reserved, and may have been given.
    fn reserved_step(&self) -> Result<StepId, TableError>;
}
