//! What travels to the writer, and how each operation is answered: after the commit that holds it, or with the fault
//! that kept it out.

use crate::embedded::errand::Errand;
use crate::embedded::mailbox::Mailbox;
use crate::embedded::waiting::Waiting;
use crate::fault::StoreFault;
use hermod_domain::ids::CarrierId;
use hermod_domain::time::{Day, Timestamp};
use hermod_engine::batch::Batch;
use hermod_engine::delivery_figures;
use hermod_engine::dispatch::Lapsed;
use hermod_engine::ops::{AcceptOutcome, KeyClaim, LinkBatch, LinkId, LinkKind, Replay};
use hermod_engine::queues::Glance;
use hermod_engine::report::ReportEnds;
use hermod_engine::tables::{KeyFilterPart, TableError, UnreadablePart};
use hermod_engine::webhooks::HookEnds;
use std::fmt;
use std::sync::Arc;
use tokio::sync::oneshot;

pub(crate) type Reply<T> = oneshot::Sender<Result<T, StoreFault>>;

pub(crate) enum Op {
    Accept(Arc<Waiting>, Reply<AcceptOutcome>),
    FindKey(KeyClaim, Reply<Option<Replay>>),
    /// What waits for each carrier.
    Glance(Reply<Vec<Glance>>),
    /// Everything that writes and is rarer than a message.
    Errand(Box<dyn Errand>),
    Rest(Change, Reply<()>),
    /// What a link learned. It cannot be refused: it is a fact about the world. It is kept until it is written.
    Link(LinkBatch),
    /// What customers have answered to reports. As much a fact as what a link learned.
    Reports(ReportEnds),
    /// What came of posting webhook events. Just such a fact.
    Hooks(HookEnds, Reply<()>),
    /// Parts whose waiting time is over.
    Due(Timestamp),
    Stop(Reply<()>),
}

/// Does an operation write anything?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Needs {
    Room,
    NoRoom,
}

/// Changes that have nothing to say but "done".
pub(crate) enum Change {
    OpenLink { carrier: CarrierId, link: LinkId, kind: LinkKind, mailbox: Arc<Mailbox> },
    CloseLink { carrier: CarrierId, link: LinkId },
    Lapse(Vec<Lapsed>, Timestamp),
    SetAside(Vec<UnreadablePart>, Timestamp),
    KeepFilterPart { day: Day, part: KeyFilterPart },
    DropOldFigures(Day),
}

/// What an operation came to, to be told once it is durable.
pub(crate) enum Done {
    Accepted(AcceptOutcome),
    Key(Option<Replay>),
    Glance(Vec<Glance>),
    /// Nothing to say; or nobody to say it to, because the submission was given up.
    Nothing,
}

impl Op {
    pub(crate) fn run(&self, batch: &mut Batch<'_>) -> Result<Done, StoreFault> {
        match self {
            Op::Accept(waiting, _) if waiting.begin() => {
                return Ok(Done::Accepted(batch.accept(&waiting.acceptance)?));
            }
            Op::FindKey(key, _) => return Ok(Done::Key(batch.books.keys.find(batch.tables, key)?)),
            Op::Glance(_) => return Ok(Done::Glance(batch.books.glance())),
            Op::Errand(errand) => errand.run(batch)?,
            Op::Rest(change, _) => change.run(batch)?,
            Op::Link(learned) => batch.link_batch(learned)?,
            Op::Reports(ends) => batch.end_reports(ends)?,
            Op::Hooks(ends, _) => batch.end_hooks(ends)?,
            Op::Due(now) => {
                batch.release_due(*now)?;
                batch.deliver_unfinished(*now)?;
            }
            Op::Accept(..) | Op::Stop(_) => {}
        }
        Ok(Done::Nothing)
    }

    /// Tells whoever waits. That nobody waits any more is no fault: the caller hung up.
    pub(crate) fn done(self, done: Done) {
        match (self, done) {
            (Op::Accept(_, reply), Done::Accepted(outcome)) => drop(reply.send(Ok(outcome))),
            (Op::FindKey(_, reply), Done::Key(found)) => drop(reply.send(Ok(found))),
            (Op::Glance(reply), Done::Glance(glances)) => drop(reply.send(Ok(glances))),
            (Op::Errand(errand), Done::Nothing) => errand.done(),
            (Op::Rest(_, reply) | Op::Hooks(_, reply) | Op::Stop(reply), Done::Nothing) => {
                drop(reply.send(Ok(())))
            }
            (Op::Accept(..) | Op::Link(_) | Op::Reports(_) | Op::Due(_), Done::Nothing) => {}
            (_, Done::Accepted(_) | Done::Key(_) | Done::Glance(_) | Done::Nothing) => {
                unreachable!("every operation comes to its own kind of end")
            }
        }
    }

    pub(crate) fn failed(self, fault: StoreFault) {
        match self {
            Op::Accept(_, reply) => drop(reply.send(Err(fault))),
            Op::FindKey(_, reply) => drop(reply.send(Err(fault))),
            Op::Glance(reply) => drop(reply.send(Err(fault))),
            Op::Errand(errand) => errand.failed(fault),
            Op::Rest(_, reply) | Op::Hooks(_, reply) | Op::Stop(reply) => drop(reply.send(Err(fault))),
            // The rows of reports stay, and they are told once more after the next start.
            Op::Reports(_) | Op::Link(_) | Op::Due(_) => {}
        }
    }

    pub(crate) fn needs(&self) -> Needs {
        match self {
            Op::Accept(..) | Op::Errand(_) | Op::Link(_) | Op::Reports(_) | Op::Hooks(..) | Op::Due(_) => {
                Needs::Room
            }
            Op::FindKey(..) | Op::Glance(_) | Op::Stop(_) => Needs::NoRoom,
            Op::Rest(change, _) => match change {
                Change::OpenLink { .. } | Change::CloseLink { .. } => Needs::NoRoom,
                Change::Lapse(..)
                | Change::SetAside(..)
                | Change::KeepFilterPart { .. }
                | Change::DropOldFigures(_) => Needs::Room,
            },
        }
    }
}

/// What it is about, never a text: a batch that could not be written is told in the log.
impl fmt::Debug for Op {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Op::Accept(..) => f.write_str("Accept"),
            Op::FindKey(..) => f.write_str("FindKey"),
            Op::Glance(_) => f.write_str("Glance"),
            Op::Errand(_) => f.write_str("Errand"),
            Op::Rest(..) => f.write_str("Rest"),
            Op::Link(learned) => learned.fmt(f),
            Op::Reports(ends) => ends.fmt(f),
            Op::Hooks(ends, _) => ends.fmt(f),
            Op::Due(now) => write!(f, "Due({now:?})"),
            Op::Stop(_) => f.write_str("Stop"),
        }
    }
}

impl Change {
    fn run(&self, batch: &mut Batch<'_>) -> Result<(), TableError> {
        match self {
            Change::OpenLink { carrier, link, kind, mailbox: _ } => {
                match kind {
                    LinkKind::Sends => batch.books.lanes.link_opened(*carrier, *link),
                    // The lanes never hear of it: whatever room it reports is nobody's.
                    LinkKind::ReceivesOnly => {}
                }
                Ok(())
            }
            Change::CloseLink { carrier, link } => {
                batch.books.lanes.link_closed(*carrier, *link);
                Ok(())
            }
            Change::Lapse(lapsed, now) => batch.lapse(lapsed, *now),
            Change::SetAside(unreadable, now) => {
                batch.at(*now);
                batch.set_aside_all(unreadable.clone())
            }
            Change::KeepFilterPart { day, part } => {
                batch.tables.put_key_filter_part(*day, part)?;
                if part.is_last() { batch.books.keys.load_filters(batch.tables) } else { Ok(()) }
            }
            Change::DropOldFigures(today) => delivery_figures::drop_before(batch.tables, *today),
        }
    }
}
