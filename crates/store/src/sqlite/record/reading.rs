//! Reads of the record, beside the follower.

use crate::error::StoreError;
use crate::record::tally::{Collected, SharedCollected};
use crate::sql::Connection;
use crate::sql::readers::Readers;
use crate::sqlite::record::schema;
use arc_swap::ArcSwapOption;
use hermod_engine::tables::TableError;
use std::path::Path;
use std::sync::Arc;

/// The readers of the record, and the figures that are not in its tables yet.
pub(crate) struct RecordReaders {
    /// None while the record is not open, or is being checked.
    readers: ArcSwapOption<Readers>,
    collected: SharedCollected,
}

impl RecordReaders {
    /// Returns the readers of a record that is not open yet.
    pub(crate) fn new(collected: SharedCollected) -> RecordReaders {
        RecordReaders { readers: ArcSwapOption::empty(), collected }
    }

    /// Runs a read in one snapshot. Fails with [`StoreError::RecordUnavailable`] until the follower has opened the record. The second argument has the figures that the snapshot lacks.
    pub(crate) async fn read<T: Send + 'static>(
        &self,
        read: impl FnOnce(&Connection, &Collected) -> Result<T, TableError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let collected = self.collected.clone();
        let readers = self.readers.load_full().ok_or(StoreError::RecordUnavailable)?;
        readers
            .run(move |connection| {
                let guard = collected.lock();
                let snapshot = connection.snapshot()?;
                // The snapshot begins with the first read.
                snapshot.prepare_cached("SELECT sequence FROM position")?.query_row([], |_| Ok(()))?;
                let collected = guard.clone();
                drop(guard);
                read(&snapshot, &collected)
            })
            .await
    }

    /// Makes later reads fail. Returns whether no read is running any more, so that the file may be replaced.
    pub(crate) fn try_close(&self) -> bool {
        self.readers.load().as_ref().is_none_or(|readers| readers.try_close())
    }

    /// Allows reads, after the follower has opened the record.
    pub(crate) fn open(&self, folder: &Path) -> Result<(), StoreError> {
        let readers = Readers::open_with(|| schema::open_for_reading(folder))?;
        self.readers.store(Some(Arc::new(readers)));
        Ok(())
    }

    /// Makes later reads fail with [`StoreError::RecordUnavailable`], after [`RecordReaders::try_close`].
    pub(crate) fn forget(&self) {
        self.readers.store(None);
    }
}
