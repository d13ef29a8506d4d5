//! Where it is rung once a webhook event is due: the writer rings after the commit, the task that posts listens.

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

    /// Takes the endpoints that were rung for since the last call. Waits until there is one. For one listener; nothing is
    /// lost if it does not wait to the end.
    pub(crate) async fn take(&self) -> Vec<Endpoint> {
        loop {
            let rung = std::mem::take(&mut *self.rung());
            if !rung.is_empty() {
                return rung.into_iter().collect();
            }
            self.wake.notified().await;
        }
    }

    fn rung(&self) -> MutexGuard<'_, HashSet<Endpoint>> {
        self.rung.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
