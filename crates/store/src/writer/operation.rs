//! What travels to the writer: a command, and the channel its outcome is sent to once the commit that holds it is durable,
//! or the fault that kept it out.

use crate::error::StoreError;
use crate::writer::mailbox::Mailbox;
use crate::writer::waiting::Waiting;
use hermod_engine::batch::Batch;
use hermod_engine::commands::{AnyCommand, AnyOutcome, Command, OnFullDisk, OpenLink};
use hermod_engine::ops::KeyClaim;
use std::fmt;
use std::sync::Arc;
use tokio::sync::oneshot;

pub(crate) type Reply<T = AnyOutcome> = oneshot::Sender<Result<T, StoreError>>;
pub(crate) type SubmitResponse = oneshot::Receiver<Result<AnyOutcome, StoreError>>;

pub(crate) enum Op {
    /// Facts and ticks have no reply: no caller waits for them.
    Command(AnyCommand, Option<Reply>),
    /// A submission, which its sender can give up for as long as the writer has not begun it.
    Accept(Arc<Waiting>, Reply),
    /// Opens a link, whose parts go into this mailbox after each commit.
    OpenLink(OpenLink, Arc<Mailbox>, Reply),
    /// Ends the writer, after everything that waits before it.
    Stop(Reply<()>),
}

impl Op {
    /// Runs the command. Returns none if there is no outcome: the submission was given up, or the writer is to stop.
    pub(crate) fn run(&self, batch: &mut Batch<'_>) -> Result<Option<AnyOutcome>, StoreError> {
        Ok(match self {
            Op::Command(command, _) => Some(command.execute(batch)?),
            Op::Accept(waiting, _) if waiting.begin() => {
                Some(AnyOutcome::Accept(waiting.acceptance.execute(batch)?))
            }
            Op::OpenLink(open, ..) => Some(AnyOutcome::OpenLink(open.execute(batch)?)),
            Op::Accept(..) | Op::Stop(_) => None,
        })
    }

    /// The idempotency key of a submission.
    pub(crate) fn key(&self) -> Option<&KeyClaim> {
        if let Op::Accept(waiting, _) = self { waiting.acceptance.key.as_ref() } else { None }
    }

    /// Answers the caller, if there is one and it still waits.
    pub(crate) fn done(self, outcome: Option<AnyOutcome>) {
        match (self, outcome) {
            (
                Op::Command(_, Some(reply)) | Op::Accept(_, reply) | Op::OpenLink(_, _, reply),
                Some(outcome),
            ) => drop(reply.send(Ok(outcome))),
            (Op::Stop(reply), _) => drop(reply.send(Ok(()))),
            (Op::Command(..) | Op::Accept(..) | Op::OpenLink(..), _) => {}
        }
    }

    pub(crate) fn failed(self, fault: StoreError) {
        match self {
            Op::Command(_, Some(reply)) | Op::Accept(_, reply) | Op::OpenLink(_, _, reply) => {
                drop(reply.send(Err(fault)));
            }
            Op::Stop(reply) => drop(reply.send(Err(fault))),
            // The rows of reports stay, and they are told once more after the next start.
            Op::Command(_, None) => {}
        }
    }

    pub(crate) fn on_full_disk(&self) -> OnFullDisk {
        match self {
            Op::Command(command, _) => command.on_full_disk(),
            Op::Accept(..) => OnFullDisk::Refuse,
            Op::OpenLink(..) | Op::Stop(_) => OnFullDisk::Run,
        }
    }
}

/// The command, never a text: a batch that could not be written is told in the log.
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
