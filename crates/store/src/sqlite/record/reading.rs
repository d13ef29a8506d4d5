//! Reads of the record, beside the follower.

use crate::error::StoreError;
use crate::record::tally::{Collected, SharedCollected};
use crate::sql::Connection;
use crate::sql::readers::Readers;
use crate::sqlite::record::schema;
use arc_swap::ArcSwap;
use hermod_engine::tables::TableError;
use std::path::Path;
use std::sync::Arc;

/// The readers of the record, and the figures that are not in its tables yet.
pub(crate) struct RecordReaders {
    readers: ArcSwap<Readers>,
    collected: SharedCollected,
}

impl RecordReaders {
    /// Opens the readers of a record that the follower has opened.
    pub(crate) fn open(folder: &Path, collected: SharedCollected) -> Result<RecordReaders, StoreError> {
        Ok(RecordReaders { readers: ArcSwap::from_pointee(readers_of(folder)?), collected })
    }

    /// Runs a read in one snapshot. The second argument has the figures that the snapshot lacks.
    pub(crate) async fn read<T: Send + 'static>(
        &self,
        read: impl FnOnce(&Connection, &Collected) -> Result<T, TableError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let collected = self.collected.clone();
        let readers = self.readers.load_full();
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
        self.readers.load().try_close()
    }

    /// Opens the readers again, after the file was replaced.
    pub(crate) fn reopen(&self, folder: &Path) -> Result<(), StoreError> {
        self.readers.store(Arc::new(readers_of(folder)?));
        Ok(())
    }
}

fn readers_of(folder: &Path) -> Result<Readers, StoreError> {
    Readers::open_with(|| schema::open_for_reading(folder))
}
