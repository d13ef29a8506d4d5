//! One operation in the writer's queue: a command, and the channel for its outcome. The outcome is sent once the commit is
//! durable; an error is sent if the command was not written.

use crate::backend::SentBy;
use crate::error::StoreError;
use crate::record::{AcceptedMessage, RecordErasure};
use crate::writer::answers::NodeReply;
use crate::writer::mailbox::Mailbox;
use hermod_domain::ids::CarrierId;
use hermod_engine::batch::Batch;
use hermod_engine::commands::{
    AnyCommand, AnyOutcome, Command, EraseOthers, KeepErasure, OnFullDisk, OpenLink, refused,
};
use hermod_engine::ops::{AcceptOutcome, Acceptance, KeyClaim};
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use tokio::sync::oneshot;

/// The stages of an acceptance in the queue.
const QUEUED: u8 = 0;
const BEGUN: u8 = 1;
const CANCELLED: u8 = 2;

/// Where the outcome of an operation goes.
pub(crate) enum Reply {
    Caller(oneshot::Sender<Result<AnyOutcome, StoreError>>),
    Node(NodeReply),
}

impl Reply {
    /// Sends an outcome, or an error of an operation that was not written. The caller may be gone.
    pub(crate) fn send(self, outcome: Result<AnyOutcome, StoreError>) {
        match self {
            Reply::Caller(caller) => drop(caller.send(outcome)),
            Reply::Node(node) => node.send(outcome.map(Some)),
        }
    }
}

pub(crate) type ReplyReceiver = oneshot::Receiver<Result<AnyOutcome, StoreError>>;

pub(crate) enum Op {
    /// A command. Without a reply where no caller waits: results of links and customers, and ticks.
    Command(AnyCommand, Option<Reply>),
    /// An acceptance, which its caller can cancel until the writer begins it.
    Accept(Arc<QueuedAcceptance>, Reply),
    /// Opens a link. The writer puts its parts into this mailbox after each commit.
    OpenLink(OpenLink, Arc<Mailbox>, Reply),
    /// Stops the writer after all operations that were queued before.
    Stop(oneshot::Sender<Result<(), StoreError>>),
}

impl Op {
    /// Runs the command in a batch. Returns `None` for a cancelled acceptance and for [`Op::Stop`].
    pub(crate) fn run(&self, batch: &mut Batch<'_>) -> Result<Option<AnyOutcome>, StoreError> {
        Ok(match self {
            Op::Command(command, _) => Some(command.execute(batch)?),
            Op::Accept(queued, _) if queued.begin() => {
                Some(refused(queued.acceptance.execute(batch).map(AnyOutcome::Accept))?)
            }
            Op::OpenLink(open, ..) => Some(AnyOutcome::OpenLink(open.execute(batch)?)),
            Op::Accept(..) | Op::Stop(_) => None,
        })
    }

    /// Returns the command, unless it is an acceptance or opens a link.
    pub(crate) fn command(&self) -> Option<&AnyCommand> {
        if let Op::Command(command, _) = self { Some(command) } else { None }
    }

    /// Returns the command without its entries for the audit log.
    fn plain_command(&self) -> Option<&AnyCommand> {
        match self.command() {
            Some(AnyCommand::Audited(audited)) => Some(&audited.command),
            command => command,
        }
    }

    /// Returns the idempotency key of an acceptance.
    pub(crate) fn key(&self) -> Option<&KeyClaim> {
        if let Op::Accept(queued, _) = self { queued.acceptance.key.as_ref() } else { None }
    }

    /// Whether the operation changes the setup.
    pub(crate) fn changes_catalogue(&self) -> bool {
        matches!(self.plain_command(), Some(AnyCommand::ChangeCatalogue(_)))
    }

    /// Returns which node sent the operation; none if this one did.
    pub(crate) fn sent_by(&self) -> Option<SentBy> {
        match self {
            Op::Command(_, Some(Reply::Node(node)))
            | Op::Accept(_, Reply::Node(node))
            | Op::OpenLink(_, _, Reply::Node(node)) => Some(node.sent_by),
            Op::Command(..) | Op::Accept(..) | Op::OpenLink(..) | Op::Stop(_) => None,
        }
    }

    /// Whether the outcome is stored until the node that sent the operation has it: a customer or an operator waits for it, and
    /// it tells what was charged. Others can be lost: those of links and receivers say nothing. An outcome with a phone number or
    /// a text is never stored here, because it would outlive its erasure.
    pub(crate) fn keeps_outcome(&self) -> bool {
        let is_kept = matches!(
            self.plain_command(),
            Some(AnyCommand::Accept(_) | AnyCommand::Cancel(_) | AnyCommand::Post(_))
        );
        is_kept || matches!(self, Op::Accept(..))
    }

    /// Returns the message, if the operation accepted one.
    pub(crate) fn accepted(&self, outcome: &AnyOutcome) -> Option<AcceptedMessage> {
        match (self, outcome) {
            (
                Op::Accept(queued, _),
                AnyOutcome::Accept(AcceptOutcome::Accepted { message: id, balance, .. }),
            ) => Some(AcceptedMessage { id: *id, balance: *balance, acceptance: queued.acceptance.clone() }),
            _ => None,
        }
    }

    /// Returns what the operation erased, for the records.
    pub(crate) fn erased(&self) -> Option<RecordErasure> {
        match self {
            Op::Command(AnyCommand::EraseOthers(EraseOthers(scope)), _) => {
                Some(RecordErasure::Messages(*scope))
            }
            Op::Command(AnyCommand::KeepErasure(KeepErasure(erasure)), _) => {
                Some(RecordErasure::Requests(vec![*erasure]))
            }
            _ => None,
        }
    }

    /// Sends the outcome to the caller, if one waits.
    pub(crate) fn succeed(self, outcome: Option<AnyOutcome>) {
        match (self, outcome) {
            (
                Op::Command(_, Some(reply)) | Op::Accept(_, reply) | Op::OpenLink(_, _, reply),
                Some(outcome),
            ) => reply.send(Ok(outcome)),
            (Op::Command(_, Some(Reply::Node(node))) | Op::Accept(_, Reply::Node(node)), None) => {
                node.send(Ok(None));
            }
            (Op::Stop(reply), _) => drop(reply.send(Ok(()))),
            (Op::Command(..) | Op::Accept(..) | Op::OpenLink(..), _) => {}
        }
    }

    /// Sends the error to the caller, if one waits.
    pub(crate) fn fail(self, error: StoreError) {
        match self {
            Op::Command(_, Some(reply)) | Op::Accept(_, reply) | Op::OpenLink(_, _, reply) => {
                reply.send(Err(error));
            }
            Op::Stop(reply) => drop(reply.send(Err(error))),
            // Of settled reports the rows remain: they are sent once more after the next start.
            Op::Command(_, None) => {}
        }
    }

    /// Returns who waits for the operation.
    pub(crate) fn urgency(&self) -> Urgency {
        match self {
            Op::Command(AnyCommand::ReportLink(batch), _) => Urgency::LinkResults {
                carrier: batch.carrier,
                unacknowledged: batch.receipts.len() + batch.inbound.len(),
            },
            Op::Command(AnyCommand::SettleWebhooks(_), _) => Urgency::WebhookResults,
            Op::Command(AnyCommand::SettleReports(_), _) => Urgency::ReportResults,
            Op::Accept(..) => Urgency::Submission,
            Op::Command(..) | Op::OpenLink(..) | Op::Stop(_) => Urgency::Request,
        }
    }

    /// Whether it may be run before others that were queued earlier: a submission of this node. Of another node's operations the last one
    /// that was run tells which were run.
    pub(crate) fn passes_others(&self) -> bool {
        matches!(self, Op::Accept(_, Reply::Caller(_)))
    }

    /// Returns how many results of a link it has.
    pub(crate) fn results(&self) -> usize {
        match self.command() {
            Some(AnyCommand::ReportLink(batch)) => {
                batch.responses.len() + batch.receipts.len() + batch.inbound.len()
            }
            _ => 0,
        }
    }

    /// Returns what to do with the operation while the disk is full.
    pub(crate) fn on_full_disk(&self) -> OnFullDisk {
        match self {
            Op::Command(command, _) => command.on_full_disk(),
            Op::Accept(..) => OnFullDisk::Refuse,
            Op::OpenLink(..) | Op::Stop(_) => OnFullDisk::Run,
        }
    }
}

/// An acceptance in the writer's queue. Either the writer begins it or its caller cancels it, never both: a cancelled one is
/// not run, and the caller of one that was begun waits for its outcome.
pub(crate) struct QueuedAcceptance {
    /// Shared with the record, which has it after the commit.
    pub acceptance: Arc<Acceptance>,
    stage: AtomicU8,
}

impl QueuedAcceptance {
    pub(crate) fn new(acceptance: impl Into<Arc<Acceptance>>) -> QueuedAcceptance {
        QueuedAcceptance { acceptance: acceptance.into(), stage: AtomicU8::new(QUEUED) }
    }

    /// Marks it as begun. May be called again after a rollback. Returns false if it was cancelled.
    pub(crate) fn begin(&self) -> bool {
        self.move_to(BEGUN) != CANCELLED
    }

    /// Cancels it. Returns false if the writer has begun it: it may succeed.
    pub(crate) fn cancel(&self) -> bool {
        self.move_to(CANCELLED) != BEGUN
    }

    /// Moves it to `stage` if it is still queued. Returns the stage before.
    fn move_to(&self, stage: u8) -> u8 {
        match self.stage.compare_exchange(QUEUED, stage, Ordering::AcqRel, Ordering::Acquire) {
            Ok(before) | Err(before) => before,
        }
    }
}

/// Who waits for an operation, which says how soon it must be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Urgency {
    /// A caller waits for its outcome.
    Request,
    /// A customer waits for the acceptance of a message.
    Submission,
    /// Results of a link. The carrier waits for the acknowledgement of receipts and MO messages.
    LinkResults { carrier: CarrierId, unacknowledged: usize },
    /// Results of webhook posts. Their endpoint waits before it posts more.
    WebhookResults,
    /// Responses of a customer's bind to reports.
    ReportResults,
}

/// For the log: the command, without the texts and numbers of an acceptance.
impl fmt::Debug for Op {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Op::Command(command, _) => command.fmt(f),
            Op::Accept(..) => f.write_str("Accept"),
            Op::OpenLink(open, ..) => open.fmt(f),
            Op::Stop(_) => f.write_str("Stop"),
        }
    }
}
