//! Copies of the database that the writer makes between its batches.

use super::Writer;
use super::operation::Op;
use crate::error::StoreError;
use crate::shared::CopyRequest;

impl Writer<'_> {
    /// Makes the copy that is wanted, if one is. False once the store is to stop.
    pub(super) fn copy_if_wanted(&mut self, ops: &mut Vec<Op>) -> bool {
        let Some(CopyRequest { file, reply }) = self.shared.copies.take() else { return true };
        tracing::info!(file = %file.display(), "Copying the database");
        let (database, mut goes_on) = (self.database, true);
        let copied = database.copy_to(&file, &mut || {
            goes_on = self.work_off_waiting(ops);
            if !goes_on || reply.is_closed() { Err(StoreError::Closed) } else { Ok(()) }
        });
        if let Err(fault) = &copied {
            tracing::warn!(%fault, file = %file.display(), "The copy of the database was not completed");
        }
        self.shared.copies.ended();
        // The caller may be gone.
        drop(reply.send(copied));
        goes_on
    }
}
