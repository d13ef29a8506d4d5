//! What every part of the gateway stands in: the clock, the store, the catalogue of the moment, and what is counted in
//! memory between requests.

use crate::clock::Clock;
use crate::secrets::Pepper;
use arc_swap::ArcSwap;
use hermod_domain::catalogue::Catalogue;
use hermod_domain::ids::ConnectionId;
use hermod_domain::pace::{Pace, Rate};
use hermod_store::Store;
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

pub struct World {
    pub clock: Clock,
    pub store: Store,
    pub pepper: Pepper,
    /// How long an accepted message may wait for its delivery.
    pub validity: Duration,
    catalogue: ArcSwap<Catalogue>,
    /// One bucket per connection, shared by all its keys. Bounded by the connections there are.
    buckets: Mutex<HashMap<ConnectionId, Pace>>,
    draining: AtomicBool,
}

/// What is left of a connection's rate after a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RateLeft {
    pub limit: u32,
    pub remaining: u32,
    /// Set when the request was over the rate: how long until the next may come.
    pub refused_for: Option<Duration>,
}

impl World {
    pub fn new(
        clock: Clock,
        store: Store,
        pepper: Pepper,
        catalogue: Catalogue,
        validity: Duration,
    ) -> World {
        World {
            clock,
            store,
            pepper,
            validity,
            catalogue: ArcSwap::from_pointee(catalogue),
            buckets: Mutex::default(),
            draining: AtomicBool::new(false),
        }
    }

    pub fn catalogue(&self) -> Arc<Catalogue> {
        self.catalogue.load_full()
    }

    pub fn set_catalogue(&self, catalogue: Catalogue) {
        self.catalogue.store(Arc::new(catalogue));
    }

    /// Takes one request from a connection's bucket.
    pub fn take_token(&self, connection: ConnectionId, per_second: u32) -> RateLeft {
        let now = self.clock.now();
        let rate = Rate::per_second(per_second.max(1)).unwrap_or_else(|_| {
            Rate::per_second(hermod_domain::pace::PER_SECOND_MAX).expect("the maximum is allowed")
        });
        let mut buckets = self.buckets.lock().unwrap_or_else(PoisonError::into_inner);
        let bucket = buckets.entry(connection).or_insert_with(|| Pace::full(rate, now));
        if bucket.rate() != rate {
            *bucket = Pace::full(rate, now);
        }
        let refused_for = bucket.admit(now).err();
        RateLeft { limit: rate.get(), remaining: bucket.remaining(now), refused_for }
    }

    /// From here on new messages are refused, so that what was accepted can be finished.
    pub fn start_draining(&self) {
        self.draining.store(true, Ordering::Release);
    }

    pub fn is_draining(&self) -> bool {
        self.draining.load(Ordering::Acquire)
    }
}
