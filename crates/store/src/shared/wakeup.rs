//! Where it is woken once a webhook event is due: the writer rings after the commit, the task that posts listens.

use hermod_engine::maps::HashSet;
use hermod_engine::ops::{ENDPOINTS_WOKEN_MAX, Endpoint};
use std::sync::{Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;

#[derive(Default)]
pub(crate) struct Wakeup {
    woken: Mutex<HashSet<Endpoint>>,
    wake: Notify,
}

impl Wakeup {
    pub(crate) fn wake(&self, endpoints: HashSet<Endpoint>) {
        if endpoints.is_empty() {
            return;
        }
        let mut woken = self.woken();
        if woken.is_empty() {
            *woken = endpoints;
        } else {
            let room = ENDPOINTS_WOKEN_MAX.saturating_sub(woken.len());
            woken.extend(endpoints.into_iter().take(room));
        }
        drop(woken);
        self.wake.notify_one();
    }

    /// Takes the endpoints that were woken for since the last call. Waits until there is one. For one listener; nothing is
    /// lost if it does not wait to the end.
    pub(crate) async fn take(&self) -> Vec<Endpoint> {
        loop {
            let woken = std::mem::take(&mut *self.woken());
            if !woken.is_empty() {
                return woken.into_iter().collect();
            }
            self.wake.notified().await;
        }
    }

    fn woken(&self) -> MutexGuard<'_, HashSet<Endpoint>> {
        self.woken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
