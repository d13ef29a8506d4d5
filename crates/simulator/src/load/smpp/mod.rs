//! Load over SMPP: binds that submit through a window, answer every receipt, and keep account of both. Nothing is
//! sent before all binds stand; after the last answer the receipts are waited for, and then all unbind.

mod bind;
pub mod idle;
mod messages;
mod receipt_matcher;
mod report;
mod tally;
mod target;

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use hermod_smpp::BindType;
use hermod_smpp::session::ClientConfig;
use thiserror::Error;
use tokio::sync::{Notify, watch};
use tokio::task::JoinHandle;

pub use messages::{FormRefusal, MessageForm, SmppMessages};
pub use report::{ReceiptCounts, SmppLoadReport, SmppRunFacts};
pub use target::{BindError, SmppTarget, SmppVersion, TlsTrust};

use crate::load::live::LiveCounters;
use crate::load::pacer::{Pacer, SendPermits};
use crate::load::schedule::SendSchedule;
pub use crate::load::schedule::{Bound, BoundRefusal, SendPace, Stopper};
use crate::runtime;
use bind::Bind;
use receipt_matcher::ReceiptMatcher;

/// Binds of a run.
pub const BINDS_MAX: u32 = 10_000;
/// Messages without a response per bind.
pub const WINDOW_MAX: u32 = 10_000;

/// Receipts without a response. They get one at once, so this only has to be large enough.
const RECEIPTS_OPEN_MAX: u32 = 10_000;
/// Octets read at a time, about.
const READ_BYTES: usize = 64 * 1024;
/// Output beyond which nothing more is read.
const OUTPUT_BYTES_MAX: usize = 1024 * 1024;

/// The number of binds of each type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct BindNumbers {
    pub transceivers: u32,
    pub transmitters: u32,
    pub receivers: u32,
}

impl BindNumbers {
    fn kinds(self) -> impl Iterator<Item = BindType> {
        // Receivers first, because receipts may arrive after the first message.
        let kinds = [
            (BindType::Receiver, self.receivers),
            (BindType::Transceiver, self.transceivers),
            (BindType::Transmitter, self.transmitters),
        ];
        kinds.into_iter().flat_map(|(kind, count)| (0..count).map(move |_| kind))
    }

    fn senders(self) -> u32 {
        self.transceivers.saturating_add(self.transmitters)
    }

    fn all(self) -> u32 {
        self.senders().saturating_add(self.receivers)
    }
}

/// Options of a run.
#[derive(Clone)]
pub struct SmppLoadOptions {
    pub target: SmppTarget,
    pub binds: BindNumbers,
    /// Messages without a response per bind.
    pub window: u32,
    pub pace: SendPace,
    pub bound: Bound,
    pub messages: SmppMessages,
    /// Index of the first message.
    pub first: u64,
    /// Time to wait for a response.
    pub response_wait_max: Duration,
    /// Time to wait for receipts after the last response.
    pub receipt_wait_max: Duration,
    /// Idle time before an `enquire_link`.
    pub enquire_after: Duration,
}

impl SmppLoadOptions {
    /// One transceiver that keeps a window of 100 full, with default limits.
    pub fn new(target: SmppTarget, messages: SmppMessages, bound: Bound) -> SmppLoadOptions {
        SmppLoadOptions {
            target,
            binds: BindNumbers { transceivers: 1, ..BindNumbers::default() },
            window: 100,
            pace: SendPace::ClosedLoop,
            bound,
            messages,
            first: 0,
            response_wait_max: Duration::from_secs(30),
            receipt_wait_max: Duration::from_secs(30),
            enquire_after: Duration::from_secs(30),
        }
    }

    fn config(&self) -> ClientConfig {
        let ms = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        let mut config = ClientConfig::standard();
        config.bind_ms = ms(self.response_wait_max);
        let limits = &mut config.limits;
        limits.window_max = self.window;
        limits.peer_window_max = RECEIPTS_OPEN_MAX;
        limits.response_ms = ms(self.response_wait_max);
        limits.enquire_idle_ms = Some(ms(self.enquire_after));
        limits.read_chunk_bytes = READ_BYTES;
        limits.output_bytes_max = OUTPUT_BYTES_MAX;
        config
    }
}

/// Why a run cannot start.
#[derive(Debug, Error)]
pub enum LoadStartError {
    #[error("at least one transceiver or transmitter is needed, and at most {BINDS_MAX} binds are allowed")]
    BadBinds,
    #[error("the window must have between 1 and {WINDOW_MAX} messages")]
    BadWindow,
    #[error(transparent)]
    Bind(#[from] BindError),
}

/// The state that all binds share.
struct Shared {
    options: SmppLoadOptions,
    schedule: Arc<SendSchedule>,
    /// Permits of an open loop.
    permits: Option<SendPermits>,
    live: Arc<LiveCounters>,
    matcher: Mutex<ReceiptMatcher>,
    /// Binds with messages to send or responses to wait for.
    sending: AtomicU32,
    /// Binds that may receive.
    receiving: AtomicU32,
    /// Notified when one of the two decreases and when the last receipt arrives.
    progress: Notify,
}

/// A running load.
pub struct SmppRun {
    shared: Arc<Shared>,
    pacer: Option<Pacer>,
    binds: Vec<JoinHandle<()>>,
    /// Tells the binds to unbind.
    over: watch::Sender<bool>,
    cpu_before: Duration,
}

/// Opens all binds, then starts to send.
pub async fn start(options: SmppLoadOptions) -> Result<SmppRun, LoadStartError> {
    let binds = options.binds;
    if binds.senders() == 0 || binds.all() > BINDS_MAX {
        return Err(LoadStartError::BadBinds);
    }
    if !(1..=WINDOW_MAX).contains(&options.window) {
        return Err(LoadStartError::BadWindow);
    }
    let mut drivers = Vec::new();
    for kind in binds.kinds() {
        drivers.push((kind, options.target.bind(kind, options.config()).await?));
    }
    let receiving = binds.transceivers + binds.receivers;
    let wants_receipts = receiving > 0 && options.messages.want_receipts();
    let cpu_before = runtime::cpu_time();
    let started = runtime::now();
    let schedule =
        Arc::new(SendSchedule::new(options.pace, options.bound, started, options.response_wait_max));
    let pacer = options.pace.per_second().map(|_| Pacer::start(Arc::clone(&schedule), binds.senders()));
    let shared = Arc::new(Shared {
        schedule,
        permits: pacer.as_ref().map(Pacer::permits),
        live: Arc::new(LiveCounters::new(started)),
        matcher: Mutex::new(ReceiptMatcher::new(started, wants_receipts)),
        sending: AtomicU32::new(binds.senders()),
        receiving: AtomicU32::new(receiving),
        progress: Notify::new(),
        options,
    });
    let (over, ended) = watch::channel(false);
    let binds = drivers
        .into_iter()
        .map(|(kind, driver)| {
            runtime::spawn(Bind::new(Arc::clone(&shared), kind, driver, ended.clone()).run())
        })
        .collect();
    Ok(SmppRun { shared, pacer, binds, over, cpu_before })
}

/// Starts a run and waits for its end.
pub async fn run(options: SmppLoadOptions) -> Result<SmppLoadReport, LoadStartError> {
    Ok(start(options).await?.finish().await)
}

impl SmppRun {
    /// Counters of the run.
    pub fn live(&self) -> Arc<LiveCounters> {
        Arc::clone(&self.shared.live)
    }

    /// Returns a handle that ends the run early.
    pub fn stopper(&self) -> Stopper {
        Stopper(Arc::clone(&self.shared.schedule))
    }

    /// Waits for the last response, then for the receipts, and unbinds.
    pub async fn finish(self) -> SmppLoadReport {
        let SmppRun { shared, pacer, binds, over, cpu_before } = self;
        while shared.sending.load(Relaxed) > 0 {
            shared.progress.notified().await;
        }
        let give_up = runtime::now() + shared.options.receipt_wait_max;
        while shared.receiving.load(Relaxed) > 0 && shared.missing_receipts() > 0 {
            if tokio::time::timeout_at(give_up.into(), shared.progress.notified()).await.is_err() {
                break;
            }
        }
        // All binds may have ended.
        let _ = over.send(true);
        for bind in binds {
            bind.await.expect("a bind's task does not panic");
        }
        let unsent = shared.schedule.unsent();
        if let Some(pacer) = pacer {
            shared.schedule.stop();
            pacer.finish();
        }
        let cpu = runtime::cpu_time().saturating_sub(cpu_before);
        let shared = Arc::into_inner(shared).expect("all binds have ended");
        let tally = shared.matcher.into_inner().expect("no holder of the matcher panics").close();
        let SmppLoadOptions { binds, window, pace, .. } = shared.options;
        let target_per_second = pace.per_second();
        tally.finish(SmppRunFacts { binds: binds.all(), window, target_per_second }, unsent, cpu)
    }
}

impl Shared {
    fn missing_receipts(&self) -> usize {
        self.matcher.lock().expect("no holder of the matcher panics").missing_receipts()
    }
}
