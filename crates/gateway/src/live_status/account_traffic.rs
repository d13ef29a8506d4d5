//! Counts the messages that each account submits to this process, for metrics.

use hermod_domain::ids::AccountId;
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The messages of one account since the start of the process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SubmittedMessages {
    pub accepted: u64,
    pub refused: u64,
}

/// The messages of all accounts. At most one entry per account.
#[derive(Debug, Default)]
pub struct AccountTraffic(Mutex<HashMap<AccountId, SubmittedMessages>>);

impl AccountTraffic {
    pub fn count_accepted(&self, account: AccountId) {
        self.lock().entry(account).or_default().accepted += 1;
    }

    pub fn count_refused(&self, account: AccountId) {
        self.lock().entry(account).or_default().refused += 1;
    }

    /// Returns a copy of all counts.
    pub fn counts(&self) -> HashMap<AccountId, SubmittedMessages> {
        self.lock().clone()
    }

    /// Counts stay valid if a thread panicked while holding the lock.
    fn lock(&self) -> MutexGuard<'_, HashMap<AccountId, SubmittedMessages>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
