//! A carrier (SMSC) that does what its script says and remembers what it saw. It outlives the gateways that bind to
//! it: ids go on, receipts wait for the next bind, and those that were not answered are sent again.

mod due;
mod ids;
mod link;
mod outbox;
mod outcome;
mod plan;
mod receipt;
mod record;
mod script;
mod submit;
mod text;
mod when;
mod wire;

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use hermod_smpp::Moment;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Notify, watch};
use tokio::task::{JoinHandle, JoinSet};

pub use ids::{FirstId, IdFormat, IdStyle};
pub use outcome::{Outcome, Receipts};
pub use plan::{Behaviour, Plan, Reply, SubmitSeen, Then};
pub use record::{
    Answer, BindSeen, Counts, DETAILED_MAX, ReceiptSent, Received, Record, RecordMode, Submit, WaitedInVain,
};
pub use script::{Act, Script, Wire};
pub use text::Part;
pub use when::When;

use crate::world;
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
        }
    }
}

/// A running carrier. Dropping it cuts everything at once; `stop` ends it in good order.
pub struct Carrier {
    address: SocketAddr,
    shared: Arc<Shared>,
    orders: watch::Sender<Orders>,
    listening: Option<JoinHandle<()>>,
}

/// What all links share.
struct Shared {
    started: Instant,
    core: Mutex<Core>,
    /// Receipts have come that another link than the one they were submitted on may send.
    receipts_ready: Notify,
    record: Record,
    receipt_window: u32,
}

/// What decides and what waits: locked together, once for each batch.
struct Core {
    plan: Plan,
    outbox: Outbox,
}

/// What the carrier tells its links.
#[derive(Debug, Clone, Copy, Default)]
struct Orders {
    stop: bool,
    /// How often all links were ordered to be cut.
    cuts: u64,
}

impl Carrier {
    /// Listens and serves until stopped.
    pub async fn start(options: CarrierOptions) -> io::Result<Carrier> {
        let CarrierOptions { listen, script, seed, record, first_id, receipt_window, receipts_max } = options;
        let listener = TcpListener::bind(listen).await?;
        let address = listener.local_addr()?;
        let first_id = match first_id {
            FirstId::At(id) => id,
            FirstId::Clock => u64::try_from(world::unix_time().as_micros()).expect("until the year 586,912"),
        };
        let shared = Arc::new(Shared {
            started: world::now(),
            core: Mutex::new(Core {
                plan: Plan::new(script, seed, first_id),
                outbox: Outbox::new(receipts_max),
            }),
            receipts_ready: Notify::new(),
            record: Record::new(record),
            receipt_window,
        });
        let (orders, obeyed) = watch::channel(Orders::default());
        let listening = Some(world::spawn(listen_for_links(listener, Arc::clone(&shared), obeyed)));
        Ok(Carrier { address, shared, orders, listening })
    }

    pub fn addr(&self) -> SocketAddr {
        self.address
    }

    pub fn record(&self) -> Record {
        self.shared.record.clone()
    }

    /// Plays another script from its beginning, on open links too.
    pub fn set_script(&self, script: Script) {
        self.shared.core.lock().expect("no holder of the plan panics").plan.set_script(script);
        self.shared.receipts_ready.notify_waiters();
    }

    /// Receipts that the gateway has not taken yet: waiting or in flight.
    pub fn receipts_unsettled(&self) -> usize {
        self.shared.core.lock().expect("no holder of the plan panics").outbox.unsettled()
    }

    /// Cuts every open connection in the middle of whatever it is doing. New ones are welcome.
    pub fn cut_links(&self) {
        self.orders.send_modify(|orders| orders.cuts += 1);
    }

    /// Unbinds every link, closes the door, and waits for the last link to end: a few seconds at most.
    pub async fn stop(mut self) {
        self.orders.send_modify(|orders| orders.stop = true);
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
        let ms = now.saturating_duration_since(self.started).as_millis();
        Moment(u64::try_from(ms).unwrap_or(u64::MAX))
    }

    fn instant(&self, moment: Moment) -> Instant {
        self.started + Duration::from_millis(moment.0)
    }
}

async fn listen_for_links(listener: TcpListener, shared: Arc<Shared>, mut orders: watch::Receiver<Orders>) {
    let mut links = JoinSet::new();
    let mut number = 0;
    while !orders.borrow_and_update().stop {
        tokio::select! {
            accepted = listener.accept() => if let Ok((stream, _)) = accepted && links.len() < LINKS_MAX {
                number += 1;
                links.spawn(serve(Arc::clone(&shared), stream, number, orders.clone()));
            },
            Some(ended) = links.join_next() => ended.expect("a link's task does not panic"),
            changed = orders.changed() => if changed.is_err() { break },
        }
    }
    drop(listener);
    while let Some(ended) = links.join_next().await {
        ended.expect("a link's task does not panic");
    }
}

async fn serve(shared: Arc<Shared>, stream: TcpStream, number: u64, orders: watch::Receiver<Orders>) {
    // A stream that refuses the option still serves, only slower.
    let _ = stream.set_nodelay(true);
    wire::run(shared, stream, number, orders).await;
}
