//! Load on the HTTP API: `POST /api/v1/sms` over keep-alive connections, one request in flight on each. Recipient, text and
//! idempotency key of a message are computed from its index, so that a test can send the same message again after a crash.

mod connection;
mod messages;
mod target;

use std::io;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::task::JoinHandle;

pub use messages::{CLOCK, HttpMessages, KeyMode, MessagesRefusal};
pub use target::{HttpTarget, TargetRefusal};

use crate::load::live::LiveCounters;
use crate::load::pacer::{Pacer, SendPermits};
use crate::load::report::{HttpLoadReport, HttpRunFacts, HttpTally, RequestFailure};
use crate::load::schedule::SendSchedule;
pub use crate::load::schedule::{Bound, BoundRefusal, SendPace, Stopper};
use crate::runtime;

/// Connections of a run: each is a task and a socket.
pub const CONNECTIONS_MAX: u32 = 10_000;

/// Options of a run.
#[derive(Clone)]
pub struct HttpLoadOptions {
    pub target: HttpTarget,
    pub connections: u32,
    pub pace: SendPace,
    pub bound: Bound,
    pub messages: HttpMessages,
    pub which: Which,
    /// Time to wait for a complete response.
    pub response_wait_max: Duration,
    /// Time to try to connect before the request counts as failed.
    pub connect_wait_max: Duration,
    /// Called after every attempt, on its task.
    pub observer: Option<Observer>,
}

impl HttpLoadOptions {
    /// A closed loop of 32 connections with default limits.
    pub fn new(target: HttpTarget, messages: HttpMessages, bound: Bound) -> HttpLoadOptions {
        HttpLoadOptions {
            target,
            connections: 32,
            pace: SendPace::ClosedLoop,
            bound,
            messages,
            which: Which::From(0),
            response_wait_max: Duration::from_secs(30),
            connect_wait_max: Duration::from_secs(5),
            observer: None,
        }
    }
}

/// Which messages a run sends.
#[derive(Debug, Clone)]
pub enum Which {
    /// This index and the following ones.
    From(u64),
    /// These, in this order.
    These(Arc<[u64]>),
}

impl Which {
    fn index(&self, position: u64) -> u64 {
        match self {
            Which::From(first) => first + position,
            Which::These(indices) => {
                let position = usize::try_from(position).expect("a list is addressable");
                indices[position]
            }
        }
    }
}

pub type Observer = Arc<dyn Fn(&HttpAttempt<'_>) + Send + Sync>;

/// One request and its outcome.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HttpAttempt<'a> {
    /// The message's index in [`HttpMessages`].
    pub index: u64,
    pub key: Option<&'a str>,
    pub outcome: HttpOutcome<'a>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HttpOutcome<'a> {
    Answered { status: u16, message_id: Option<&'a str> },
    Failed(RequestFailure),
}

/// A running load.
pub struct HttpRun {
    shared: Arc<Shared>,
    pacer: Option<Pacer>,
    connections: Vec<JoinHandle<()>>,
}

/// The state that all connections share.
struct Shared {
    options: HttpLoadOptions,
    schedule: Arc<SendSchedule>,
    /// Permits of an open loop.
    permits: Option<SendPermits>,
    live: Arc<LiveCounters>,
    /// Connections share a few tallies: one for each of thousands would cost more than the lock.
    tallies: Vec<Mutex<HttpTally>>,
}

const TALLIES_MAX: u32 = 8;

/// Starts a run.
///
/// # Errors
/// When the target's name cannot be resolved.
pub async fn start(mut options: HttpLoadOptions) -> io::Result<HttpRun> {
    options.connections = options.connections.clamp(1, CONNECTIONS_MAX);
    if let Which::These(indices) = &options.which {
        options.bound = options.bound.at_most(indices.len() as u64);
    }
    let address = options.target.resolve().await?;
    let started = runtime::now();
    let schedule =
        Arc::new(SendSchedule::new(options.pace, options.bound, started, options.response_wait_max));
    let pacer = options.pace.per_second().map(|_| Pacer::start(Arc::clone(&schedule), options.connections));
    let shared = Arc::new(Shared {
        schedule,
        permits: pacer.as_ref().map(Pacer::permits),
        live: Arc::new(LiveCounters::new(started)),
        tallies: (0..options.connections.min(TALLIES_MAX)).map(|_| Mutex::new(HttpTally::new())).collect(),
        options,
    });
    let connections = (0..shared.options.connections)
        .map(|number| runtime::spawn(connection::run(Arc::clone(&shared), address, number)))
        .collect();
    Ok(HttpRun { shared, pacer, connections })
}

/// Starts a run and waits for its end.
pub async fn run(options: HttpLoadOptions) -> io::Result<HttpLoadReport> {
    Ok(start(options).await?.finish().await)
}

impl HttpRun {
    /// Counters of the run.
    pub fn live(&self) -> Arc<LiveCounters> {
        Arc::clone(&self.shared.live)
    }

    /// Returns a handle that ends the run early.
    pub fn stopper(&self) -> Stopper {
        Stopper(Arc::clone(&self.shared.schedule))
    }

    /// Waits for the last response.
    pub async fn finish(self) -> HttpLoadReport {
        for connection in self.connections {
            connection.await.expect("a connection's task does not panic");
        }
        if let Some(pacer) = self.pacer {
            pacer.finish();
        }
        let Shared { options, schedule, permits: _, live, tallies } = &*self.shared;
        let mut total = HttpTally::new();
        for tally in tallies {
            total.merge(&tally.lock().expect("no holder of a tally panics"));
        }
        total.report(HttpRunFacts {
            connections: options.connections,
            target_per_second: options.pace.per_second(),
            duration: live.running_for(),
            unsent: schedule.unsent(),
        })
    }
}
