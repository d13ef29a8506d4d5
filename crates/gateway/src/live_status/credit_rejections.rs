//! Accounts whose messages were rejected for lack of credit, until they have more again. At most one entry per account.

use hermod_domain::ids::AccountId;
use hermod_domain::money::Money;
use hermod_domain::time::Timestamp;
use parking_lot::Mutex;
use std::collections::BTreeMap;

/// The rejections of one account.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CreditRejection {
    pub first_at: Timestamp,
    pub last_at: Timestamp,
    pub count: u64,
    /// What it could spend at the last one.
    pub available: Money,
}

#[derive(Debug, Default)]
pub struct CreditRejections(Mutex<BTreeMap<AccountId, CreditRejection>>);

impl CreditRejections {
    /// Notes that a message was rejected.
    pub fn note(&self, account: AccountId, available: Money, now: Timestamp) {
        let mut rejections = self.0.lock();
        let first = CreditRejection { first_at: now, last_at: now, count: 0, available };
        let rejection = rejections.entry(account).or_insert(first);
        rejection.count += 1;
        (rejection.last_at, rejection.available) = (now, available);
    }

    pub fn list(&self) -> Vec<(AccountId, CreditRejection)> {
        self.0.lock().iter().map(|(account, rejection)| (*account, *rejection)).collect()
    }

    /// Forgets an account that can send again, unless a message was rejected since `seen`.
    pub fn forget(&self, account: AccountId, seen: &CreditRejection) {
        let mut rejections = self.0.lock();
        if rejections.get(&account) == Some(seen) {
            rejections.remove(&account);
        }
    }
}
