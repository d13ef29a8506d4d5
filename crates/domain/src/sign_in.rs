//! Limits how often credentials may be guessed, per source address and per key and source address.
//!
//! A source address that signed in with a key within the last day is *proven* for that key: its valid credentials are
//! never refused. For every other address the guesses at a key have an allowance, and while it is used up a correct
//! secret is refused exactly like a wrong one. Otherwise a storm of guesses would end with the right one being
//! admitted.

use crate::expiring::Expiring;
use crate::keyed_pace::{Allowance, KeyedPace};
use crate::time::Timestamp;
use std::net::IpAddr;
use std::time::Duration;

/// How long an address stays proven after its last successful sign-in.
pub const PROVEN_FOR: Duration = Duration::from_secs(24 * 3600);

/// Entries in each of the three tables. Above it, the entries that expire soonest are dropped.
const ENTRIES_MAX: usize = 100_000;

/// Identifies a key, or a key with its secret. The caller computes it with a keyed hash, so that collisions cannot be
/// forged.
pub type Fingerprint = u64;

#[derive(Clone, Debug)]
pub struct SignIns {
    allowance: Allowance,
    failures_by_address: KeyedPace<IpAddr>,
    failures_by_key: KeyedPace<(Fingerprint, IpAddr)>,
    /// By key and secret: a changed secret must be proven again.
    proven: Expiring<(Fingerprint, IpAddr)>,
}

impl SignIns {
    /// `allowance` is the number of failures per address, in total and per key.
    pub fn new(allowance: Allowance) -> SignIns {
        SignIns {
            allowance,
            failures_by_address: KeyedPace::new(ENTRIES_MAX),
            failures_by_key: KeyedPace::new(ENTRIES_MAX),
            proven: Expiring::new(ENTRIES_MAX),
        }
    }

    /// Counts a failed sign-in. Fails with the time to wait if the address, or the key at this address, is over its
    /// allowance.
    pub fn fail(&mut self, address: IpAddr, key: Fingerprint, now: Timestamp) -> Result<(), Duration> {
        let by_address = self.failures_by_address.admit(address, self.allowance, now);
        let by_key = self.failures_by_key.admit((key, address), self.allowance, now);
        by_address.and(by_key)
    }

    /// Admits valid credentials and marks the address as proven for them. Fails with the time to wait if the address is
    /// not proven and its guesses at this key are over their allowance.
    pub fn succeed(
        &mut self,
        address: IpAddr,
        key: Fingerprint,
        key_and_secret: Fingerprint,
        now: Timestamp,
    ) -> Result<(), Duration> {
        let (now_ms, proof) = (now.as_millis(), (key_and_secret, address));
        if !self.is_proven(address, key_and_secret, now)
            && let Some(wait) = self.failures_by_key.wait((key, address), self.allowance, now)
        {
            return Err(wait);
        }
        let proven_ms = i64::try_from(PROVEN_FOR.as_millis()).unwrap_or(i64::MAX);
        self.proven.insert(proof, now_ms.saturating_add(proven_ms), now_ms);
        Ok(())
    }

    /// Returns how long an address must wait before a further attempt is worth checking; none if it may try now. An address
    /// that is proven for these credentials never waits.
    pub fn wait_before_attempt(
        &self,
        address: IpAddr,
        key: Fingerprint,
        key_and_secret: Fingerprint,
        now: Timestamp,
    ) -> Option<Duration> {
        if self.is_proven(address, key_and_secret, now) {
            return None;
        }
        let by_address = self.failures_by_address.wait(address, self.allowance, now);
        by_address.or_else(|| self.failures_by_key.wait((key, address), self.allowance, now))
    }

    /// Whether the address has signed in with these credentials within the last day.
    pub fn is_proven(&self, address: IpAddr, key_and_secret: Fingerprint, now: Timestamp) -> bool {
        self.proven.get((key_and_secret, address)).is_some_and(|until| until > now.as_millis())
    }

    /// Returns how many failures the address has left, and the time until its allowance is full again.
    pub fn left(&self, address: IpAddr, now: Timestamp) -> (u32, Duration) {
        self.failures_by_address.left(address, self.allowance, now)
    }

    pub const fn allowance(&self) -> Allowance {
        self.allowance
    }
}

#[cfg(test)]
#[path = "sign_in_tests.rs"]
mod tests;
