//! A simulated carrier (SMSC) that behaves as its script says and records all traffic. It outlives the gateways that bind to
//! it: ids continue, receipts wait for the next bind, and those without a response are sent again.

/// Declares builder methods, one a line: each sets a field, adds a rule to one, or calls another method.
macro_rules! builders {
    ($type:ident $(
        $(#[$meta:meta])*
        $name:ident($($argument:ident: $argument_type:ty),*) = $verb:ident $($field:ident).+($($value:expr),*);
    )*) => {
        impl $type {
            $(
                $(#[$meta])*
                #[must_use]
                pub fn $name(mut self $(, $argument: $argument_type)*) -> $type {
                    builders!(@$verb self, $($field).+, $($value),*);
                    self
                }
            )*
        }
    };
    (@set $this:ident, $($field:ident).+, $value:expr) => { $this.$($field).+ = $value };
    (@add $this:ident, $($field:ident).+, $($value:expr),*) => { $this.$($field).+.add($($value),*) };
    (@call $this:ident, $method:ident, $($value:expr),*) => { $this = $this.$method($($value),*) };
}

mod bound_links;
mod connection;
mod delay_queue;
mod ids;
mod link;
mod listener;
mod mo;
mod outbox;
mod outcome;
mod plan;
mod rate_limit;
mod receipt;
mod receipt_format;
mod record;
mod response_quirk;
mod rules;
mod script;
mod socket;
mod submit;
mod submit_filter;
mod text;

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use hermod_domain::time::Timestamp;
use hermod_smpp::Moment;
use tokio::sync::{Notify, watch};
use tokio::task::JoinHandle;

pub use bound_links::BindCount;
pub use ids::{FirstId, IdFormat, IdStyle};
pub use mo::{MO_WAITING_MAX, MoPart, MoText};
pub use outcome::{Outcome, ReceiptLink, Receipts};
pub use plan::{Decision, Excess, FollowUp, PlannedResponse, ScriptPlan, SubmitView};
pub use receipt_format::{DateDigits, ReceiptFormat, TextPlace};
pub use record::{
    BindAttempt, CarrierRecord, DETAILED_MAX, LinkEntry, MoSent, ReceiptSent, ReceivedMessage,
    ReceivedSubmit, RecordCounts, RecordMode, RecordedResponse, WaitTimeout,
};
pub use response_quirk::ResponseQuirk;
pub use script::{MAGIC_NUMBERS, MagicNumber, MoReply, Script, SubmitAction, WriteMode};
pub use socket::ServerTls;
pub use submit_filter::SubmitFilter;
pub use text::{CodingZeroAlphabet, PartNumber};

use crate::runtime;
use bound_links::BoundLinks;
use listener::Listener;
use outbox::DeliveryQueue;
use record::Log;

/// Connections at one time; further ones are closed at once.
pub const LINKS_MAX: usize = 256;

/// Options of a carrier.
#[derive(Debug, Clone)]
pub struct CarrierOptions {
    /// Port 0 selects a free one.
    pub listen: SocketAddr,
    pub script: Script,
    /// Seed of all random decisions.
    pub seed: u64,
    pub record: RecordMode,
    pub first_id: FirstId,
    /// Receipts without a response on one link.
    pub receipt_window: u32,
    /// Pending receipts, about 120 bytes each. At the limit, submits that ask for a receipt are rejected with 0x14
    /// (message queue full).
    pub receipts_max: usize,
    /// Uses TLS on every link.
    pub tls: Option<ServerTls>,
    /// The socket's receive buffer; a small one fills quickly while a link stalls.
    pub receive_buffer_bytes: Option<u32>,
}

impl CarrierOptions {
    /// Options for a test: a free port on the loopback, a full record.
    pub fn new(script: Script) -> CarrierOptions {
        CarrierOptions {
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
            script,
            seed: 0,
            record: RecordMode::Full,
            first_id: FirstId::Clock,
            receipt_window: 500,
            receipts_max: 1_000_000,
            tls: None,
            receive_buffer_bytes: None,
        }
    }
}

/// A running carrier. Dropping it cuts all connections; `stop` unbinds and closes them.
pub struct SimulatedCarrier {
    address: SocketAddr,
    shared: Arc<Shared>,
    is_open: watch::Receiver<bool>,
    listening: Option<JoinHandle<()>>,
}

/// The state that all links share.
struct Shared {
    started: Instant,
    core: Mutex<Core>,
    orders: watch::Sender<Orders>,
    /// Wakes the links when deliveries were queued that another link must send.
    deliveries_ready: Notify,
    record: CarrierRecord,
    receipt_window: u32,
}

/// The state that a link locks once per batch.
struct Core {
    plan: ScriptPlan,
    outbox: DeliveryQueue,
    bound_links: BoundLinks,
}

/// What a link works with while it processes a batch of events: the shared state, locked once per batch, and the time of the
/// batch.
struct LinkContext<'a> {
    plan: &'a mut ScriptPlan,
    outbox: &'a mut DeliveryQueue,
    bound_links: &'a mut BoundLinks,
    log: &'a mut Log,
    now: Instant,
    moment: Moment,
    /// Time since the carrier started.
    at: Duration,
    /// The date in receipts.
    date: Timestamp,
}

/// Orders of the carrier to its links and its listener.
#[derive(Debug, Clone, Copy, Default)]
struct Orders {
    stop: bool,
    /// How often all links were ordered to be cut.
    cuts: u64,
    /// How often all links were ordered to unbind.
    unbinds: u64,
    /// How often all links were ordered to stall, and until when the last time.
    stalls: u64,
    stalled_until: Option<Instant>,
    /// The port is to be closed.
    down: bool,
    /// How often the script was changed.
    scripts: u64,
}

impl SimulatedCarrier {
    /// Listens and serves until stopped.
    pub async fn start(options: CarrierOptions) -> io::Result<SimulatedCarrier> {
        let CarrierOptions { listen, script, seed, record, first_id, receipt_window, receipts_max, .. } =
            options;
        let CarrierOptions { tls, receive_buffer_bytes, .. } = options;
        let listener = listener::listen(listen, receive_buffer_bytes)?;
        let address = listener.local_addr()?;
        let first_id = match first_id {
            FirstId::At(id) => id,
            FirstId::Clock => {
                u64::try_from(runtime::unix_time().as_micros()).expect("until the year 586,912")
            }
        };
        let (orders, obeyed) = watch::channel(Orders::default());
        let shared = Arc::new(Shared {
            started: runtime::now(),
            core: Mutex::new(Core {
                plan: ScriptPlan::new(script, seed, first_id),
                outbox: DeliveryQueue::new(receipts_max),
                bound_links: BoundLinks::default(),
            }),
            orders,
            deliveries_ready: Notify::new(),
            record: CarrierRecord::new(record),
            receipt_window,
        });
        let (opened, is_open) = watch::channel(true);
        let accepting = Listener {
            shared: Arc::clone(&shared),
            address,
            tls,
            receive_buffer_bytes,
            orders: obeyed,
            is_open: opened,
        };
        let listening = Some(runtime::spawn(accepting.run(listener)));
        Ok(SimulatedCarrier { address, shared, is_open, listening })
    }

    pub fn addr(&self) -> SocketAddr {
        self.address
    }

    pub fn record(&self) -> CarrierRecord {
        self.shared.record.clone()
    }

    /// Starts another script, which also applies to open links.
    pub fn set_script(&self, script: Script) {
        let at = self.shared.since_start(runtime::now());
        self.shared.core().plan.set_script(script, at);
        self.shared.deliveries_ready.notify_waiters();
        self.shared.orders.send_modify(|orders| orders.scripts += 1);
    }

    /// Receipts without a final response of the gateway: waiting or in flight.
    pub fn receipts_pending(&self) -> usize {
        self.shared.core().outbox.receipts_pending()
    }

    /// Queues MO parts: [`MoText::parts`] of a text, in any order, or raw parts. Each is sent over the link it names, or
    /// over the first that may receive, and again until it gets a response.
    ///
    /// # Panics
    /// When more than [`MO_WAITING_MAX`] parts are queued.
    pub fn send_mo_parts(&self, parts: impl IntoIterator<Item = MoPart>) {
        let now = runtime::now();
        let mut core = self.shared.core();
        let fits = parts.into_iter().all(|part| core.outbox.push_mo(now, part));
        drop(core);
        assert!(fits, "{MO_WAITING_MAX} MO parts are queued already");
        self.shared.deliveries_ready.notify_waiters();
    }

    /// Sends a text as an MO message; the same text twice is two messages. Returns its number of parts.
    ///
    /// # Errors
    /// When more than [`MO_WAITING_MAX`] parts are queued.
    pub fn send_mo(&self, from: &str, to: &str, text: &str) -> Result<usize, String> {
        let now = runtime::now();
        let mut core = self.shared.core();
        let id = core.plan.next_id();
        // Carriers write numbers without a plus.
        let [from, to] = [from, to].map(|number| number.trim_start_matches('+'));
        let parts = MoText::new(from, to, text).numbered(id).parts();
        let count = parts.len();
        let fits = parts.into_iter().all(|part| core.outbox.push_mo(now, part));
        drop(core);
        self.shared.deliveries_ready.notify_waiters();
        if fits { Ok(count) } else { Err(format!("{MO_WAITING_MAX} MO parts are queued already")) }
    }

    /// Cuts all open connections. New ones are accepted.
    pub fn cut_links(&self) {
        self.shared.orders.send_modify(|orders| orders.cuts += 1);
    }

    /// Unbinds all open links, also those with open requests. New ones are accepted.
    pub fn unbind_links(&self) {
        self.shared.orders.send_modify(|orders| orders.unbinds += 1);
    }

    /// Neither reads nor writes the open links for this long.
    pub fn stall_links(&self, time: Duration) {
        let until = runtime::now() + time;
        self.shared.orders.send_modify(|orders| {
            orders.stalls += 1;
            orders.stalled_until = Some(until);
        });
    }

    /// Cuts all links and refuses connections until [`SimulatedCarrier::reopen_port`]. Returns when the last link has ended.
    pub async fn close_port(&self) {
        self.shared.orders.send_modify(|orders| orders.down = true);
        self.wait_for_port(false).await;
    }

    /// Listens again, on the same port.
    pub async fn reopen_port(&self) {
        self.shared.orders.send_modify(|orders| orders.down = false);
        self.wait_for_port(true).await;
    }

    async fn wait_for_port(&self, open: bool) {
        let mut is_open = self.is_open.clone();
        is_open.wait_for(|is| *is == open).await.expect("the listener runs as long as the carrier");
    }

    /// Unbinds all links, closes the port and waits for the last link to end: a few seconds at most.
    pub async fn stop(mut self) {
        self.shared.orders.send_modify(|orders| orders.stop = true);
        if let Some(listening) = self.listening.take() {
            listening.await.expect("the carrier's tasks do not panic");
        }
    }
}

impl Drop for SimulatedCarrier {
    fn drop(&mut self) {
        if let Some(listening) = &self.listening {
            listening.abort();
        }
    }
}

impl Shared {
    fn core(&self) -> MutexGuard<'_, Core> {
        self.core.lock().expect("no holder of the lock panics")
    }

    fn moment(&self, now: Instant) -> Moment {
        let ms = self.since_start(now).as_millis();
        Moment(u64::try_from(ms).unwrap_or(u64::MAX))
    }

    fn instant(&self, moment: Moment) -> Instant {
        self.started + Duration::from_millis(moment.0)
    }

    fn since_start(&self, now: Instant) -> Duration {
        now.saturating_duration_since(self.started)
    }
}
