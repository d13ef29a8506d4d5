//! Limits invitations and links that owners of accounts send: they are mails to people who may not want them.

use hermod_domain::keyed_pace::{Allowance, KeyedPace};
use hermod_domain::time::Timestamp;
use std::time::Duration;

const HOUR: Duration = Duration::from_secs(3_600);
const DAY: Duration = Duration::from_secs(24 * 3_600);
/// What an account sends, what a user sends, what an address gets from one account and what it gets from all; in the order of the
/// keys. An account alone cannot use up what an address gets, and so not keep the invitations of others from it.
const ALLOWANCES: [Allowance; 4] = [
    Allowance { most: 50, per: DAY },
    Allowance { most: 20, per: HOUR },
    Allowance { most: 5, per: DAY },
    Allowance { most: 20, per: DAY },
];
/// Accounts, inviters and recipients that are counted.
const KEYS_MAX: usize = 40_000;

/// Fingerprints of the account, the inviter, the recipient within the account, and the recipient.
pub(super) type InvitationKeys = [u64; ALLOWANCES.len()];

/// Counts invitations by these fingerprints.
pub(super) struct InvitationLimit(KeyedPace<u64>);

impl Default for InvitationLimit {
    fn default() -> InvitationLimit {
        InvitationLimit(KeyedPace::new(KEYS_MAX))
    }
}

impl InvitationLimit {
    /// Takes one from each allowance. Fails with the time to wait, and takes none, if one of them is used up.
    pub(super) fn admit(&mut self, keys: InvitationKeys, now: Timestamp) -> Result<(), Duration> {
        let waits = keys.into_iter().zip(ALLOWANCES).filter_map(|(key, most)| self.0.wait(key, most, now));
        if let Some(wait) = waits.max() {
            return Err(wait);
        }
        self.take(keys, now);
        Ok(())
    }

    /// Takes one from each allowance that has one left.
    pub(super) fn take(&mut self, keys: InvitationKeys, now: Timestamp) {
        for (key, most) in keys.into_iter().zip(ALLOWANCES) {
            // Over the limit there is nothing left to take.
            let _ = self.0.admit(key, most, now);
        }
    }
}
