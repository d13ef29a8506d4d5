//! Protects the password check of binds: attempt limits per address and per system_id, so that guessing is slow and
//! hashing is bounded; a cache of verified credentials, so that customers who reconnect together need no hashing; and
//! a queue that computes two hashes at a time (`hash_queue.rs`). Several nodes tell each other about wrong binds, so that the limits
//! hold over all of them.

use super::hash_queue::{CallerKind, HashQueue};
use crate::gateway::{Gateway, WrongBind};
use crate::listeners::limit_key_of;
use crate::secrets::Pepper;
use crate::secrets::passwords;
use hermod_domain::keyed_pace::{Allowance, KeyedPace};
use hermod_domain::time::Timestamp;
use metrics::counter;
use parking_lot::Mutex;
use std::collections::{HashMap, HashSet, VecDeque};
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{Mutex as AsyncMutex, OwnedMutexGuard};

/// Addresses and system_ids with failed attempts. When the table is full, those with the fewest failures are dropped.
const LIMITS_MAX: usize = 100_000;
/// Verified credentials and addresses. When the cache is full, the oldest are dropped.
const VERIFIED_MAX: usize = 100_000;
const ADDRESS_SPENT: &str = "too many attempts from this address";
const KEY_BYTES: usize = 32;
/// For the digests of `system_id`s. No secret, because all nodes must have the same: only failed attempts are counted by them.
const NAMES_KEY: [u8; KEY_BYTES] = [0; KEY_BYTES];

type Digest = [u8; 32];

pub(super) struct BindGuard {
    /// Random and only in memory: digests in the cache are useless outside this process.
    key: Pepper,
    names: Pepper,
    per_address: Allowance,
    per_system_id: Allowance,
    limits: Mutex<AttemptLimits>,
    verified: Mutex<VerifiedCache>,
    /// Of the credentials that are being checked.
    checking: Mutex<HashMap<Digest, Arc<AsyncMutex<()>>>>,
    hashing: Arc<HashQueue>,
}

struct AttemptLimits {
    addresses: KeyedPace<IpAddr>,
    system_ids: KeyedPace<Digest>,
}

#[derive(Default)]
struct VerifiedCache {
    digests: HashSet<Digest>,
    /// The oldest first.
    order: VecDeque<Digest>,
}

/// What the connection's allow-list says about an address. An unknown system_id has no list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Listing {
    NoList,
    Listed,
    /// It is rejected with any password.
    NotListed,
}

/// One attempt to bind.
pub(super) struct GuardedBind<'a> {
    pub(super) system_id: &'a [u8],
    pub(super) password: &'a [u8],
    /// The stored hashes of the valid passwords; none if the system_id does not exist.
    pub(super) hashes: &'a [&'a str],
    pub(super) from: IpAddr,
    pub(super) listing: Listing,
}

/// The turn of a bind among those with the same credentials. Dropping it admits the next one.
pub(super) struct CredentialsTurn<'g> {
    guard: &'g BindGuard,
    digest: Digest,
    turn: Arc<AsyncMutex<()>>,
    /// None while it waits.
    held: Option<OwnedMutexGuard<()>>,
}

/// Which limits an attempt was taken from, besides that of its address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TakenAttempt {
    from_name: bool,
}

/// Too many wrong passwords, and how long until the next attempt is allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct OverLimit {
    pub(super) why: &'static str,
    pub(super) wait: Duration,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PasswordCheck {
    /// It has the hash at this position of the attempt.
    Right(usize),
    Wrong,
    /// Too many password checks are waiting.
    Busy,
    /// The check failed for an internal reason.
    Broken,
}

impl BindGuard {
    /// Fails where the system has no random bytes.
    pub(super) fn new(per_address: Allowance, per_system_id: Allowance) -> std::io::Result<BindGuard> {
        let mut key = [0; KEY_BYTES];
        getrandom::fill(&mut key).map_err(std::io::Error::other)?;
        let limits =
            AttemptLimits { addresses: KeyedPace::new(LIMITS_MAX), system_ids: KeyedPace::new(LIMITS_MAX) };
        Ok(BindGuard {
            key: Pepper::new(&key),
            names: Pepper::new(&NAMES_KEY),
            per_address,
            per_system_id,
            limits: Mutex::new(limits),
            verified: Mutex::default(),
            checking: Mutex::default(),
            hashing: HashQueue::new(),
        })
    }

    /// Takes an attempt from the limit of the address alone, for a malformed bind.
    pub(super) fn admit_address(&self, from: IpAddr, now: Timestamp) -> Result<(), OverLimit> {
        let admitted = self.limits.lock().addresses.admit(limit_key_of(from), self.per_address, now);
        admitted.map_err(|wait| OverLimit { why: ADDRESS_SPENT, wait })
    }

    /// Waits until no other bind is checked with the same unverified credentials. When all binds of a customer come back at once,
    /// the first verifies the password for all of them, and the others do not use up the limits meanwhile. None if the
    /// credentials are verified.
    pub(super) async fn turn(&self, attempt: &GuardedBind<'_>) -> Option<CredentialsTurn<'_>> {
        if self.remembered(attempt).is_some() {
            return None;
        }
        let digest = self.digest(attempt, "");
        let turn = self.checking.lock().entry(digest).or_default().clone();
        let mut waiting = CredentialsTurn { guard: self, digest, turn, held: None };
        waiting.held = Some(waiting.turn.clone().lock_owned().await);
        Some(waiting)
    }

    /// Whether no credentials are being checked.
    #[cfg(test)]
    pub(super) fn is_idle(&self) -> bool {
        self.checking.lock().is_empty()
    }

    /// Takes the attempt from the limits of its address and its system_id. Call [`BindGuard::give_back`] if the password
    /// was right. Failed attempts of strangers must not lock the owner out: cached credentials cost nothing of the
    /// system_id's limit, and addresses that are not on its allow-list share a separate limit.
    pub(super) fn admit(&self, attempt: &GuardedBind<'_>, now: Timestamp) -> Result<TakenAttempt, OverLimit> {
        let (site, name) = (limit_key_of(attempt.from), self.name(attempt));
        let mut limits = self.limits.lock();
        let AttemptLimits { addresses, system_ids } = &mut *limits;
        addresses
            .admit(site, self.per_address, now)
            .map_err(|wait| OverLimit { why: ADDRESS_SPENT, wait })?;
        if self.remembered(attempt).is_some() {
            return Ok(TakenAttempt { from_name: false });
        }
        let admitted = system_ids.admit(name, self.per_system_id, now);
        admitted
            .map(|()| TakenAttempt { from_name: true })
            .map_err(|wait| OverLimit { why: "too many attempts for this system_id", wait })
    }

    pub(super) fn give_back(&self, attempt: &GuardedBind<'_>, taken: TakenAttempt) {
        let (site, name) = (limit_key_of(attempt.from), self.name(attempt));
        let mut limits = self.limits.lock();
        limits.addresses.give_back(site, self.per_address);
        if taken.from_name {
            limits.system_ids.give_back(name, self.per_system_id);
        }
    }

    /// Returns an attempt with a wrong password in the form in which other nodes count it.
    pub(super) fn wrong_bind(&self, attempt: &GuardedBind<'_>, taken: TakenAttempt) -> WrongBind {
        let name = taken.from_name.then(|| self.name(attempt));
        WrongBind { source: limit_key_of(attempt.from), name }
    }

    /// Takes an attempt at another node from the limits. Over the limit there is nothing left to take.
    pub(super) fn charge(&self, WrongBind { source, name }: WrongBind, now: Timestamp) {
        let mut limits = self.limits.lock();
        let _ = limits.addresses.admit(source, self.per_address, now);
        if let Some(name) = name {
            let _ = limits.system_ids.admit(name, self.per_system_id, now);
        }
    }

    /// Checks the password, at the same cost whether the system_id exists or not.
    pub(super) async fn check_password(&self, gateway: &Gateway, attempt: &GuardedBind<'_>) -> PasswordCheck {
        if let Some(position) = self.remembered(attempt) {
            return PasswordCheck::Right(position);
        }
        let Some(turn) = self.hashing.turn(self.caller_kind(attempt)).await else {
            return PasswordCheck::Busy;
        };
        // Another bind of the same customer may have verified it meanwhile.
        if let Some(position) = self.remembered(attempt) {
            return PasswordCheck::Right(position);
        }
        let (pepper, password) = (gateway.pepper.clone(), attempt.password.to_vec());
        let hashes: Vec<String> = attempt.hashes.iter().map(|hash| (*hash).to_owned()).collect();
        counter!("hermod_smpp_password_hashes_total").increment(1);
        let hashed = tokio::task::spawn_blocking(move || {
            let _turn = turn;
            passwords::matching(&pepper, &password, &hashes)
        });
        match hashed.await {
            Ok(Some(position)) => {
                self.remember(attempt, position);
                PasswordCheck::Right(position)
            }
            Ok(None) => PasswordCheck::Wrong,
            Err(_) => PasswordCheck::Broken,
        }
    }

    fn caller_kind(&self, attempt: &GuardedBind<'_>) -> CallerKind {
        let has_verified = || self.verified.lock().contains(&self.address(attempt));
        if attempt.listing == Listing::Listed || has_verified() {
            CallerKind::Known
        } else {
            CallerKind::Stranger
        }
    }

    /// Returns the position of the hash that these credentials were verified with before.
    fn remembered(&self, attempt: &GuardedBind<'_>) -> Option<usize> {
        let digests: Vec<Digest> = attempt.hashes.iter().map(|hash| self.digest(attempt, hash)).collect();
        let verified = self.verified.lock();
        digests.iter().position(|digest| verified.contains(digest))
    }

    fn remember(&self, attempt: &GuardedBind<'_>, position: usize) {
        let Some(hash) = attempt.hashes.get(position) else { return };
        let digest = self.digest(attempt, hash);
        let mut verified = self.verified.lock();
        verified.insert(digest);
        verified.insert(self.address(attempt));
    }

    /// Returns the cache key of an attempt. It includes the stored hash, so that a changed password misses, and the
    /// address, so that passwords cannot be guessed against the cache from elsewhere.
    fn digest(&self, attempt: &GuardedBind<'_>, hash: &str) -> Digest {
        let GuardedBind { system_id, password, from, .. } = attempt;
        let site = limit_key_of(*from).to_string();
        self.key.derived(&[b"verified", system_id, password, hash.as_bytes(), site.as_bytes()])
    }

    fn address(&self, attempt: &GuardedBind<'_>) -> Digest {
        self.key.derived(&[b"address", limit_key_of(attempt.from).to_string().as_bytes()])
    }

    /// Returns the key of the system_id's limit. A digest, because a system_id may be any octets.
    fn name(&self, attempt: &GuardedBind<'_>) -> Digest {
        let label: &[u8] = match attempt.listing {
            Listing::NoList | Listing::Listed => b"name",
            Listing::NotListed => b"name, from addresses that are not on its list",
        };
        self.names.derived(&[label, attempt.system_id])
    }
}

impl Drop for CredentialsTurn<'_> {
    fn drop(&mut self) {
        drop(self.held.take());
        let mut checking = self.guard.checking.lock();
        // The map and this turn have it; whoever waits has it too.
        if Arc::strong_count(&self.turn) <= 2 {
            checking.remove(&self.digest);
        }
    }
}

impl VerifiedCache {
    fn contains(&self, digest: &Digest) -> bool {
        self.digests.contains(digest)
    }

    fn insert(&mut self, digest: Digest) {
        let VerifiedCache { digests, order } = self;
        if !digests.insert(digest) {
            return;
        }
        order.push_back(digest);
        if order.len() > VERIFIED_MAX
            && let Some(oldest) = order.pop_front()
        {
            digests.remove(&oldest);
        }
    }
}

#[cfg(test)]
#[path = "bind_guard_tests.rs"]
mod tests;
