//! Events that ended long ago go, with their attempts.

use crate::batch::Batch;
use crate::tables::{EventKey, EventRange, TableError, WebhookAttemptChange, WebhookEventChange};
use hermod_domain::time::Timestamp;

impl Batch<'_> {
    /// Deletes those of these events that ended no later than a time, and their attempts. The events are in the order of
    /// their keys; between two of an endpoint may be others that stay. Returns how many are deleted.
    pub fn forget_hooks(
        &mut self,
        events: &[EventKey],
        before: Timestamp,
        now: Timestamp,
    ) -> Result<u64, TableError> {
        self.at(now);
        let mut deleted = 0;
        for some in events.chunk_by(|one, next| one.endpoint == next.endpoint) {
            let (Some(first), Some(last)) = (some.first(), some.last()) else { continue };
            let range = EventRange { endpoint: first.endpoint, first: first.event, last: last.event };
            // One may have been replayed meanwhile, and wait or have ended again: it keeps its attempts.
            deleted += self.tables.read()?.count_events_ended_by(range, before)?;
            self.tables.write(WebhookEventChange::DeleteEndedBy { range, ended_by: before });
            self.tables.write(WebhookAttemptChange::DeleteWithoutEvent(range));
        }
        Ok(deleted)
    }
}
