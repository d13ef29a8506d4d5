//! The record of an open store: its readers, and the thread that writes it.

use crate::error::StoreError;
use crate::record::Feed;
use crate::record::database::StorePosition;
use crate::record::database::reading::RecordReaders;
use crate::record::database::source::RecordSource;
use crate::record::follower::{self, FollowerSetup, Following};
use hermod_domain::time::Timestamp;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

/// A record that is read and written.
pub(crate) struct RunningRecord {
    pub readers: Arc<RecordReaders>,
    pub following: Arc<Following>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl RunningRecord {
    /// Opens the record and starts the follower. `store`: the store as it was opened, before the first batch of the feed.
    pub(crate) fn open(
        folder: PathBuf,
        source: RecordSource,
        store: StorePosition,
        feed: Arc<Feed>,
        now: Timestamp,
    ) -> Result<RunningRecord, StoreError> {
        let following = Arc::new(Following::new());
        let readers = Arc::new(RecordReaders::new(following.collected.clone()));
        let thread = follower::start(FollowerSetup {
            folder,
            store,
            feed,
            following: following.clone(),
            readers: readers.clone(),
            source,
            now,
        })?;
        Ok(RunningRecord { readers, following, thread: Mutex::new(Some(thread)) })
    }

    /// Waits until the follower has written the rest of the feed, which must be closed. Later reads fail.
    pub(crate) async fn close(&self) {
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(thread) = thread else { return };
        let ended = tokio::task::spawn_blocking(move || thread.join()).await;
        if !matches!(ended, Ok(Ok(()))) {
            tracing::error!("The thread of the record panicked; the record catches up at the next start");
        }
        self.readers.try_close();
    }
}
