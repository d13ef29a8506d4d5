//! Parts whose last resend got no answer either: they count as submitted, and the operator is alarmed.

use hermod_domain::ids::CarrierId;
use hermod_engine::maps::HashMap;
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// How many parts of each carrier are unconfirmed since they were last taken. Holds one number per carrier.
#[derive(Default)]
pub(crate) struct Unconfirmed {
    counts: Mutex<BTreeMap<CarrierId, u64>>,
}

impl Unconfirmed {
    /// Adds what a batch has counted. Called after its commit.
    pub(crate) fn add(&self, counted: HashMap<CarrierId, u64>) {
        if counted.is_empty() {
            return;
        }
        let mut counts = self.counts();
        for (carrier, parts) in counted {
            *counts.entry(carrier).or_default() += parts;
        }
    }

    /// Takes what was counted since the last call.
    pub(crate) fn take(&self) -> BTreeMap<CarrierId, u64> {
        std::mem::take(&mut self.counts())
    }

    fn counts(&self) -> MutexGuard<'_, BTreeMap<CarrierId, u64>> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
