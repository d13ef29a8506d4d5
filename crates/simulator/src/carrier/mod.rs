//! A carrier (SMSC) that does what its script says and remembers what it saw. It outlives the gateways that bind to
//! it: ids go on, receipts wait for the next bind, and those that were not answered are sent again.

mod bound_links;
mod connection;
mod context;
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
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use hermod_smpp::Moment;
use tokio::sync::{Notify, watch};
use tokio::task::JoinHandle;

pub use bound_links::BindCount;
pub use ids::{FirstId, IdFormat, IdStyle};
pub use mo::{MO_WAITING_MAX, MoPart, MoText};
pub use outcome::{Outcome, ReceiptLink, Receipts};
pub use plan::{Decision, Excess, FollowUp, Plan, Response, SubmitView};
pub use receipt_format::{DateDigits, ReceiptFormat, TextPlace};
pub use record::{
    BindAttempt, Counts, DETAILED_MAX, LinkEntry, MoSent, ReceiptSent, ReceivedMessage, Record, RecordMode,
    Submit, SubmitResponse, WaitTimeout,
};
pub use response_quirk::ResponseQuirk;
pub use script::{MAGIC_NUMBERS, MagicNumber, MoReply, Script, SubmitAction, WriteMode};
pub use socket::Tls;
pub use submit_filter::SubmitFilter;
pub use text::{Alphabet, Part};

use crate::runtime;
use bound_links::BoundLinks;
use listener::Listener;
use outbox::Outbox;

/// Connections at one time; more are closed as they come.
pub const LINKS_MAX: usize = 256;

/// A carrier to start.
#[derive(Debug, Clone)]
pub struct CarrierOptions {
    /// Port 0 takes any free one.
    pub listen: SocketAddr,
    pub script: Script,
    /// Decides everything that is left to chance.
    pub seed: u64,
    pub record: RecordMode,
    pub first_id: FirstId,
    /// Receipts a link may have unanswered.
    pub receipt_window: u32,
    /// Receipts kept for later at most, about 120 bytes each. When they are reached, submits that ask for more are
    /// refused with 0x14, as a carrier does whose queue is full.
    pub receipts_max: usize,
    /// Every link speaks TLS.
    pub tls: Option<Tls>,
    /// The socket's receive buffer; small ones fill soon while a link stalls.
    pub receive_buffer_bytes: Option<u32>,
}

impl CarrierOptions {
    /// A carrier for a test: any free port on the loopback, a full record.
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

/// A running carrier. Dropping it cuts everything at once; `stop` ends it in good order.
pub struct Carrier {
    address: SocketAddr,
    shared: Arc<Shared>,
    is_open: watch::Receiver<bool>,
    listening: Option<JoinHandle<()>>,
}

/// What all links share.
struct Shared {
    started: Instant,
    core: Mutex<Core>,
    orders: watch::Sender<Orders>,
    /// Receipts have come that another link than the one they were submitted on may send.
    receipts_ready: Notify,
    record: Record,
    receipt_window: u32,
}

/// What decides and what waits: locked together, once for each batch.
struct Core {
    plan: Plan,
    outbox: Outbox,
    bound_links: BoundLinks,
}

/// What the carrier tells its links.
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
    /// The door is to be closed.
    down: bool,
    /// How often the script was changed.
    scripts: u64,
}

impl Carrier {
    /// Listens and serves until stopped.
    pub async fn start(options: CarrierOptions) -> io::Result<Carrier> {
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
                plan: Plan::new(script, seed, first_id),
                outbox: Outbox::new(receipts_max),
                bound_links: BoundLinks::default(),
            }),
            orders,
            receipts_ready: Notify::new(),
            record: Record::new(record),
            receipt_window,
        });
        let (opened, is_open) = watch::channel(true);
        let door = Listener {
            shared: Arc::clone(&shared),
            address,
            tls,
            receive_buffer_bytes,
            orders: obeyed,
            is_open: opened,
        };
        let listening = Some(runtime::spawn(door.attend(listener)));
        Ok(Carrier { address, shared, is_open, listening })
    }

    pub fn addr(&self) -> SocketAddr {
        self.address
    }

    pub fn record(&self) -> Record {
        self.shared.record.clone()
    }

    /// Plays another script from its beginning, on open links too.
    pub fn set_script(&self, script: Script) {
        let at = self.shared.since_start(runtime::now());
        self.shared.core.lock().expect("no holder of the plan panics").plan.set_script(script, at);
        self.shared.receipts_ready.notify_waiters();
        self.shared.orders.send_modify(|orders| orders.scripts += 1);
    }

    /// Receipts that the gateway has not taken yet: waiting or in flight.
    pub fn receipts_unsettled(&self) -> usize {
        self.shared.core.lock().expect("no holder of the plan panics").outbox.unsettled()
    }

    /// Handsets say something: [`MoText::parts`] of a text, in any order, or raw parts. Each goes over the link it
    /// names, or the first that may receive, and again until it is answered.
    ///
    /// # Panics
    /// When more than [`MO_WAITING_MAX`] wait for a link.
    pub fn send_mo_parts(&self, parts: impl IntoIterator<Item = MoPart>) {
        let now = runtime::now();
        let mut core = self.shared.core.lock().expect("no holder of the plan panics");
        let fits = parts.into_iter().all(|part| core.outbox.say(now, part));
        drop(core);
        assert!(fits, "{MO_WAITING_MAX} messages wait for a link already");
        self.shared.receipts_ready.notify_waiters();
    }

    /// A handset sends a text; one that is sent twice is two messages. Returns how many parts it has.
    ///
    /// # Errors
    /// When more than [`MO_WAITING_MAX`] wait for a link.
    pub fn send_mo(&self, from: &str, to: &str, text: &str) -> Result<usize, String> {
        let now = runtime::now();
        let mut core = self.shared.core.lock().expect("no holder of the plan panics");
        let id = core.plan.take_id();
        // Carriers write numbers without a plus.
        let [from, to] = [from, to].map(|number| number.trim_start_matches('+'));
        let parts = MoText::new(from, to, text).numbered(id).parts();
        let count = parts.len();
        let fits = parts.into_iter().all(|part| core.outbox.say(now, part));
        drop(core);
        self.shared.receipts_ready.notify_waiters();
        if fits { Ok(count) } else { Err(format!("{MO_WAITING_MAX} messages wait for a link already")) }
    }

    /// Cuts every open connection in the middle of whatever it is doing. New ones are welcome.
    pub fn cut_links(&self) {
        self.shared.orders.send_modify(|orders| orders.cuts += 1);
    }

    /// Unbinds every open link, whatever is unanswered on it. New ones are welcome.
    pub fn unbind_links(&self) {
        self.shared.orders.send_modify(|orders| orders.unbinds += 1);
    }

    /// Neither reads nor writes on the open links for so long.
    pub fn stall_links(&self, time: Duration) {
        let until = runtime::now() + time;
        self.shared.orders.send_modify(|orders| {
            orders.stalls += 1;
            orders.stalled_until = Some(until);
        });
    }

    /// Cuts all links and refuses connections until [`Carrier::reopen_port`]; done when the last link is gone.
    pub async fn close_port(&self) {
        self.shared.orders.send_modify(|orders| orders.down = true);
        self.wait_for_door(false).await;
    }

    /// Listens again, on the same port.
    pub async fn reopen_port(&self) {
        self.shared.orders.send_modify(|orders| orders.down = false);
        self.wait_for_door(true).await;
    }

    async fn wait_for_door(&self, open: bool) {
        let mut is_open = self.is_open.clone();
        is_open.wait_for(|is| *is == open).await.expect("the door is kept as long as the carrier runs");
    }

    /// Unbinds every link, closes the door, and waits for the last link to end: a few seconds at most.
    pub async fn stop(mut self) {
        self.shared.orders.send_modify(|orders| orders.stop = true);
        if let Some(listening) = self.listening.take() {
            listening.await.expect("the carrier's tasks do not panic");
        }
    }
}

impl Drop for Carrier {
    fn drop(&mut self) {
        if let Some(listening) = &self.listening {
            listening.abort();
        }
    }
}

impl Shared {
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
