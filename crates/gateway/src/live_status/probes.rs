//! Probes: one test message over a separate connection to a carrier, with every PDU logged. The operator requests a
//! probe here; the carrier edge runs it. A probe is not charged and writes nothing to the store.

use super::PduDirection;
use hermod_domain::phone::Msisdn;
use hermod_domain::sender::Sender;
use hermod_domain::text::MessageText;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};

/// The longest wait for a receipt.
pub const PROBE_WAIT_MAX: Duration = Duration::from_secs(10 * 60);
/// One at a time.
const WAITING_MAX: usize = 1;

/// A test message.
#[derive(Clone, Debug)]
pub struct Probe {
    pub to: Msisdn,
    pub from: Sender,
    /// Must fit in one part.
    pub text: MessageText,
    /// How long to wait for a receipt.
    pub wait: Duration,
}

/// The result of a probe.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProbeReport {
    pub lines: Vec<ProbeLine>,
    /// The last step reached.
    pub step: ProbeStep,
    /// What happened there, and what to do about it.
    pub outcome: String,
}

/// One event of a probe and its time since the start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProbeLine {
    pub at_ms: u64,
    /// The direction of a PDU; `None` for any other event. Texts are masked.
    pub way: Option<PduDirection>,
    pub line: String,
}

/// The steps of a probe. The step of a report failed, except `Done`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ProbeStep {
    Settings,
    Connect,
    Bind,
    Submit,
    /// The message was accepted; no final receipt came in time.
    Receipt,
    Done,
}

impl ProbeStep {
    pub const fn as_str(self) -> &'static str {
        match self {
            ProbeStep::Settings => "settings",
            ProbeStep::Connect => "connect",
            ProbeStep::Bind => "bind",
            ProbeStep::Submit => "submit",
            ProbeStep::Receipt => "receipt",
            ProbeStep::Done => "done",
        }
    }

    /// Whether the carrier accepted the message.
    pub const fn is_accepted(self) -> bool {
        match self {
            ProbeStep::Receipt | ProbeStep::Done => true,
            ProbeStep::Settings | ProbeStep::Connect | ProbeStep::Bind | ProbeStep::Submit => false,
        }
    }
}

/// Why there is no report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoProbe {
    #[error("another probe is running: retry when it has ended")]
    Busy,
    #[error("the gateway is stopping")]
    Stopping,
}

/// A requested probe.
pub struct ProbeRequest {
    pub carrier: String,
    pub probe: Probe,
    pub answer: oneshot::Sender<ProbeReport>,
}

/// The channel between the operator and the carrier edge.
pub struct Probes {
    /// Held while one runs.
    turn: tokio::sync::Mutex<()>,
    ask: mpsc::Sender<ProbeRequest>,
    requests: Mutex<Option<mpsc::Receiver<ProbeRequest>>>,
}

impl Default for Probes {
    fn default() -> Probes {
        let (ask, requests) = mpsc::channel(WAITING_MAX);
        Probes { turn: tokio::sync::Mutex::default(), ask, requests: Mutex::new(Some(requests)) }
    }
}

impl Probes {
    /// Runs a probe and waits for its report. Dropping the future ends the probe. Fails if another one is running.
    pub async fn run(&self, carrier: &str, probe: Probe) -> Result<ProbeReport, NoProbe> {
        let _turn = self.turn.try_lock().map_err(|_| NoProbe::Busy)?;
        let (answer, report) = oneshot::channel();
        let request = ProbeRequest { carrier: carrier.to_owned(), probe, answer };
        self.ask.try_send(request).map_err(|refused| match refused {
            mpsc::error::TrySendError::Full(_) => NoProbe::Busy,
            mpsc::error::TrySendError::Closed(_) => NoProbe::Stopping,
        })?;
        report.await.map_err(|_| NoProbe::Stopping)
    }

    /// Returns the receiver of requests, once; `None` after that.
    pub fn requests(&self) -> Option<mpsc::Receiver<ProbeRequest>> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}
