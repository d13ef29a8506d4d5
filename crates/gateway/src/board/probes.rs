//! Probes: one message over a connection of its own to one carrier, with every PDU told. Whoever serves carriers runs them;
//! whoever asks for one does so here. A probe costs no money and writes nothing in the store.

use super::Way;
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

/// What to send.
#[derive(Clone, Debug)]
pub struct Probe {
    pub to: Msisdn,
    pub from: Sender,
    /// Of one part.
    pub text: MessageText,
    /// For a receipt, once the message was accepted.
    pub wait: Duration,
}

/// What came of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProbeReport {
    pub lines: Vec<ProbeLine>,
    /// How far it came.
    pub step: ProbeStep,
    /// What happened there, and what can be done about it.
    pub outcome: String,
}

/// Something that happened, after so long.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProbeLine {
    pub at_ms: u64,
    /// A PDU, with its text masked; nothing: what was done besides.
    pub way: Option<Way>,
    pub line: String,
}

/// The steps of a probe. One that stands in a report as the last was not passed, except for `Done`.
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

    /// The carrier has taken the message.
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
    #[error("another probe is running: try again when it has ended")]
    Busy,
    #[error("the gateway is stopping")]
    Stopping,
}

/// A probe that somebody waits for.
pub struct Asked {
    pub carrier: String,
    pub probe: Probe,
    pub answer: oneshot::Sender<ProbeReport>,
}

/// Where probes are asked for, and taken from by who runs them.
pub struct Probes {
    /// Held while one runs.
    turn: tokio::sync::Mutex<()>,
    ask: mpsc::Sender<Asked>,
    asked: Mutex<Option<mpsc::Receiver<Asked>>>,
}

impl Default for Probes {
    fn default() -> Probes {
        let (ask, asked) = mpsc::channel(WAITING_MAX);
        Probes { turn: tokio::sync::Mutex::default(), ask, asked: Mutex::new(Some(asked)) }
    }
}

impl Probes {
    /// Runs one and waits for its report: as long as its steps and its wait for a receipt take together. Whoever goes
    /// away meanwhile ends it.
    pub async fn run(&self, carrier: &str, probe: Probe) -> Result<ProbeReport, NoProbe> {
        let _turn = self.turn.try_lock().map_err(|_| NoProbe::Busy)?;
        let (answer, report) = oneshot::channel();
        let asked = Asked { carrier: carrier.to_owned(), probe, answer };
        self.ask.try_send(asked).map_err(|refused| match refused {
            mpsc::error::TrySendError::Full(_) => NoProbe::Busy,
            mpsc::error::TrySendError::Closed(_) => NoProbe::Stopping,
        })?;
        report.await.map_err(|_| NoProbe::Stopping)
    }

    /// What is asked for, for the one who runs them. Nothing the second time.
    pub fn asked(&self) -> Option<mpsc::Receiver<Asked>> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}
