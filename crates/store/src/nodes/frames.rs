//! What two nodes tell each other: one side runs the engine, the other serves customers and carriers. All of it is plain data.

use super::envelope::NodeEnvelope;
use crate::backend::{KeptOutcomes, NodeRun};
use crate::error::{BackendErrorKind, StoreError};
use crate::record::Committed;
use crate::writer::answers::Answer;
use hermod_domain::ids::{AccountId, CarrierId, ConnectionId, MessageId, PartNo};
use hermod_domain::phone::Msisdn;
use hermod_domain::time::Timestamp;
use hermod_engine::commands::{AnyCommand, AnyOutcome, OpenLink};
use hermod_engine::ops::{Acceptance, Handout, LinkId, Report, ReportId, ReportOutcome};
use hermod_engine::tables::{MessageKey, SendingPart};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::sync::Arc;

/// The version of what follows. Nodes with another one do not talk to each other.
pub(crate) const VERSION: u16 = 1;
/// Octets of one frame.
pub(crate) const FRAME_MAX: usize = 64 << 20;

/// The first frame of a node. Its version comes first, in every version.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Hello {
    pub version: u16,
    /// The schema's store: nodes of two clusters that share a key must not mix.
    pub store: [u8; 16],
    pub id: u32,
    pub epoch: u64,
    /// The clock of the node.
    pub now: Timestamp,
    /// Whether it keeps a record.
    pub keeps_record: bool,
}

impl Hello {
    pub(crate) fn run(&self) -> NodeRun {
        NodeRun { id: self.id, epoch: self.epoch }
    }
}

/// The operations of a node that were run, when it connects to an engine.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct RunBefore {
    /// The last of them.
    pub applied: u64,
    /// The outcomes of those that were written and whose answers the node may not have. An operation whose outcome would be kept
    /// and is not here has changed nothing.
    pub outcomes: KeptOutcomes,
}

/// The answer to it.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Welcome {
    /// What became of the operations of this run before.
    Served(RunBefore),
    /// This node does not run the engine, or does not know the other one yet.
    NotHere,
    Refused(String),
}

/// From a node to the engine.
#[derive(Serialize, Deserialize)]
pub(crate) enum ToEngine<'a> {
    /// The links that were open before this connection. The first frame after the welcome.
    Resume(Vec<ResumedLink>),
    /// Operations, in order. Their numbers follow each other. `settled`: up to this number the node has all answers.
    Operations {
        first: u64,
        settled: u64,
        operations: Vec<Operation<'a>>,
    },
    /// Opens the port of a bind. `held`: reports that it took from an earlier engine and has not settled.
    OpenReceiver {
        port: u64,
        connection: ConnectionId,
        held: Vec<Report>,
    },
    TakeReports {
        port: u64,
        most: u32,
        now: Timestamp,
    },
    SettleReports {
        port: u64,
        outcomes: Vec<(ReportId, ReportOutcome)>,
        now: Timestamp,
    },
    CloseReceiver {
        port: u64,
    },
    NodeEnvelope(NodeEnvelope),
    /// The node is there.
    Ping,
}

/// An operation. It is sent without a copy, because the sender keeps it until it is answered.
#[derive(Serialize, Deserialize)]
pub(crate) enum Operation<'a> {
    Command(Cow<'a, AnyCommand>),
    Accept(Arc<Acceptance>),
    OpenLink(OpenLink),
}

/// From the engine to a node.
#[derive(Serialize, Deserialize)]
pub(crate) enum ToNode {
    Answers(Vec<(u64, Result<Option<AnyOutcome>, OperationFailure>)>),
    Handouts(Vec<(LinkId, Handout)>),
    Reports {
        port: u64,
        reports: Vec<Report>,
    },
    /// The next settlement of this port will be written.
    Settled {
        port: u64,
    },
    /// The setup was changed.
    CatalogueChanged,
    NodeEnvelope(NodeEnvelope),
    /// The engine is there.
    Ping,
    /// A batch, for the record of the node.
    Committed(Arc<Committed>),
    /// The engine is handed over. All answers were sent before; the node closes the connection.
    Farewell,
}

/// A link whose port is open, as its node sees it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ResumedLink {
    pub open: OpenLink,
    /// False for one that gets no more parts and has not reported on all of them.
    pub is_open: bool,
    /// Slots that it granted and that were not used.
    pub slots: u32,
    /// Parts that it has, or whose results are on their way.
    pub held: Vec<HeldPart>,
}

/// A part that a link has: it may be sent, or has been.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct HeldPart {
    pub carrier: CarrierId,
    pub message: MessageId,
    pub part: PartNo,
    pub account: AccountId,
    pub to: Msisdn,
}

impl HeldPart {
    pub(crate) fn of(sending: &SendingPart) -> HeldPart {
        let SendingPart { key: MessageKey { carrier, account, message }, part, to } = *sending;
        HeldPart { carrier, message, part, account, to }
    }
}

/// Why an operation was not done.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum OperationFailure {
    DiskLow,
    /// The engine is being stopped: another node will run the operation.
    Closed,
    Other(String),
}

impl OperationFailure {
    fn of(error: &StoreError) -> OperationFailure {
        match error {
            error if error.is_disk_full() => OperationFailure::DiskLow,
            StoreError::DiskLow => OperationFailure::DiskLow,
            StoreError::Closed => OperationFailure::Closed,
            error => OperationFailure::Other(error.to_string()),
        }
    }
}

impl From<OperationFailure> for StoreError {
    fn from(failure: OperationFailure) -> StoreError {
        match failure {
            OperationFailure::DiskLow => StoreError::DiskLow,
            OperationFailure::Closed => StoreError::Closed,
            OperationFailure::Other(text) => StoreError::elsewhere(BackendErrorKind::Other, text),
        }
    }
}

/// Returns an answer in the form in which it is sent.
pub(crate) fn sent(answer: Answer) -> Result<Option<AnyOutcome>, OperationFailure> {
    answer.map_err(|error| OperationFailure::of(&error))
}

pub(crate) fn encode(frame: &impl Serialize) -> Result<Vec<u8>, postcard::Error> {
    postcard::to_extend(frame, Vec::with_capacity(1_024))
}

pub(crate) fn decode<T: DeserializeOwned>(octets: &[u8]) -> Result<T, postcard::Error> {
    postcard::from_bytes(octets)
}
