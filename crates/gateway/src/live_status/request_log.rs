//! The request log before it is written: how many requests of each account were logged in this second, and those that are
//! still to be sent to other nodes.

use hermod_domain::ids::AccountId;
use hermod_domain::time::Timestamp;
use hermod_store::record::RequestEntry;
use metrics::{Counter, counter};
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::OnceLock;

/// Successful requests per second and account that are logged.
const SUCCESSES_LOGGED_PER_SECOND: u32 = 5;
/// Rejected requests per second and account that are logged; those that name no account count together.
const REJECTIONS_LOGGED_PER_SECOND: u32 = 200;
/// Requests that wait to be sent to the other nodes, which happens every second. Further ones are only in the log of this node.
const UNSHARED_MAX: usize = 1_000;
/// Accounts that are counted in one second.
const ACCOUNTS_MAX: usize = 100_000;

/// Counts the logged requests of the current second, and those that are not logged.
#[derive(Default)]
pub struct RequestLog {
    logged: Mutex<Logged>,
    unshared: Mutex<Vec<RequestEntry>>,
    not_shared: OnceLock<Counter>,
    rejected_skipped: OnceLock<Counter>,
    successful_skipped: OnceLock<Counter>,
}

#[derive(Default)]
struct Logged {
    second: i64,
    counts: HashMap<(Option<AccountId>, bool), u32>,
}

impl RequestLog {
    /// Keeps a logged request until it is sent to the other nodes.
    pub fn keep_for_others(&self, entry: RequestEntry) {
        let mut unshared = self.unshared.lock();
        if unshared.len() < UNSHARED_MAX {
            unshared.push(entry);
        } else {
            self.count_not_shared(1);
        }
    }

    /// Counts requests that are not in the logs of all nodes.
    pub fn count_not_shared(&self, requests: usize) {
        let counter = || counter!("hermod_record_requests_not_shared_total");
        self.not_shared.get_or_init(counter).increment(u64::try_from(requests).unwrap_or(0));
    }

    /// Returns the requests that are to be sent to the other nodes.
    pub fn take_unshared(&self) -> Vec<RequestEntry> {
        std::mem::take(&mut *self.unshared.lock())
    }

    /// Counts a request that is not logged.
    pub fn count_skipped(&self, is_rejected: bool) {
        let (skipped, outcome) = if is_rejected {
            (&self.rejected_skipped, "rejected")
        } else {
            (&self.successful_skipped, "successful")
        };
        let name = "hermod_record_requests_skipped_total";
        skipped.get_or_init(|| counter!(name, "outcome" => outcome)).increment(1);
    }

    /// Whether one more request of an account is logged in this second.
    pub fn admits(&self, account: Option<AccountId>, is_rejected: bool, now: Timestamp) -> bool {
        let mut logged = self.logged.lock();
        let second = now.as_millis().div_euclid(1_000);
        if logged.second != second {
            logged.second = second;
            logged.counts.clear();
        }
        let most = if is_rejected { REJECTIONS_LOGGED_PER_SECOND } else { SUCCESSES_LOGGED_PER_SECOND };
        if logged.counts.len() >= ACCOUNTS_MAX {
            return false;
        }
        let count = logged.counts.entry((account, is_rejected)).or_default();
        *count += 1;
        *count <= most
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_account_has_its_own_limit_which_begins_again_every_second() {
        let log = RequestLog::default();
        let [alice, bob] = [1, 2].map(|id| Some(AccountId::new(id)));
        let now = Timestamp::from_millis(1_800_000_000_000);
        let admitted = |account, at| (0..20).filter(|_| log.admits(account, false, at)).count();
        assert_eq!(admitted(alice, now), 5);
        assert_eq!(admitted(bob, now), 5);
        assert!(log.admits(alice, true, now), "rejected requests are counted by themselves");
        assert_eq!(admitted(alice, Timestamp::from_millis(1_800_000_001_000)), 5);
    }
}
