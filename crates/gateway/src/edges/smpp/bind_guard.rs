//! What stands between a stranger and the work of checking a password: budgets, so that guessing is slow and hashing
//! cannot be ordered at will; a memory of credentials that were proven, so that customers who all come back at once cost
//! no hashing; and a queue that hashes two at a time (`hash_queue.rs`).

use super::hash_queue::{Acquaintance, HashQueue};
use crate::arrivals::site_of;
use crate::secrets::Pepper;
use crate::secrets::passwords;
use crate::world::World;
use hermod_domain::keyed_pace::{Allowance, KeyedPace};
use hermod_domain::time::Timestamp;
use metrics::counter;
use std::collections::{HashSet, VecDeque};
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Addresses and names whose failures are remembered; beyond that, those that failed least make room.
const BUDGETS_MAX: usize = 100_000;
/// Credentials and addresses that were proven; beyond that, the oldest are proven again.
const PROVEN_MAX: usize = 100_000;
const ADDRESS_SPENT: &str = "too many attempts from this address";
const KEY_BYTES: usize = 32;

type Digest = [u8; 32];

pub(super) struct Guard {
    /// Random, and only in the memory of this process: what is remembered is of no use to anybody else.
    key: Pepper,
    per_address: Allowance,
    per_system_id: Allowance,
    budgets: Mutex<Budgets>,
    proven: Mutex<Proven>,
    hashing: Arc<HashQueue>,
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

/// What the connection's allow-list says about an address. A name that nobody has has no list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Listing {
    NoList,
    Listed,
    /// It will not be let in, whatever its password.
    NotListed,
}

/// One attempt to bind: who says to be whom, from where.
pub(super) struct Attempt<'a> {
    pub(super) system_id: &'a [u8],
    pub(super) password: &'a [u8],
    /// What is stored of the password, if anybody has that name.
    pub(super) hash: Option<&'a str>,
    pub(super) from: IpAddr,
    pub(super) listing: Listing,
}

/// What an attempt was taken from, beside the budget of its address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Taken {
    from_name: bool,
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
            hashing: HashQueue::new(),
        })
    }

    /// Takes one from the budget of the address alone, for a bind whose fields cannot be right.
    pub(super) fn admit_address(&self, from: IpAddr, now: Timestamp) -> Result<(), OverBudget> {
        let admitted = lock(&self.budgets).addresses.admit(site_of(from), self.per_address, now);
        admitted.map_err(|wait| OverBudget { why: ADDRESS_SPENT, wait })
    }

    /// Takes the attempt from both budgets; [`Guard::give_back`] it when it was right. Strangers who fail for a name must
    /// not lock its owner out: what was proven from an address costs nothing of the name's budget, and addresses that are
    /// not on its allow-list share a budget of their own.
    pub(super) fn admit(&self, attempt: &Attempt<'_>, now: Timestamp) -> Result<Taken, OverBudget> {
        let (site, name) = (site_of(attempt.from), self.name(attempt));
        let mut budgets = lock(&self.budgets);
        let Budgets { addresses, system_ids } = &mut *budgets;
        addresses
            .admit(site, self.per_address, now)
            .map_err(|wait| OverBudget { why: ADDRESS_SPENT, wait })?;
        if self.remembers(attempt) {
            return Ok(Taken { from_name: false });
        }
        let admitted = system_ids.admit(name, self.per_system_id, now);
        admitted
            .map(|()| Taken { from_name: true })
            .map_err(|wait| OverBudget { why: "too many attempts for this system_id", wait })
    }

    pub(super) fn give_back(&self, attempt: &Attempt<'_>, taken: Taken) {
        let (site, name) = (site_of(attempt.from), self.name(attempt));
        let mut budgets = lock(&self.budgets);
        budgets.addresses.give_back(site, self.per_address);
        if taken.from_name {
            budgets.system_ids.give_back(name, self.per_system_id);
        }
    }

    /// Whether the password is right, at the same cost whether there is such a name or not.
    pub(super) async fn prove(&self, world: &World, attempt: &Attempt<'_>) -> Proof {
        if self.remembers(attempt) {
            return Proof::Right;
        }
        let Some(turn) = self.hashing.turn(self.acquaintance(attempt)).await else { return Proof::Busy };
        // Binds of one customer come together: the first has proven it for the others meanwhile.
        if self.remembers(attempt) {
            return Proof::Right;
        }
        let (pepper, password) = (world.pepper.clone(), attempt.password.to_vec());
        let hash = attempt.hash.map(str::to_owned);
        counter!("hermod_smpp_password_hashes_total").increment(1);
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

    fn acquaintance(&self, attempt: &Attempt<'_>) -> Acquaintance {
        let has_proven = || lock(&self.proven).contains(&self.address(attempt));
        if attempt.listing == Listing::Listed || has_proven() {
            Acquaintance::Known
        } else {
            Acquaintance::Stranger
        }
    }

    fn remembers(&self, attempt: &Attempt<'_>) -> bool {
        self.digest(attempt).is_some_and(|digest| lock(&self.proven).contains(&digest))
    }

    fn remember(&self, attempt: &Attempt<'_>) {
        let Some(digest) = self.digest(attempt) else { return };
        let mut proven = lock(&self.proven);
        proven.insert(digest);
        proven.insert(self.address(attempt));
    }

    /// With what is stored in it, so that a changed password is not remembered; with the address, so that nobody can try
    /// passwords against the memory from elsewhere.
    fn digest(&self, attempt: &Attempt<'_>) -> Option<Digest> {
        let Attempt { system_id, password, hash, from, .. } = attempt;
        let site = site_of(*from).to_string();
        Some(self.key.derived(&[b"proven", system_id, password, (*hash)?.as_bytes(), site.as_bytes()]))
    }

    fn address(&self, attempt: &Attempt<'_>) -> Digest {
        self.key.derived(&[b"address", site_of(attempt.from).to_string().as_bytes()])
    }

    /// The budget of a name. Names are of any octets; a digest is of one length.
    fn name(&self, attempt: &Attempt<'_>) -> Digest {
        let label: &[u8] = match attempt.listing {
            Listing::NoList | Listing::Listed => b"name",
            Listing::NotListed => b"name, from addresses that are not on its list",
        };
        self.key.derived(&[label, attempt.system_id])
    }
}

impl Proven {
    fn contains(&self, digest: &Digest) -> bool {
        self.digests.contains(digest)
    }

    fn insert(&mut self, digest: Digest) {
        let Proven { digests, order } = self;
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
        let listing = Listing::NoList;
        Attempt { system_id: system_id.as_bytes(), password: b"secret08", hash: Some("hash"), from, listing }
    }

    #[test]
    fn an_address_and_a_name_have_their_attempts_each() {
        let guard = Guard::new(THREE, THREE).unwrap();
        let told = |system_id, last| {
            guard.admit(&attempt(system_id, last), NOW).map(|_| ()).map_err(|over| over.why)
        };
        for system_id in ["a", "b", "c"] {
            assert_eq!(told(system_id, 1), Ok(()));
        }
        assert_eq!(told("d", 1), Err("too many attempts from this address"));
        assert_eq!(told("a", 2), Ok(()));
        assert_eq!(told("a", 3), Ok(()));
        assert_eq!(told("a", 4), Err("too many attempts for this system_id"));
        guard.give_back(&attempt("a", 3), Taken { from_name: true });
        assert_eq!(told("a", 4), Ok(()));
    }

    #[test]
    fn who_proved_it_from_there_before_is_not_locked_out_by_strangers() {
        let guard = Guard::new(Allowance { most: 100, ..THREE }, THREE).unwrap();
        guard.remember(&attempt("a", 1));
        for _ in 0..3 {
            guard.admit(&attempt("a", 9), NOW).unwrap();
        }
        assert_eq!(guard.admit(&attempt("a", 1), NOW), Ok(Taken { from_name: false }));
        let over = OverBudget { why: "too many attempts for this system_id", wait: Duration::from_secs(20) };
        assert_eq!(guard.admit(&attempt("a", 2), NOW), Err(over), "from elsewhere nothing is known");
        let guessed = Attempt { password: b"secret09", ..attempt("a", 1) };
        assert_eq!(guard.admit(&guessed, NOW), Err(over), "another password is not known either");
        let rotated = Attempt { hash: Some("another"), ..attempt("a", 1) };
        assert_eq!(guard.admit(&rotated, NOW), Err(over), "nor is one that was changed since");
    }

    #[test]
    fn attempts_from_unlisted_addresses_leave_the_owners_budget_alone() {
        let guard = Guard::new(Allowance { most: 100, ..THREE }, THREE).unwrap();
        let listed = |listing, last| Attempt { listing, ..attempt("a", last) };
        let told =
            |listing, last| guard.admit(&listed(listing, last), NOW).map(|_| ()).map_err(|over| over.why);
        let spent = Err("too many attempts for this system_id");
        for stranger in 10..13 {
            assert_eq!(told(Listing::NotListed, stranger), Ok(()));
        }
        assert_eq!(told(Listing::NotListed, 13), spent, "together they have one budget");
        for _ in 0..3 {
            assert_eq!(told(Listing::Listed, 1), Ok(()), "the owner has its own");
        }
        assert_eq!(told(Listing::Listed, 1), spent);
        guard.give_back(&listed(Listing::NotListed, 10), Taken { from_name: true });
        assert_eq!((told(Listing::Listed, 1), told(Listing::NotListed, 14)), (spent, Ok(())));
    }

    #[test]
    fn listed_addresses_and_those_that_proved_themselves_are_known() {
        let guard = Guard::new(THREE, THREE).unwrap();
        guard.remember(&attempt("a", 1));
        for (system_id, last, listing, expect) in [
            ("a", 1, Listing::NoList, Acquaintance::Known),
            ("b", 1, Listing::NotListed, Acquaintance::Known),
            ("b", 2, Listing::Listed, Acquaintance::Known),
            ("a", 2, Listing::NoList, Acquaintance::Stranger),
            ("a", 2, Listing::NotListed, Acquaintance::Stranger),
        ] {
            let found = guard.acquaintance(&Attempt { listing, ..attempt(system_id, last) });
            assert_eq!(found, expect, "{system_id} from {last}, {listing:?}");
        }
    }

    #[test]
    fn what_is_remembered_is_bounded() {
        let guard = Guard::new(THREE, THREE).unwrap();
        // The one address takes a place too.
        let names: Vec<String> = (0..PROVEN_MAX + 9).map(|number| number.to_string()).collect();
        let of = |name: &'static str| Attempt { system_id: name.as_bytes(), ..attempt("", 1) };
        for name in names {
            guard.remember(&of(Box::leak(name.into_boxed_str())));
        }
        assert_eq!(lock(&guard.proven).digests.len(), PROVEN_MAX);
        assert!(!guard.remembers(&of("9")) && guard.remembers(&of("10")));
    }
}
