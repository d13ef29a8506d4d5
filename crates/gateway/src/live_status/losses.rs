//! Messages that went to a carrier that leaves less than the margin of their route, because the route allows it. One entry per
//! account and route.

use hermod_domain::ids::{AccountId, RouteId};
use hermod_domain::money::Money;
use hermod_domain::time::Timestamp;
use parking_lot::Mutex;
use std::collections::BTreeMap;

/// The messages of one account on one route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Losses {
    pub first_at: Timestamp,
    pub last_at: Timestamp,
    pub count: u64,
    /// What remained of the price of the last one; below zero for a loss.
    pub margin: Money,
}

#[derive(Debug, Default)]
pub struct LossMaking(Mutex<BTreeMap<(AccountId, RouteId), Losses>>);

impl LossMaking {
    /// Notes a message.
    pub fn note(&self, account: AccountId, route: RouteId, margin: Money, now: Timestamp) {
        let mut losses = self.0.lock();
        let first = Losses { first_at: now, last_at: now, count: 0, margin };
        let noted = losses.entry((account, route)).or_insert(first);
        noted.count += 1;
        (noted.last_at, noted.margin) = (now, margin);
    }

    /// Returns what was noted since a time, and forgets accounts and routes without a message since then.
    pub fn since(&self, earliest: Timestamp) -> Vec<(AccountId, RouteId, Losses)> {
        let mut losses = self.0.lock();
        losses.retain(|_, noted| noted.last_at >= earliest);
        losses.iter().map(|((account, route), noted)| (*account, *route, *noted)).collect()
    }
}
