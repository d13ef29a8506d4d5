//! The one copy of the database that may be wanted or under way: callers ask for it, the writer makes it.

use crate::error::StoreError;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use tokio::sync::oneshot;

pub(crate) struct CopyRequest {
    pub file: PathBuf,
    pub reply: oneshot::Sender<Result<(), StoreError>>,
}

#[derive(Default)]
pub(crate) struct Copies {
    taken: AtomicBool,
    wanted: Mutex<Option<CopyRequest>>,
}

impl Copies {
    /// Asks for a copy. Refused while another one is wanted or under way.
    pub(crate) fn ask(&self, request: CopyRequest) -> Result<(), StoreError> {
        if self.taken.swap(true, Ordering::AcqRel) {
            return Err(StoreError::CopyUnderWay);
        }
        *self.wanted.lock().unwrap_or_else(PoisonError::into_inner) = Some(request);
        Ok(())
    }

    /// Takes the copy that is wanted. Another one is refused until [`Copies::ended`].
    pub(crate) fn take(&self) -> Option<CopyRequest> {
        self.wanted.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// The copy that was taken is made, or was given up.
    pub(crate) fn ended(&self) {
        self.taken.store(false, Ordering::Release);
    }
}
