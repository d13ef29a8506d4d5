//! The stored steps of messages, and the reserved step ids.

use super::MemoryTables;
use hermod_engine::steps::{MessageStep, StepId};
use hermod_engine::tables::{StepChange, TableError, TimelineRows};

/// The row of a line.
pub(super) type Row = MessageStep;

impl TimelineRows for MemoryTables {
    fn change_steps(&self, change: &StepChange) -> Result<(), TableError> {
        let mut rows = self.write();
        match change {
            StepChange::Reserved(reserved) => rows.step_counter.put((), reserved.0),
            StepChange::Keep(step) => rows.timeline.add(step.id.0, step.clone()),
        }
        Ok(())
    }

    fn reserved_step(&self) -> Result<StepId, TableError> {
        Ok(StepId(self.read().step_counter.get(&()).copied().unwrap_or(0)))
    }
}
