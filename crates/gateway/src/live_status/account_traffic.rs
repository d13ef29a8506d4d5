//! Counts the messages that each account submits to this process, for metrics. Counting takes no lock.

use arc_swap::ArcSwap;
use hermod_domain::catalogue::Catalogue;
use hermod_domain::ids::AccountId;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The messages of one account since the start of the process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SubmittedMessages {
    pub accepted: u64,
    pub refused: u64,
}

#[derive(Debug, Default)]
struct Counters {
    accepted: AtomicU64,
    refused: AtomicU64,
}

/// The messages of the accounts of the setup.
#[derive(Debug, Default)]
pub struct AccountTraffic(ArcSwap<HashMap<AccountId, Arc<Counters>>>);

impl AccountTraffic {
    /// Counts for the accounts of this setup from now on. Accounts of the setup before keep their counts.
    pub fn follow(&self, catalogue: &Catalogue) {
        self.0.rcu(|before| {
            let counters =
                catalogue.accounts().map(|(id, _)| (id, before.get(&id).cloned().unwrap_or_default()));
            counters.collect::<HashMap<_, _>>()
        });
    }

    pub fn count_accepted(&self, account: AccountId) {
        if let Some(counters) = self.0.load().get(&account) {
            counters.accepted.fetch_add(1, Ordering::Relaxed);
        }
    }

    pub fn count_refused(&self, account: AccountId) {
        if let Some(counters) = self.0.load().get(&account) {
            counters.refused.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Returns all counts.
    pub fn counts(&self) -> HashMap<AccountId, SubmittedMessages> {
        let read = |(id, counters): (&AccountId, &Arc<Counters>)| {
            let Counters { accepted, refused } = &**counters;
            let [accepted, refused] = [accepted, refused].map(|count| count.load(Ordering::Relaxed));
            (*id, SubmittedMessages { accepted, refused })
        };
        self.0.load().iter().map(read).collect()
    }
}

#[cfg(test)]
#[path = "account_traffic_tests.rs"]
mod tests;
