//! Operations on the record: how far it is, and what is happening now.

mod queries;

use crate::backend::record::{self, RecordBackend, RecordRetention, StorePosition};
use crate::error::StoreError;
use crate::follower::{self, FollowerSetup, Following};
use crate::record::{Feed, LiveWatch, RecordStatus, RequestEntry, Scope};
use crate::store::Store;
use crate::{backend::Backend, store::OpenOptions};
use hermod_domain::erasure::ErasureScope;
use hermod_domain::time::Timestamp;
use hermod_engine::ops::Retention;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

/// The record of a store: its readers, and the thread that writes it.
pub(super) struct Record {
    pub backend: Arc<RecordBackend>,
    following: Arc<Following>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl Record {
    /// Opens the record and starts the follower. `position`: the store as it was opened, before the first batch of the feed.
    pub(super) fn open(
        options: &OpenOptions,
        store: &Backend,
        position: StorePosition,
        feed: Arc<Feed>,
    ) -> Result<Record, StoreError> {
        let folder = options.folder.clone();
        let following = Arc::new(Following::new());
        let (readers, writing) = record::prepare(&folder, store, following.collected.clone())?;
        let readers = Arc::new(readers);
        let thread = follower::start(FollowerSetup {
            folder,
            store: position,
            feed,
            following: following.clone(),
            readers: readers.clone(),
            writing,
            now: options.now,
        })?;
        Ok(Record { backend: readers, following, thread: Mutex::new(Some(thread)) })
    }

    /// Waits until the follower has written the rest of the feed, which must be closed. Later reads fail.
    pub(super) async fn close(&self) {
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(thread) = thread else { return };
        let ended = tokio::task::spawn_blocking(move || thread.join()).await;
        if !matches!(ended, Ok(Ok(()))) {
            tracing::error!("The thread of the record panicked; the record catches up at the next start");
        }
        self.backend.try_close();
    }
}

/// Pauses between two looks whether the feed has what another node has committed, and how many.
const ENGINE_POLL: Duration = Duration::from_millis(5);
const ENGINE_POLLS_MAX: usize = 600;

impl Store {
    /// Whether the store keeps the record.
    pub fn has_record(&self) -> bool {
        self.inner.access.shared.feed.is_followed()
    }

    /// Adds a line to the request log of the record. Does not wait.
    pub fn note_request(&self, entry: RequestEntry) {
        self.inner.access.shared.feed.push_request(entry);
    }

    /// Returns how far the record is.
    pub fn record_status(&self) -> RecordStatus {
        match &self.inner.record {
            Some(record) => record.following.status(&self.inner.access.shared.feed),
            None => RecordStatus { is_off: true, ..RecordStatus::default() },
        }
    }

    /// Waits until everything that was committed before this call is in the record.
    pub async fn flush_record(&self) -> Result<(), StoreError> {
        let record = self.record()?;
        self.wait_for_the_engine().await?;
        record.following.complete(&self.inner.access.shared.feed).await
    }

    /// Waits until the feed has what the engine of another node has committed. Not for long: without a connection it is read from
    /// the tables.
    #[expect(clippy::disallowed_methods, reason = "another process commits in real time")]
    async fn wait_for_the_engine(&self) -> Result<(), StoreError> {
        if self.runs_engine() {
            return Ok(());
        }
        let feed = &self.inner.access.shared.feed;
        let commits = self.inner.access.backend.commits().await?;
        for _ in 0..ENGINE_POLLS_MAX {
            if feed.sequence() >= commits {
                break;
            }
            tokio::time::sleep(ENGINE_POLL).await;
        }
        Ok(())
    }

    /// Deletes the record, and makes the follower fill it again from the store. [`Store::record_status`] says how far it is.
    pub async fn rebuild_record(&self) -> Result<(), StoreError> {
        self.record()?.following.rebuild(&self.inner.access.shared.feed);
        Ok(())
    }

    /// Begins to watch what is recorded. Frames after the number `after` that are still kept come first.
    pub fn watch(&self, scope: Scope, after: Option<u64>) -> Result<LiveWatch, StoreError> {
        let hub = &self.record()?.following.hub;
        hub.watch(scope, after).map_err(|_| StoreError::TooManyWatchers)
    }

    /// Makes the follower delete what is past its retention. [`Store::purge`] does it on the node with the engine.
    pub fn purge_record(&self, keep: Retention, now: Timestamp) {
        if let Some(record) = &self.inner.record {
            record.following.purge(RecordRetention { messages_before: now.minus(keep.messages), now });
        }
    }

    /// Erases a number in the record, also in one that is not kept now.
    pub(super) async fn erase_in_record(&self, scope: ErasureScope) -> Result<(), StoreError> {
        if let Some(record) = &self.inner.record {
            self.wait_for_the_engine().await?;
            record.following.erase(&self.inner.access.shared.feed, scope).await?;
            return Ok(());
        }
        let folder = self.inner.access.shared.disk.folder().to_owned();
        let erasing = tokio::task::spawn_blocking(move || record::erase_in_unused(&folder, &scope));
        erasing.await.map_err(|_| StoreError::damaged("the task that erased in the record panicked"))??;
        Ok(())
    }

    /// Returns the record. Fails with [`StoreError::RecordOff`] if the store keeps none.
    pub(super) fn record(&self) -> Result<&Record, StoreError> {
        self.inner.record.as_ref().ok_or(StoreError::RecordOff)
    }
}
