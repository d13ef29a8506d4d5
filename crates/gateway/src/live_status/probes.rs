//! Probes: one test message over a separate connection to a carrier, with every PDU logged. The operator requests a
//! probe here; the carrier edge runs it. A probe is not charged and writes nothing to the store.

use super::PduDirection;
use super::inbox::{Inbox, NoAnswer};
use hermod_domain::phone::Msisdn;
use hermod_domain::sender::Sender;
use hermod_domain::text::MessageText;
use std::time::Duration;
use tokio::sync::oneshot;

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

hermod_domain::named! {
    /// The steps of a probe. The step of a report failed, except `Done`.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub enum ProbeStep {
        Settings = "settings",
        Connect = "connect",
        Bind = "bind",
        Submit = "submit",
        /// The message was accepted; no final receipt came in time.
        Receipt = "receipt",
        Done = "done",
    }
}

impl ProbeStep {
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
    pub requests: Inbox<ProbeRequest>,
}

impl Default for Probes {
    fn default() -> Probes {
        Probes { turn: tokio::sync::Mutex::default(), requests: Inbox::of(WAITING_MAX) }
    }
}

impl Probes {
    /// Runs a probe and waits for its report. Dropping the future ends the probe. Fails if another one is running.
    pub async fn run(&self, carrier: &str, probe: Probe) -> Result<ProbeReport, NoProbe> {
        let _turn = self.turn.try_lock().map_err(|_| NoProbe::Busy)?;
        let carrier = carrier.to_owned();
        let report = self.requests.ask(|answer| ProbeRequest { carrier, probe, answer }).await;
        report.map_err(|none| match none {
            NoAnswer::Busy => NoProbe::Busy,
            NoAnswer::Stopping => NoProbe::Stopping,
        })
    }
}
