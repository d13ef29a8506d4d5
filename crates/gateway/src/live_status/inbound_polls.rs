//! How far customers have polled their MO messages.

use hermod_domain::ids::AccountId;
use parking_lot::Mutex;
use std::collections::HashMap;

/// The highest number of an MO message that each account has polled since the start, or said to have when it polled for newer
/// ones. Bounded by the number of accounts.
#[derive(Debug, Default)]
pub struct InboundPolls(Mutex<HashMap<AccountId, u64>>);

impl InboundPolls {
    /// Notes that an account has the MO messages up to this number.
    pub fn note(&self, account: AccountId, up_to: u64) {
        let mut polled = self.0.lock();
        let known = polled.entry(account).or_default();
        *known = up_to.max(*known);
    }

    /// Returns the number up to which an account has polled; 0 if it has not since the start.
    pub fn up_to(&self, account: AccountId) -> u64 {
        self.0.lock().get(&account).copied().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn earlier_poll_does_not_take_back_a_later_one() {
        let polls = InboundPolls::default();
        let [alice, bob] = [1, 2].map(AccountId::new);
        polls.note(alice, 7);
        polls.note(alice, 3);
        assert_eq!((polls.up_to(alice), polls.up_to(bob)), (7, 0));
    }
}
