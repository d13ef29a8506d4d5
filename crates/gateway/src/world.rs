//! The shared state of a gateway: clock, store, current catalogue, status board, and the rate limits in memory.

mod changing;
mod setup;

use crate::board::{
    AlarmKind, Alarms, Binds, CarrierBoard, EXPORTS_MAX, FEEDS_MAX, InboundPolls, KeyUses, MailQueue, Probes,
    RequestLog, Slots, WebhookTests,
};
use crate::clock::Clock;
use crate::http::body_memory::{BODY_MEMORY_MAX, BodyMemory};
use crate::listeners::limit_key_of;
use crate::secrets::Pepper;
use arc_swap::ArcSwap;
use hermod_domain::catalogue::Catalogue;
use hermod_domain::ids::{AccountId, ConnectionId};
use hermod_domain::keyed_pace::{Allowance, KeyedPace};
use hermod_domain::monotonic_clock::ClockObservation;
use hermod_domain::pace::{Pace, Rate};
use hermod_domain::phone::Msisdn;
use hermod_domain::sign_in::SignIns;
use hermod_domain::traffic::{Admitted, Control, Velocity};
use hermod_domain::webhook::url::AddressRules;
use hermod_store::record::Scope;
use hermod_store::{LogSize, Store};
use metrics::gauge;
use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::watch;

/// Wrong codes of a second factor that are admitted for one user, from all addresses: a guess is right once in 333,333 times.
const WRONG_CODES: Allowance = Allowance { most: 20, per: Duration::from_secs(3_600) };
/// Users whose wrong codes are counted.
const WRONG_CODES_USERS_MAX: usize = 10_000;
/// The default limit of failed sign-ins per address: ten at once, then one every six seconds.
const FAILED_SIGN_INS: Allowance = Allowance { most: 10, per: Duration::from_secs(60) };

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

pub struct World {
    pub clock: Clock,
    pub store: Store,
    pub pepper: Pepper,
    /// The state of carriers and links.
    pub carriers: CarrierBoard,
    /// Conditions that need the operator.
    pub alarms: Alarms,
    /// The binds of customers.
    pub binds: Binds,
    /// Test messages to carriers.
    pub probes: Probes,
    /// The last use of each API key.
    pub key_uses: KeyUses,
    /// Test events to customers' webhooks.
    pub webhook_tests: WebhookTests,
    /// How much of the request log is used up.
    pub request_log: RequestLog,
    /// Exports of the record that are running.
    pub exports: Slots<Scope>,
    /// Live feeds of the portal that are open, by user.
    pub feeds: Slots<u32>,
    /// How far customers have polled their MO messages.
    pub inbound_polls: InboundPolls,
    /// Mails to users.
    pub mail: MailQueue,
    /// The longest validity of a message.
    pub validity: Duration,
    /// Held during a catalogue change of this node.
    pub(crate) changing: tokio::sync::Mutex<()>,
    catalogue: ArcSwap<Catalogue>,
    /// Increases with every new catalogue, for subscribers.
    catalogues: watch::Sender<u64>,
    /// A bucket per connection, shared by all its keys. Bounded by the number of connections.
    buckets: Mutex<HashMap<ConnectionId, Pace>>,
    /// A bucket per standard account, shared by all its binds. Bounded by the number of accounts.
    submits: Mutex<HashMap<AccountId, Pace>>,
    /// Recent messages per recipient and number range.
    velocity: Mutex<Velocity>,
    watched: Mutex<HashMap<(AccountId, Arc<str>), u64>>,
    sign_ins: Mutex<SignIns>,
    wrong_codes: Mutex<KeyedPace<u32>>,
    /// Makes the fingerprints of keys, with a random seed of this process.
    fingerprints: RandomState,
    /// The memory limit of request bodies.
    pub body_memory: BodyMemory,
    draining: AtomicBool,
    /// The rules for webhook addresses.
    pub webhook_rules: AddressRules,
    /// The address of the web pages, without a slash at its end.
    pub portal_url: String,
    pub smpp_server: SmppServer,
}

/// What customers need to know of the SMPP server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SmppServer {
    /// The port without TLS, if it is served.
    pub plain_port: Option<u16>,
    /// The port with TLS, if it is served.
    pub tls_port: Option<u16>,
    /// A bind without a PDU for this long is closed.
    pub idle_timeout: Duration,
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

impl World {
    pub fn new(
        clock: Clock,
        store: Store,
        pepper: Pepper,
        catalogue: Catalogue,
        validity: Duration,
    ) -> World {
        let catalogue = Arc::new(catalogue);
        store.set_catalogue(catalogue.clone());
        World {
            clock,
            store,
            pepper,
            carriers: CarrierBoard::default(),
            alarms: Alarms::default(),
            binds: Binds::default(),
            probes: Probes::default(),
            key_uses: KeyUses::default(),
            webhook_tests: WebhookTests::default(),
            request_log: RequestLog::default(),
            exports: Slots::of(EXPORTS_MAX),
            feeds: Slots::of(FEEDS_MAX),
            inbound_polls: InboundPolls::default(),
            mail: MailQueue::default(),
            validity,
            changing: tokio::sync::Mutex::default(),
            catalogue: ArcSwap::new(catalogue),
            catalogues: watch::Sender::new(0),
            buckets: Mutex::default(),
            submits: Mutex::default(),
            velocity: Mutex::default(),
            watched: Mutex::default(),
            sign_ins: Mutex::new(SignIns::new(FAILED_SIGN_INS)),
            wrong_codes: Mutex::new(KeyedPace::new(WRONG_CODES_USERS_MAX)),
            fingerprints: RandomState::new(),
            body_memory: BodyMemory::new(BODY_MEMORY_MAX),
            draining: AtomicBool::new(false),
            webhook_rules: AddressRules::default(),
            portal_url: String::new(),
            smpp_server: SmppServer::default(),
        }
    }

    pub fn catalogue(&self) -> Arc<Catalogue> {
        self.catalogue.load_full()
    }

    pub fn set_catalogue(&self, catalogue: Catalogue) {
        let catalogue = Arc::new(catalogue);
        self.store.set_catalogue(catalogue.clone());
        self.catalogue.store(catalogue);
        self.catalogues.send_modify(|count| *count += 1);
    }

    /// Returns a receiver that is notified of new catalogues.
    pub fn catalogue_changes(&self) -> watch::Receiver<u64> {
        self.catalogues.subscribe()
    }

    /// Counts a message towards the account's traffic controls. Returns the control that rejects it, if any.
    pub fn admit_traffic(&self, account: AccountId, controls: &[Control], to: Msisdn) -> Admitted {
        if controls.is_empty() {
            return Admitted::default();
        }
        let now = self.clock.now();
        lock(&self.velocity).admit(account, controls, to, now)
    }

    /// Returns the traffic control that would reject a message now, and for how long. Counts nothing.
    pub fn traffic_refusal(
        &self,
        account: AccountId,
        controls: &[Control],
        to: Msisdn,
    ) -> Option<(Arc<str>, Duration)> {
        lock(&self.velocity).refusal(account, controls, to, self.clock.now())
    }

    /// Reverts [`World::admit_traffic`] for a message that was not accepted.
    pub fn give_traffic_back(
        &self,
        account: AccountId,
        controls: &[Control],
        to: Msisdn,
        watched: &[Arc<str>],
    ) {
        if !controls.is_empty() {
            lock(&self.velocity).give_back(account, controls, to, watched);
        }
    }

    /// Counts a message over the limit of a control in mode `watch`.
    pub fn would_have_refused(&self, account: AccountId, control: &Arc<str>) {
        *lock(&self.watched).entry((account, control.clone())).or_default() += 1;
    }

    /// Returns how often a watching control was exceeded since the start.
    pub fn times_watched(&self, account: AccountId, control: &Arc<str>) -> u64 {
        lock(&self.watched).get(&(account, control.clone())).copied().unwrap_or(0)
    }

    /// Takes one token from a connection's bucket.
    pub fn take_token(&self, connection: ConnectionId, per_second: u32) -> RateLeft {
        let now = self.clock.now();
        let rate = Rate::per_second(per_second.max(1)).unwrap_or_else(|_| {
            Rate::per_second(hermod_domain::pace::PER_SECOND_MAX).expect("the maximum is allowed")
        });
        let mut buckets = lock(&self.buckets);
        let bucket = buckets.entry(connection).or_insert_with(|| Pace::full(rate, now));
        if bucket.rate() != rate {
            *bucket = Pace::full(rate, now);
        }
        let refused_for = bucket.admit(now).err();
        // The bucket holds one second of tokens, so it is full after at most a second.
        let whole_in = Duration::from_secs(1);
        RateLeft { limit: rate.get(), remaining: bucket.remaining(now), whole_in, refused_for }
    }

    /// Takes `count` tokens from an account's bucket, or none.
    pub fn take_submits(&self, account: AccountId, rate: Rate, count: u32) -> bool {
        let now = self.clock.now();
        let mut submits = lock(&self.submits);
        let bucket = submits.entry(account).or_insert_with(|| Pace::full(rate, now));
        if bucket.rate() != rate {
            bucket.change_rate(rate, now);
        }
        bucket.take_all(count, now)
    }

    /// Counts a failed sign-in from an address. Fails with the time to wait if there were too many.
    pub fn fail_sign_in(&self, source: IpAddr, key: SignInKey<'_>) -> Result<(), Duration> {
        let key = self.fingerprints.hash_one(key);
        lock(&self.sign_ins).fail(limit_key_of(source), key, self.clock.now())
    }

    /// Admits valid credentials and marks their address as proven. Fails with the time to wait if the address is not
    /// proven yet and there were too many failed sign-ins with this key from it.
    pub fn pass_sign_in(
        &self,
        source: IpAddr,
        key: SignInKey<'_>,
        secret_digest: &str,
    ) -> Result<(), Duration> {
        let key_and_secret = self.fingerprints.hash_one((key, secret_digest));
        let key = self.fingerprints.hash_one(key);
        lock(&self.sign_ins).succeed(limit_key_of(source), key, key_and_secret, self.clock.now())
    }

    /// Returns how long an address must wait before its credentials are checked at all; none if they are checked now.
    pub fn wait_before_sign_in(
        &self,
        source: IpAddr,
        key: SignInKey<'_>,
        secret_digest: &str,
    ) -> Option<Duration> {
        let key_and_secret = self.fingerprints.hash_one((key, secret_digest));
        let key = self.fingerprints.hash_one(key);
        lock(&self.sign_ins).wait_before_attempt(limit_key_of(source), key, key_and_secret, self.clock.now())
    }

    /// Counts a wrong code of a user's second factor.
    pub fn fail_code(&self, user: u32) {
        // Over the limit no code is compared.
        let _ = lock(&self.wrong_codes).admit(user, WRONG_CODES, self.clock.now());
    }

    /// Returns how long a user must wait before a code is compared at all.
    pub fn wait_before_code(&self, user: u32) -> Option<Duration> {
        lock(&self.wrong_codes).wait(user, WRONG_CODES, self.clock.now())
    }

    /// Returns the failed sign-ins that an address has left.
    pub fn sign_ins_left(&self, source: Option<IpAddr>) -> RateLeft {
        let sign_ins = lock(&self.sign_ins);
        let limit = sign_ins.allowance().most;
        let (remaining, whole_in) = match source {
            Some(source) => sign_ins.left(limit_key_of(source), self.clock.now()),
            None => (limit, Duration::ZERO),
        };
        RateLeft { limit, remaining, whole_in, refused_for: None }
    }

    /// Follows the machine's clock, and raises an alarm while it has jumped.
    pub fn follow_machine_clock(&self) {
        let observed = self.clock.observe();
        let seconds = (observed.ahead_ms() / 1_000).clamp(i32::MIN.into(), i32::MAX.into());
        gauge!("hermod_clock_ahead_seconds").set(i32::try_from(seconds).expect("clamped to it"));
        let cause = (observed != ClockObservation::InStep).then(|| {
            let (apart, way) = apart(observed.ahead_ms());
            let detail = format!(
                "the machine's clock jumped and is {apart} {way} Hermod's clock, which follows it by at most 10 % (restart to \
                 adopt it at once)"
            );
            (String::new(), detail)
        });
        self.alarms.replace(AlarmKind::ClockJumped, "", cause.as_slice(), self.clock.now());
    }

    /// Raises an alarm while the write-ahead log is too large.
    pub fn watch_store_log(&self) {
        let LogSize { bytes, overgrown } = self.store.log_size();
        let mebibytes = u32::try_from(bytes >> 20).unwrap_or(u32::MAX);
        gauge!("hermod_store_log_bytes").set(f64::from(mebibytes) * 1_048_576.0);
        if overgrown {
            let detail = format!(
                "the write-ahead log (hermod.db-wal) has {mebibytes} MiB and keeps growing, because another program holds a \
                 read transaction open"
            );
            self.alarms.raise(AlarmKind::StoreLogLarge, "", "", &detail, self.clock.now());
        } else {
            self.alarms.clear(AlarmKind::StoreLogLarge, "");
        }
    }

    /// Rejects new messages from now on, so that accepted ones can be finished.
    pub fn start_draining(&self) {
        self.draining.store(true, Ordering::Release);
    }

    pub fn is_draining(&self) -> bool {
        self.draining.load(Ordering::Acquire)
    }
}

/// The counts stay valid if a thread panicked while holding the lock.
fn lock<T>(counted: &Mutex<T>) -> MutexGuard<'_, T> {
    counted.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Describes the difference between two clocks.
fn apart(ahead_ms: i64) -> (String, &'static str) {
    let seconds = ahead_ms.unsigned_abs() / 1_000;
    let (days, hours, minutes) = (seconds / 86_400, seconds / 3_600 % 24, seconds / 60 % 60);
    let apart = match (days, hours, minutes) {
        (0, 0, 0) => format!("{seconds} s"),
        (0, 0, minutes) => format!("{minutes} min {} s", seconds % 60),
        (0, hours, minutes) => format!("{hours} h {minutes} min"),
        (days, hours, _) => format!("{days} d {hours} h"),
    };
    (apart, if ahead_ms < 0 { "behind" } else { "ahead of" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clock_difference_is_described() {
        for (ahead_ms, actual) in [
            (1_000, "1 s ahead of"),
            (-5_999, "5 s behind"),
            (61_000, "1 min 1 s ahead of"),
            (-3_600_000, "1 h 0 min behind"),
            (86_400_000, "1 d 0 h ahead of"),
            (i64::MIN, "106751991167 d 7 h behind"),
        ] {
            let (apart, way) = apart(ahead_ms);
            assert_eq!(format!("{apart} {way}"), actual);
        }
    }
}
