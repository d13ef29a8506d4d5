//! The stored steps of messages, and the reserved step ids.

use super::MemoryTables;
use hermod_engine::steps::{MessageStep, StepId};
use hermod_engine::tables::{StepChange, TableError, TimelineRows};

/// The row of a line.
pub(super) type Row = MessageStep;

impl TimelineRows for MemoryTables {
    fn change_steps(&self, change: &StepChange) -> Result<(), TableError> {
        let StepChange::Reserved(reserved) = change;
        self.write().step_counter.put((), reserved.0);
        Ok(())
    }

    fn reserved_step(&self) -> Result<StepId, TableError> {
        Ok(StepId(self.read().step_counter.get(&()).copied().unwrap_or(0)))
    }

    fn keep_steps(&self, steps: &[MessageStep]) -> Result<(), TableError> {
        let table = &mut self.write().timeline;
        for step in steps.iter().filter(|step| step.kind.timeline_text().is_some()) {
            table.add(step.id.0, step.clone());
        }
        Ok(())
    }
}
