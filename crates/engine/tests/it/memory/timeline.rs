//! What happened to messages beyond their ordinary course.

use super::{MemoryTables, Rows};
use hermod_domain::ids::MessageId;
use hermod_engine::tables::{TableError, TimelineLine, TimelineRows};

/// The row of a line.
pub(super) type Row = TimelineLine;

impl Rows {
    fn lines(&self, message: MessageId, kinds: &[&str]) -> impl Iterator<Item = &Row> {
        self.timeline.values().filter(move |line| line.message == message && kinds.contains(&line.what))
    }
}

impl TimelineRows for MemoryTables {
    fn last_timeline_id(&self) -> Result<i64, TableError> {
        Ok(self.read().timeline.keys().next_back().copied().unwrap_or(0))
    }

    fn add_timeline_line(&self, line: &TimelineLine) -> Result<(), TableError> {
        self.write().timeline.add(line.id, line.clone());
        Ok(())
    }

    fn has_timeline_line(&self, message: MessageId, what: &str) -> Result<bool, TableError> {
        Ok(self.read().lines(message, &[what]).next().is_some())
    }

    fn timeline_details(&self, message: MessageId, what: &str) -> Result<Vec<String>, TableError> {
        Ok(self.read().lines(message, &[what]).map(|line| line.detail.clone()).collect())
    }

    fn count_timeline_lines(&self, message: MessageId, kinds: [&str; 2]) -> Result<u32, TableError> {
        Ok(u32::try_from(self.read().lines(message, &kinds).count())?)
    }
}
