//! What stands between a stranger and the work of checking a password: budgets, so that guessing is slow and hashing
//! cannot be ordered at will; a memory of credentials that were proven, so that customers who all come back at once cost
//! no hashing; and a limit on how much is hashed at one time.

use crate::passwords;
use crate::secrets::Pepper;
use crate::world::{World, site_of};
use hermod_domain::keyed_pace::{Allowance, KeyedPace};
use hermod_domain::time::Timestamp;
use std::collections::{HashSet, VecDeque};
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::Semaphore;

/// Addresses and names whose failures are remembered; beyond that, those that failed least make room.
const BUDGETS_MAX: usize = 100_000;
/// Credentials that were proven; beyond that, the oldest are proven again.
const PROVEN_MAX: usize = 50_000;
/// Passwords hashed at one time, 19 MiB each.
const HASHES_AT_ONCE: usize = 2;
/// Binds that may wait for their turn to be hashed, about 20 ms each.
const HASHES_WAITING_MAX: usize = 200;
const KEY_BYTES: usize = 32;

type Digest = [u8; 32];

pub(super) struct Guard {
    /// Random, and only in the memory of this process: what is remembered is of no use to anybody else.
    key: Pepper,
    per_address: Allowance,
    per_system_id: Allowance,
    budgets: Mutex<Budgets>,
    proven: Mutex<Proven>,
    hashing: Arc<Semaphore>,
    waiting: Arc<Semaphore>,
}

struct Budgets {
    addresses: KeyedPace<IpAddr>,
    system_ids: KeyedPace<Digest>,
}

#[derive(Default)]
struct Proven {
    digests: HashSet<Digest>,
    /// The oldest first.
    order: VecDeque<Digest>,
}

/// One attempt to bind: who says to be whom, from where.
pub(super) struct Attempt<'a> {
    pub(super) system_id: &'a [u8],
    pub(super) password: &'a [u8],
    /// What is stored of the password, if anybody has that name.
    pub(super) hash: Option<&'a str>,
    pub(super) from: IpAddr,
}

/// Too many wrong passwords; how long until the next may be tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct OverBudget {
    pub(super) why: &'static str,
    pub(super) wait: Duration,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Proof {
    Right,
    Wrong,
    /// Too many others are being checked.
    Busy,
    /// Our own trouble.
    Broken,
}

impl Guard {
    /// Fails where the system has no random bytes.
    pub(super) fn new(per_address: Allowance, per_system_id: Allowance) -> std::io::Result<Guard> {
        let mut key = [0; KEY_BYTES];
        getrandom::fill(&mut key).map_err(std::io::Error::other)?;
        let budgets =
            Budgets { addresses: KeyedPace::new(BUDGETS_MAX), system_ids: KeyedPace::new(BUDGETS_MAX) };
        Ok(Guard {
            key: Pepper::new(&key),
            per_address,
            per_system_id,
            budgets: Mutex::new(budgets),
            proven: Mutex::default(),
            hashing: Arc::new(Semaphore::new(HASHES_AT_ONCE)),
            waiting: Arc::new(Semaphore::new(HASHES_WAITING_MAX)),
        })
    }

    /// Takes the attempt from both budgets; [`Guard::give_back`] it when it was right. Strangers who fail for a name must
    /// not lock its owner out, so what was proven from an address is let past the name's budget there.
    pub(super) fn admit(&self, attempt: &Attempt<'_>, now: Timestamp) -> Result<(), OverBudget> {
        let (site, name) = (site_of(attempt.from), self.name(attempt.system_id));
        let mut budgets = lock(&self.budgets);
        let Budgets { addresses, system_ids } = &mut *budgets;
        addresses
            .admit(site, self.per_address, now)
            .map_err(|wait| OverBudget { why: "too many attempts from this address", wait })?;
        let Err(wait) = system_ids.admit(name, self.per_system_id, now) else { return Ok(()) };
        if self.remembers(attempt) {
            return Ok(());
        }
        Err(OverBudget { why: "too many attempts for this system_id", wait })
    }

    pub(super) fn give_back(&self, attempt: &Attempt<'_>) {
        let (site, name) = (site_of(attempt.from), self.name(attempt.system_id));
        let mut budgets = lock(&self.budgets);
        budgets.addresses.give_back(site, self.per_address);
        budgets.system_ids.give_back(name, self.per_system_id);
    }

    /// Whether the password is right, at the same cost whether there is such a name or not.
    pub(super) async fn prove(&self, world: &World, attempt: &Attempt<'_>) -> Proof {
        if self.remembers(attempt) {
            return Proof::Right;
        }
        let Ok(_waiting) = self.waiting.clone().try_acquire_owned() else { return Proof::Busy };
        let Ok(turn) = self.hashing.clone().acquire_owned().await else { return Proof::Broken };
        // Binds of one customer come together: the first has proven it for the others meanwhile.
        if self.remembers(attempt) {
            return Proof::Right;
        }
        let (pepper, password) = (world.pepper.clone(), attempt.password.to_vec());
        let hash = attempt.hash.map(str::to_owned);
        let hashed = tokio::task::spawn_blocking(move || {
            let _turn = turn;
            match hash {
                Some(hash) => passwords::matches(&pepper, &password, &hash),
                None => {
                    passwords::spend_as_much(&pepper, &password);
                    false
                }
            }
        });
        match hashed.await {
            Ok(true) => {
                self.remember(attempt);
                Proof::Right
            }
            Ok(false) => Proof::Wrong,
            Err(_) => Proof::Broken,
        }
    }

    fn remembers(&self, attempt: &Attempt<'_>) -> bool {
        self.digest(attempt).is_some_and(|digest| lock(&self.proven).digests.contains(&digest))
    }

    fn remember(&self, attempt: &Attempt<'_>) {
        let Some(digest) = self.digest(attempt) else { return };
        let mut proven = lock(&self.proven);
        let Proven { digests, order } = &mut *proven;
        if !digests.insert(digest) {
            return;
        }
        order.push_back(digest);
        if order.len() > PROVEN_MAX
            && let Some(oldest) = order.pop_front()
        {
            digests.remove(&oldest);
        }
    }

    /// With what is stored in it, so that a changed password is not remembered; with the address, so that nobody can try
    /// passwords against the memory from elsewhere.
    fn digest(&self, attempt: &Attempt<'_>) -> Option<Digest> {
        let Attempt { system_id, password, hash, from } = attempt;
        let site = site_of(*from).to_string();
        Some(self.key.derived(&[b"proven", system_id, password, (*hash)?.as_bytes(), site.as_bytes()]))
    }

    /// Names are of any octets; a digest is of one length.
    fn name(&self, system_id: &[u8]) -> Digest {
        self.key.derived(&[b"name", system_id])
    }
}

/// What is counted in memory is right even if somebody panicked while counting.
fn lock<T>(counted: &Mutex<T>) -> MutexGuard<'_, T> {
    counted.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    const THREE: Allowance = Allowance { most: 3, per: Duration::from_secs(60) };
    const NOW: Timestamp = Timestamp::from_millis(1_790_000_000_000);

    fn attempt(system_id: &'static str, last: u8) -> Attempt<'static> {
        let from = IpAddr::from([192, 0, 2, last]);
        Attempt { system_id: system_id.as_bytes(), password: b"secret08", hash: Some("hash"), from }
    }

    #[test]
    fn an_address_and_a_name_have_their_attempts_each() {
        let guard = Guard::new(THREE, THREE).unwrap();
        let told = |system_id, last| guard.admit(&attempt(system_id, last), NOW).map_err(|over| over.why);
        for system_id in ["a", "b", "c"] {
            assert_eq!(told(system_id, 1), Ok(()));
        }
        assert_eq!(told("d", 1), Err("too many attempts from this address"));
        assert_eq!(told("a", 2), Ok(()));
        assert_eq!(told("a", 3), Ok(()));
        assert_eq!(told("a", 4), Err("too many attempts for this system_id"));
        guard.give_back(&attempt("a", 3));
        assert_eq!(told("a", 4), Ok(()));
    }

    #[test]
    fn who_proved_it_from_there_before_is_not_locked_out_by_strangers() {
        let guard = Guard::new(Allowance { most: 100, ..THREE }, THREE).unwrap();
        guard.remember(&attempt("a", 1));
        for _ in 0..3 {
            guard.admit(&attempt("a", 9), NOW).unwrap();
        }
        assert_eq!(guard.admit(&attempt("a", 1), NOW), Ok(()));
        let over = OverBudget { why: "too many attempts for this system_id", wait: Duration::from_secs(20) };
        assert_eq!(guard.admit(&attempt("a", 2), NOW), Err(over), "from elsewhere nothing is known");
        let guessed = Attempt { password: b"secret09", ..attempt("a", 1) };
        assert_eq!(guard.admit(&guessed, NOW), Err(over), "another password is not known either");
        let rotated = Attempt { hash: Some("another"), ..attempt("a", 1) };
        assert_eq!(guard.admit(&rotated, NOW), Err(over), "nor is one that was changed since");
    }

    #[test]
    fn what_is_remembered_is_bounded() {
        let guard = Guard::new(THREE, THREE).unwrap();
        let names: Vec<String> = (0..PROVEN_MAX + 10).map(|number| number.to_string()).collect();
        let of = |name: &'static str| Attempt { system_id: name.as_bytes(), ..attempt("", 1) };
        for name in names {
            guard.remember(&of(Box::leak(name.into_boxed_str())));
        }
        assert_eq!(lock(&guard.proven).digests.len(), PROVEN_MAX);
        assert!(!guard.remembers(&of("9")) && guard.remembers(&of("10")));
    }
}
