//! The shared state of a gateway: clock, store, current catalogue, live status, and the rate limits in memory.

mod changing;
mod holding;
mod invitation_limit;
mod limits;

pub use changing::{ChangingAlone, LoadCatalogueError, load_catalogue};
pub use holding::hold_in_words;
use limits::Limits;
pub use limits::{RateLeft, SignInKey, Use, WrongBind};

use crate::clock::Clock;
use crate::http::body_memory::{BODY_MEMORY_MAX, BodyMemory};
use crate::live_status::{
    AccountTraffic, AlarmKind, Alarms, Binds, CreditRejections, EXPORTS_MAX, FEEDS_MAX, InboundPolls,
    KeyUses, LiveCarriers, LossMaking, MailQueue, PendingQueries, Probes, RequestLog, Slots, WatchedControls,
    WebhookPosting, WebhookTests,
};
use crate::secrets::Pepper;
use arc_swap::ArcSwap;
use hermod_domain::catalogue::Catalogue;
use hermod_domain::hold::Hold;
use hermod_domain::monotonic_clock::ClockObservation;
use hermod_domain::screen::SplitMessages;
use hermod_domain::shown_number::ShownNumbers;
use hermod_domain::webhook::url::AddressRules;
use hermod_store::record::Scope;
use hermod_store::{LogSize, Store};
use metrics::gauge;
use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

pub struct Gateway {
    pub clock: Clock,
    pub store: Store,
    pub pepper: Pepper,
    /// The state of carriers and links.
    pub carriers: LiveCarriers,
    /// Conditions that need the operator.
    pub alarms: Alarms,
    /// The messages of each account, for metrics.
    pub account_traffic: AccountTraffic,
    /// Accounts whose messages were rejected for lack of credit.
    pub credit_rejections: CreditRejections,
    /// Accounts and routes whose messages leave too little.
    pub losses: LossMaking,
    /// The binds of customers.
    pub binds: Binds,
    /// Test messages to carriers.
    pub probes: Probes,
    /// The last use of each API key.
    pub key_uses: KeyUses,
    /// Test events to customers' webhooks.
    pub webhook_tests: WebhookTests,
    /// What other nodes say about posting webhooks.
    pub webhook_posting: WebhookPosting,
    /// How much of the request log is used up.
    pub request_log: RequestLog,
    /// How often watching controls were exceeded.
    pub watched: WatchedControls,
    /// Exports of the record that are running.
    pub exports: Slots<Scope>,
    /// Live feeds of the portal that are open, by user.
    pub feeds: Slots<u32>,
    /// How far customers have polled their MO messages.
    pub inbound_polls: InboundPolls,
    /// Questions to other nodes that wait for answers.
    pub node_queries: PendingQueries,
    /// Cancelled when an operator wants this node to stop.
    pub stop_wanted: CancellationToken,
    /// Mails to users.
    pub mail: MailQueue,
    /// The longest validity of a message.
    pub validity: Duration,
    /// Held during a catalogue change of this node.
    pub(crate) changing: tokio::sync::Mutex<()>,
    catalogue: ArcSwap<Catalogue>,
    /// None while nothing is held.
    hold: watch::Sender<Option<Hold>>,
    /// Increases with every new catalogue, and when the gateway is held or released, for subscribers.
    catalogues: watch::Sender<u64>,
    pub(crate) limits: Limits,
    /// Parts of messages that customers have split, for screening.
    pub split_messages: Mutex<SplitMessages>,
    /// The memory limit of request bodies.
    pub body_memory: BodyMemory,
    stop_announced: AtomicBool,
    draining: AtomicBool,
    /// The rules for webhook addresses; the default is public https only.
    pub webhook_rules: AddressRules,
    /// The address of the web pages, without a slash at its end.
    pub portal_url: String,
    /// How customers see numbers that are counted over all accounts.
    pub numbers: ShownNumbers,
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

impl Gateway {
    pub fn new(
        clock: Clock,
        store: Store,
        pepper: Pepper,
        catalogue: Catalogue,
        validity: Duration,
    ) -> Gateway {
        let catalogue = Arc::new(catalogue);
        store.set_catalogue(catalogue.clone());
        let account_traffic = AccountTraffic::default();
        account_traffic.follow(&catalogue);
        let limits = Limits::new(pepper.limits_seed(), store.cluster().has_nodes());
        Gateway {
            numbers: ShownNumbers::new(pepper.shown_numbers_key()),
            clock,
            store,
            pepper,
            carriers: LiveCarriers::default(),
            alarms: Alarms::default(),
            account_traffic,
            credit_rejections: CreditRejections::default(),
            losses: LossMaking::default(),
            binds: Binds::default(),
            probes: Probes::default(),
            key_uses: KeyUses::default(),
            webhook_tests: WebhookTests::default(),
            webhook_posting: WebhookPosting::default(),
            request_log: RequestLog::default(),
            watched: WatchedControls::default(),
            exports: Slots::of(EXPORTS_MAX),
            feeds: Slots::of(FEEDS_MAX),
            inbound_polls: InboundPolls::default(),
            mail: MailQueue::default(),
            validity,
            changing: tokio::sync::Mutex::default(),
            catalogue: ArcSwap::new(catalogue),
            hold: watch::Sender::new(None),
            catalogues: watch::Sender::new(0),
            limits,
            split_messages: Mutex::default(),
            node_queries: PendingQueries::default(),
            stop_wanted: CancellationToken::new(),
            body_memory: BodyMemory::new(BODY_MEMORY_MAX),
            stop_announced: AtomicBool::new(false),
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
        self.account_traffic.follow(&catalogue);
        self.catalogue.store(catalogue);
        self.catalogues.send_modify(|count| *count += 1);
    }

    /// Returns a receiver that is notified of new catalogues.
    pub fn catalogue_changes(&self) -> watch::Receiver<u64> {
        self.catalogues.subscribe()
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

    /// Tells load balancers that this gateway will stop. It serves as before meanwhile.
    pub fn announce_stop(&self) {
        self.stop_announced.store(true, Ordering::Release);
    }

    /// Whether a load balancer should send customers elsewhere.
    pub fn is_stop_announced(&self) -> bool {
        self.stop_announced.load(Ordering::Acquire) || self.is_draining()
    }

    /// Rejects new messages from now on, so that accepted ones can be finished.
    pub fn start_draining(&self) {
        self.draining.store(true, Ordering::Release);
    }

    pub fn is_draining(&self) -> bool {
        self.draining.load(Ordering::Acquire)
    }
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
