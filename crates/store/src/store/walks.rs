//! Where the walks over tables that have no index by time go on. Old rows of such a table are found by looking at all of
//! its rows in the order of their keys, a bounded number in each call; an index would cost every message a write.

use crate::sqlite::webhook_old::OldPlace;
use crate::store::Store;
use hermod_engine::tables::{ConversationKey, UnnamedPart};
use std::sync::{MutexGuard, PoisonError};

/// The last row that each walk has looked at; none where the next look begins at the first row. A restart begins anew.
#[derive(Default)]
pub(crate) struct WalkPlaces {
    pub conversation: Option<ConversationKey>,
    pub review: Option<u64>,
    pub unnamed_part: Option<UnnamedPart>,
    pub webhook_event: Option<OldPlace>,
}

impl Store {
    pub(crate) fn walk_places(&self) -> MutexGuard<'_, WalkPlaces> {
        self.inner.walks.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
