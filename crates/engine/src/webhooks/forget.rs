//! Events that ended long ago go, with their attempts.

use crate::batch::Batch;
use crate::tables::{EventKey, TableError};
use hermod_domain::time::Timestamp;

impl Batch<'_> {
    /// Deletes those of these events that ended no later than a time, and their attempts.
    pub fn forget_hooks(
        &mut self,
        events: &[EventKey],
        before: Timestamp,
        now: Timestamp,
    ) -> Result<(), TableError> {
        self.at(now);
        for key in events {
            // It may have been replayed meanwhile, and have ended again.
            if self.tables.event_ended_at(*key)?.is_some_and(|ended_at| ended_at <= before) {
                self.tables.delete_ended_event(*key)?;
                self.tables.delete_attempts(*key, u32::MAX)?;
            }
        }
        Ok(())
    }
}
