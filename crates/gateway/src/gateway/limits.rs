//! The rate limits in memory. With several nodes each node tells the others ten times a second what it has admitted, and takes
//! what they have admitted from its own buckets: so a customer has about the same rate on three nodes as on one.

use super::Gateway;
use super::invitation_limit::{InvitationKeys, InvitationLimit};
use crate::listeners::limit_key_of;
use hermod_domain::ids::{AccountId, ConnectionId};
use hermod_domain::keyed_pace::{Allowance, KeyedPace};
use hermod_domain::pace::{Pace, Rate};
use hermod_domain::sign_in::SignIns;
use hermod_domain::time::Timestamp;
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use std::collections::{HashMap, VecDeque};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::net::IpAddr;
use std::time::Duration;

/// Wrong codes of a second factor that are admitted for one user, from all addresses: a guess is right once in 333,333 times.
const WRONG_CODES: Allowance = Allowance { most: 20, per: Duration::from_secs(3_600) };
/// Users whose wrong codes are counted.
const WRONG_CODES_USERS_MAX: usize = 10_000;
/// The default limit of failed sign-ins per address: ten at once, then one every six seconds.
const FAILED_SIGN_INS: Allowance = Allowance { most: 10, per: Duration::from_secs(60) };
/// Wrong passwords that are admitted for one user from all addresses that are not known. With 100 guesses an hour the commonest
/// passwords, which are refused, are all that could be tried.
const WRONG_PASSWORDS: Allowance = Allowance { most: 100, per: Duration::from_secs(3_600) };
/// Users, known or not, whose wrong passwords are counted.
const WRONG_PASSWORDS_USERS_MAX: usize = 100_000;
/// How long a wrong bind at another node is kept for the next bind here.
const WRONG_BINDS_COUNT_FOR: Duration = Duration::from_secs(60);
/// Failures that wait to be told to the other nodes. Beyond that they count on this node only.
const FAILURES_MAX: usize = 4_096;

/// The key of a sign-in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SignInKey<'a> {
    /// An API key, known or not; empty if the request had no readable one.
    Api(&'a str),
    /// The operator API.
    Operator,
    /// A user of the portal, known or not.
    User(&'a str),
    /// The second factor of a user.
    Code(u32),
    /// A link for another password.
    Reset,
}

/// What is left of a rate limit after a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RateLeft {
    pub limit: u32,
    pub remaining: u32,
    /// How long until the full limit is available.
    pub whole_in: Duration,
    /// How long to wait, if the request was over the limit.
    pub refused_for: Option<Duration>,
}

/// What a node has taken from a limit that all nodes share.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Use {
    Requests {
        connection: ConnectionId,
        per_second: u32,
        count: u32,
    },
    Submits {
        account: AccountId,
        per_second: u32,
        count: u32,
    },
    FailedSignIn {
        source: IpAddr,
        key: u64,
    },
    WrongCode {
        user: u32,
    },
    Invitation {
        keys: InvitationKeys,
    },
    /// The fingerprint of the user.
    WrongPassword {
        user: u64,
    },
    WrongBind(WrongBind),
}

/// A bind with a wrong password, or a malformed one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WrongBind {
    pub source: IpAddr,
    /// A digest of the `system_id`, if the attempt counts there.
    pub name: Option<[u8; 32]>,
}

pub(crate) struct Limits {
    /// A bucket per connection, shared by all its keys. Bounded by the number of connections.
    requests: Mutex<HashMap<ConnectionId, Bucket>>,
    /// A bucket per standard account, shared by all its binds. Bounded by the number of accounts.
    submits: Mutex<HashMap<AccountId, Bucket>>,
    sign_ins: Mutex<SignIns>,
    wrong_codes: Mutex<KeyedPace<u32>>,
    wrong_passwords: Mutex<KeyedPace<u64>>,
    invitations: Mutex<InvitationLimit>,
    /// Wrong binds at other nodes that the SMPP server has not counted yet.
    wrong_binds: Mutex<VecDeque<(Timestamp, WrongBind)>>,
    /// The failures that the other nodes have not been told; none without other nodes.
    failures: Option<Mutex<Vec<Use>>>,
    /// Makes the fingerprints of keys, the same ones on all nodes: it has hashed a secret of theirs.
    seeded: DefaultHasher,
}

struct Bucket {
    pace: Pace,
    /// Taken here, and not told to the other nodes.
    used: u32,
}

impl Bucket {
    fn full(rate: Rate, now: Timestamp) -> Bucket {
        Bucket { pace: Pace::full(rate, now), used: 0 }
    }
}

impl Limits {
    pub(super) fn new(seed: [u8; 32], is_shared: bool) -> Limits {
        let mut seeded = DefaultHasher::new();
        seed.hash(&mut seeded);
        Limits {
            requests: Mutex::default(),
            submits: Mutex::default(),
            sign_ins: Mutex::new(SignIns::new(FAILED_SIGN_INS)),
            wrong_codes: Mutex::new(KeyedPace::new(WRONG_CODES_USERS_MAX)),
            wrong_passwords: Mutex::new(KeyedPace::new(WRONG_PASSWORDS_USERS_MAX)),
            invitations: Mutex::default(),
            wrong_binds: Mutex::default(),
            failures: is_shared.then(Mutex::default),
            seeded,
        }
    }

    /// Sets the limit of failed sign-ins per address and minute.
    pub(crate) fn allow_failed_sign_ins(&mut self, a_minute: u32) {
        self.sign_ins = Mutex::new(SignIns::new(Allowance { most: a_minute, ..FAILED_SIGN_INS }));
    }

    fn fingerprint(&self, of: impl Hash) -> u64 {
        let mut hasher = self.seeded.clone();
        of.hash(&mut hasher);
        hasher.finish()
    }

    fn note_failure(&self, failure: Use) {
        if let Some(failures) = &self.failures {
            let mut failures = failures.lock();
            if failures.len() < FAILURES_MAX {
                failures.push(failure);
            }
        }
    }
}

impl Gateway {
    /// Takes one token from a connection's bucket.
    pub fn take_token(&self, connection: ConnectionId, per_second: u32) -> RateLeft {
        let now = self.clock.now();
        let rate = Rate::per_second(per_second.max(1)).unwrap_or_else(|_| {
            Rate::per_second(hermod_domain::pace::PER_SECOND_MAX).expect("the maximum is allowed")
        });
        let mut buckets = self.limits.requests.lock();
        let Bucket { pace, used } = buckets.entry(connection).or_insert_with(|| Bucket::full(rate, now));
        if pace.rate() != rate {
            *pace = Pace::full(rate, now);
        }
        let refused_for = pace.admit(now).err();
        *used = used.saturating_add(u32::from(refused_for.is_none()));
        // The bucket holds one second of tokens, so it is full a second after its debt is paid.
        let whole_in = Duration::from_secs(1) + pace.debt_paid_in();
        RateLeft { limit: rate.get(), remaining: pace.remaining(now), whole_in, refused_for }
    }

    /// Takes `count` tokens from an account's bucket, or none.
    pub fn take_submits(&self, account: AccountId, rate: Rate, count: u32) -> bool {
        let now = self.clock.now();
        let mut submits = self.limits.submits.lock();
        let Bucket { pace, used } = submits.entry(account).or_insert_with(|| Bucket::full(rate, now));
        if pace.rate() != rate {
            pace.change_rate(rate, now);
        }
        let taken = pace.take_all(count, now);
        // More than a burst counts as a burst.
        *used = used.saturating_add(if taken { count.min(rate.burst()) } else { 0 });
        taken
    }

    /// Counts a failed sign-in from an address. Fails with the time to wait if there were too many.
    pub fn fail_sign_in(&self, source: IpAddr, key: SignInKey<'_>) -> Result<(), Duration> {
        let (source, key) = (limit_key_of(source), self.limits.fingerprint(key));
        self.limits.note_failure(Use::FailedSignIn { source, key });
        self.limits.sign_ins.lock().fail(source, key, self.clock.now())
    }

    /// Admits valid credentials and marks their address as proven. Fails with the time to wait if the address is not
    /// proven yet and there were too many failed sign-ins with this key from it.
    pub fn pass_sign_in(
        &self,
        source: IpAddr,
        key: SignInKey<'_>,
        secret_digest: &str,
    ) -> Result<(), Duration> {
        let key_and_secret = self.limits.fingerprint((key, secret_digest));
        let key = self.limits.fingerprint(key);
        self.limits.sign_ins.lock().succeed(limit_key_of(source), key, key_and_secret, self.clock.now())
    }

    /// Returns how long an address must wait before its credentials are checked at all; none if they are checked now.
    pub fn wait_before_sign_in(
        &self,
        source: IpAddr,
        key: SignInKey<'_>,
        secret_digest: &str,
    ) -> Option<Duration> {
        let key_and_secret = self.limits.fingerprint((key, secret_digest));
        let key = self.limits.fingerprint(key);
        self.limits.sign_ins.lock().wait_before_attempt(
            limit_key_of(source),
            key,
            key_and_secret,
            self.clock.now(),
        )
    }

    /// Whether valid credentials came from this address within the last day.
    pub fn is_proven(&self, source: IpAddr, key: SignInKey<'_>, secret_digest: &str) -> bool {
        let key_and_secret = self.limits.fingerprint((key, secret_digest));
        self.limits.sign_ins.lock().is_proven(limit_key_of(source), key_and_secret, self.clock.now())
    }

    /// Counts a wrong code of a user's second factor.
    pub fn fail_code(&self, user: u32) {
        self.limits.note_failure(Use::WrongCode { user });
        // Over the limit no code is compared.
        let _ = self.limits.wrong_codes.lock().admit(user, WRONG_CODES, self.clock.now());
    }

    /// Returns how long a user must wait before a code is compared at all.
    pub fn wait_before_code(&self, user: u32) -> Option<Duration> {
        self.limits.wrong_codes.lock().wait(user, WRONG_CODES, self.clock.now())
    }

    /// Counts a wrong password of a user, known or not, from an address that the user has not signed in from.
    pub fn fail_password(&self, email: &str) {
        let user = self.limits.fingerprint(("password", email));
        self.limits.note_failure(Use::WrongPassword { user });
        // Over the limit no password is compared.
        let _ = self.limits.wrong_passwords.lock().admit(user, WRONG_PASSWORDS, self.clock.now());
    }

    /// Returns how long a user must wait before a password from an unknown address is compared at all.
    pub fn wait_before_password(&self, email: &str) -> Option<Duration> {
        let user = self.limits.fingerprint(("password", email));
        self.limits.wrong_passwords.lock().wait(user, WRONG_PASSWORDS, self.clock.now())
    }

    /// Takes an invitation or a link from the allowances of the account, the inviter and the recipient. Fails with the time to
    /// wait, and takes none, if one of them is used up.
    pub fn admit_invitation(
        &self,
        account: AccountId,
        inviter: &str,
        recipient: &str,
    ) -> Result<(), Duration> {
        let keys = [
            self.limits.fingerprint(("account", account)),
            self.limits.fingerprint(("inviter", inviter)),
            self.limits.fingerprint(("recipient", account, recipient)),
            self.limits.fingerprint(("recipient", recipient)),
        ];
        self.limits.invitations.lock().admit(keys, self.clock.now())?;
        self.limits.note_failure(Use::Invitation { keys });
        Ok(())
    }

    /// Tells the other nodes about a wrong bind.
    pub fn note_wrong_bind(&self, wrong: WrongBind) {
        self.limits.note_failure(Use::WrongBind(wrong));
    }

    /// Returns the wrong binds at other nodes since the last call, without old ones: they would all count as if they were new.
    pub fn take_wrong_binds(&self) -> Vec<WrongBind> {
        let counted_from = self.clock.now().minus(WRONG_BINDS_COUNT_FOR);
        let wrong_binds = std::mem::take(&mut *self.limits.wrong_binds.lock());
        wrong_binds.into_iter().filter(|(at, _)| *at > counted_from).map(|(_, wrong)| wrong).collect()
    }

    /// Returns the failed sign-ins that an address has left.
    pub fn sign_ins_left(&self, source: Option<IpAddr>) -> RateLeft {
        let sign_ins = self.limits.sign_ins.lock();
        let limit = sign_ins.allowance().most;
        let (remaining, whole_in) = match source {
            Some(source) => sign_ins.left(limit_key_of(source), self.clock.now()),
            None => (limit, Duration::ZERO),
        };
        RateLeft { limit, remaining, whole_in, refused_for: None }
    }

    /// Returns what this node has taken from the limits since the last call.
    pub(crate) fn take_used(&self) -> Vec<Use> {
        let mut uses =
            self.limits.failures.as_ref().map(|told| std::mem::take(&mut *told.lock())).unwrap_or_default();
        let requests = used(&self.limits.requests);
        uses.extend(requests.into_iter().map(|(connection, per_second, count)| Use::Requests {
            connection,
            per_second,
            count,
        }));
        let submits = used(&self.limits.submits);
        uses.extend(submits.into_iter().map(|(account, per_second, count)| Use::Submits {
            account,
            per_second,
            count,
        }));
        uses
    }

    /// Takes from the limits what another node has admitted.
    pub(crate) fn charge_used(&self, uses: Vec<Use>) {
        let now = self.clock.now();
        for one in uses {
            match one {
                Use::Requests { connection, per_second, count } => {
                    charge(&self.limits.requests, connection, per_second, count, now);
                }
                Use::Submits { account, per_second, count } => {
                    charge(&self.limits.submits, account, per_second, count, now);
                }
                // Over the limit there is nothing left to take.
                Use::FailedSignIn { source, key } => drop(self.limits.sign_ins.lock().fail(source, key, now)),
                Use::WrongCode { user } => drop(self.limits.wrong_codes.lock().admit(user, WRONG_CODES, now)),
                Use::WrongPassword { user } => {
                    let _ = self.limits.wrong_passwords.lock().admit(user, WRONG_PASSWORDS, now);
                }
                Use::Invitation { keys } => self.limits.invitations.lock().take(keys, now),
                Use::WrongBind(wrong) => {
                    let mut wrong_binds = self.limits.wrong_binds.lock();
                    if wrong_binds.len() == FAILURES_MAX {
                        wrong_binds.pop_front();
                    }
                    wrong_binds.push_back((now, wrong));
                }
            }
        }
    }
}

/// Returns what was taken from buckets since the last call, with their rates.
fn used<K: Copy>(buckets: &Mutex<HashMap<K, Bucket>>) -> Vec<(K, u32, u32)> {
    let mut buckets = buckets.lock();
    let used = buckets.iter_mut().filter(|(_, bucket)| bucket.used > 0);
    used.map(|(key, bucket)| (*key, bucket.pace.rate().get(), std::mem::take(&mut bucket.used))).collect()
}

fn charge<K: Eq + Hash>(
    buckets: &Mutex<HashMap<K, Bucket>>,
    key: K,
    per_second: u32,
    count: u32,
    now: Timestamp,
) {
    // Another node does not say a rate that is not allowed.
    let Ok(rate) = Rate::per_second(per_second) else { return };
    let mut buckets = buckets.lock();
    let bucket = buckets.entry(key).or_insert_with(|| Bucket::full(rate, now));
    bucket.pace.charge(count, now);
}
