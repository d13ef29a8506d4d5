//! Connections of one endpoint that are kept for the next post. None is kept or used for longer than the keep-alive time
//! after it was made: where a name leads may have changed meanwhile.

use super::connection::Connection;
use crate::clock::Moment;
use hermod_domain::webhook::pressure::POSTS_MAX;
use std::sync::{Mutex, MutexGuard, PoisonError};

#[derive(Default)]
pub(in super::super) struct Pool(Mutex<Vec<Connection>>);

impl Pool {
    /// The one used last: the others may come to their end.
    pub(super) fn take(&self, now: Moment) -> Option<Connection> {
        let mut kept = self.lock();
        kept.retain(|connection| connection.is_usable(now));
        kept.pop()
    }

    pub(super) fn put(&self, connection: Connection, now: Moment) {
        let mut kept = self.lock();
        // As many as can be under way; there cannot be more.
        if connection.is_usable(now) && kept.len() < usize::try_from(POSTS_MAX).unwrap_or(usize::MAX) {
            kept.push(connection);
        }
    }

    pub(in super::super) fn is_empty(&self) -> bool {
        self.lock().is_empty()
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Connection>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
