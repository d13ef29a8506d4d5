//! What happened to messages beyond their ordinary course.

use super::MemoryTables;
use hermod_engine::tables::{TableError, TimelineLine, TimelineRows};

/// The row of a line.
pub(super) type Row = TimelineLine;

impl TimelineRows for MemoryTables {
    fn last_timeline_id(&self) -> Result<i64, TableError> {
        Ok(self.read().timeline.keys().next_back().copied().unwrap_or(0))
    }

    fn add_timeline_line(&self, line: &TimelineLine) -> Result<(), TableError> {
        self.write().timeline.add(line.id, line.clone());
        Ok(())
    }
}
