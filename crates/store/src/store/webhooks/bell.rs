//! Where it is rung once something is due: the writer rings after the commit, whoever posts listens.

use crate::store::Store;
use hermod_engine::maps::HashSet;
use hermod_engine::ops::{ENDPOINTS_RUNG_MAX, Endpoint};
use std::sync::{Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;

#[derive(Default)]
pub(crate) struct Bell {
    rung: Mutex<HashSet<Endpoint>>,
    wake: Notify,
}

impl Bell {
    pub(crate) fn ring(&self, endpoints: HashSet<Endpoint>) {
        if endpoints.is_empty() {
            return;
        }
        let mut rung = self.rung();
        if rung.is_empty() {
            *rung = endpoints;
        } else {
            let room = ENDPOINTS_RUNG_MAX.saturating_sub(rung.len());
            rung.extend(endpoints.into_iter().take(room));
        }
        drop(rung);
        self.wake.notify_one();
    }

    fn rung(&self) -> MutexGuard<'_, HashSet<Endpoint>> {
        self.rung.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Store {
    /// Endpoints that something became due at since the last call: it was written, moved there or replayed, and is
    /// durable. Waits until there is one. For one listener; nothing is lost if it does not wait to the end.
    pub async fn hooks_rung(&self) -> Vec<Endpoint> {
        let bell = &self.inner.shared.bell;
        loop {
            let rung = std::mem::take(&mut *bell.rung());
            if !rung.is_empty() {
                return rung.into_iter().collect();
            }
            bell.wake.notified().await;
        }
    }
}
