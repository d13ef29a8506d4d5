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
mod tests {
    use super::*;

    const THREE_PER_MINUTE: Allowance = Allowance { most: 3, per: Duration::from_secs(60) };
    const ADDRESS: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(192, 0, 2, 1));
    const OTHER_ADDRESS: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(192, 0, 2, 2));
    const KEY: Fingerprint = 1;
    const SECRET: Fingerprint = 10;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_millis(1_750_000_000_000 + seconds * 1000)
    }

    fn fail_repeatedly(sign_ins: &mut SignIns, key: Fingerprint, second: i64) {
        while sign_ins.fail(ADDRESS, key, at(second)).is_ok() {}
    }

    #[test]
    fn correct_secret_during_a_guessing_attack_is_refused_until_the_allowance_returns() {
        let mut sign_ins = SignIns::new(THREE_PER_MINUTE);
        fail_repeatedly(&mut sign_ins, KEY, 0);
        assert_eq!(sign_ins.succeed(ADDRESS, KEY, SECRET, at(0)), Err(Duration::from_secs(20)));
        fail_repeatedly(&mut sign_ins, KEY, 19);
        assert_eq!(sign_ins.succeed(ADDRESS, KEY, SECRET, at(19)), Err(Duration::from_secs(1)));
        assert_eq!(sign_ins.succeed(ADDRESS, KEY, SECRET, at(20)), Ok(()));
    }

    #[test]
    fn proven_address_is_admitted_during_a_guessing_attack() {
        let mut sign_ins = SignIns::new(THREE_PER_MINUTE);
        assert_eq!(sign_ins.succeed(ADDRESS, KEY, SECRET, at(0)), Ok(()));
        fail_repeatedly(&mut sign_ins, KEY, 1);
        assert_eq!(sign_ins.succeed(ADDRESS, KEY, SECRET, at(1)), Ok(()));
        // Each success extends the proof by a day.
        let almost_a_day = 24 * 3600 - 1;
        fail_repeatedly(&mut sign_ins, KEY, almost_a_day);
        assert_eq!(sign_ins.succeed(ADDRESS, KEY, SECRET, at(almost_a_day)), Ok(()));
        fail_repeatedly(&mut sign_ins, KEY, 2 * almost_a_day);
        assert_eq!(sign_ins.succeed(ADDRESS, KEY, SECRET, at(2 * almost_a_day)), Ok(()));
        fail_repeatedly(&mut sign_ins, KEY, 4 * almost_a_day);
        assert!(sign_ins.succeed(ADDRESS, KEY, SECRET, at(4 * almost_a_day)).is_err(), "two days later");
    }

    #[test]
    fn guessing_attack_on_one_key_from_one_address_stops_no_other_key_and_no_other_address() {
        let mut sign_ins = SignIns::new(THREE_PER_MINUTE);
        fail_repeatedly(&mut sign_ins, KEY, 0);
        assert_eq!(sign_ins.succeed(OTHER_ADDRESS, KEY, SECRET, at(0)), Ok(()));
        assert_eq!(sign_ins.succeed(ADDRESS, 2, 20, at(0)), Ok(()));
        assert!(sign_ins.fail(ADDRESS, 3, at(0)).is_err(), "failures are also counted for the address");
        assert_eq!(sign_ins.fail(OTHER_ADDRESS, 3, at(0)), Ok(()));
    }

    #[test]
    fn changed_secret_is_not_proven() {
        let mut sign_ins = SignIns::new(THREE_PER_MINUTE);
        assert_eq!(sign_ins.succeed(ADDRESS, KEY, SECRET, at(0)), Ok(()));
        fail_repeatedly(&mut sign_ins, KEY, 1);
        assert!(sign_ins.succeed(ADDRESS, KEY, SECRET + 1, at(1)).is_err());
    }
}
