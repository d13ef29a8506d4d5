//! How each endpoint has answered so far, remembered while nothing waits for it: an endpoint that was dead an hour ago is
//! not met with open arms because it had nothing to take in between.

use hermod_domain::webhook::pressure::Pressure;
use hermod_store::Endpoint;
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Bounded by the endpoints there are: two of an account.
#[derive(Default)]
pub(super) struct Standings(Mutex<HashMap<Endpoint, Pressure>>);

impl Standings {
    pub(super) fn of(&self, endpoint: Endpoint) -> Pressure {
        self.lock().get(&endpoint).copied().unwrap_or_default()
    }

    pub(super) fn keep(&self, endpoint: Endpoint, pressure: Pressure) {
        self.lock().insert(endpoint, pressure);
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Endpoint, Pressure>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
