//! The session of one node that is connected to the engine: puts its operations into the writer's queue, and sends back answers,
//! parts for links and reports for binds.

use super::envelope::NodeEnvelope;
use super::frames::{self, Hello, Operation, ResumedLink, ToEngine, ToNode, Welcome};
use super::outgoing::Outgoing;
use super::remote_link::RemoteLink;
use super::sessions::{Begun, ENGINES_TIME, EngineSessions};
use super::wire::{Reading, Writing, read_next, write_frame, write_frames};
use crate::backend::{NodeRun, SentBy};
use crate::error::StoreError;
use crate::record::PassedOn;
use crate::writer::answers::{NodeReply, UnsentAnswers};
use crate::writer::operation::QueuedAcceptance;
use crate::writer::operation::{Op, Reply};
use crate::writer::report_port::ReportPort;
use hermod_domain::carrier::IdConversion;
use hermod_domain::time::Timestamp;
use hermod_engine::commands::{CloseLink, OpenLink};
use hermod_engine::ops::{LinkBatch, SubmitResponse};
use std::collections::{HashMap, HashSet};
use std::io;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::AsyncWriteExt as _;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::JoinSet;

/// Octets that may wait for the connection before a batch for the record is left out: answers must not wait for it.
const COMMITTED_OCTETS_MAX: usize = 2 << 20;
/// How long no batches are sent after one was left out.
const AFTER_A_GAP: Duration = Duration::from_secs(1);

/// The connection of one node.
pub(super) struct NodeSession {
    run: NodeRun,
    sessions: Arc<EngineSessions>,
    answers: Arc<UnsentAnswers>,
    outgoing: Arc<Outgoing>,
    receivers: HashMap<u64, Receiver>,
    tasks: JoinSet<()>,
}

/// A bind of the node that takes reports.
struct Receiver {
    port: Arc<ReportPort>,
    /// What its node asked for last, and how often it asked.
    wanted: watch::Sender<(u64, u32, Timestamp)>,
}

impl NodeSession {
    /// Serves a node until its connection ends.
    pub(super) async fn serve(
        sessions: Arc<EngineSessions>,
        hello: &Hello,
        mut reading: Reading,
        mut writing: Writing,
    ) -> io::Result<()> {
        let (run, outgoing) = (hello.run(), Arc::new(Outgoing::default()));
        let Some(Begun { answers, turn }) = sessions.begin(run, &outgoing) else {
            write_frame(&mut writing, &Welcome::NotHere).await?;
            return writing.flush().await;
        };
        // From here on its end closes the links of the session before, which this one has replaced.
        let mut session = NodeSession {
            run,
            sessions: sessions.clone(),
            answers: answers.clone(),
            outgoing: outgoing.clone(),
            receivers: HashMap::new(),
            tasks: JoinSet::new(),
        };
        // The session before may be taking back parts: what it began, it ends.
        let Some(_turn) = session.unless_replaced(turn.lock_owned()).await else { return Ok(()) };
        let Some(welcomed) = session.unless_replaced(session.welcome(&mut writing)).await else {
            return Ok(());
        };
        welcomed?;
        let ping = frames::encode(&ToNode::Ping).map_err(io::Error::other)?;
        session.tasks.spawn(write_frames(writing, outgoing.clone(), ping));
        let changes = sessions.access.shared.catalogue_changed.subscribe();
        session.tasks.spawn(send_changes(changes, outgoing.clone()));
        if hello.keeps_record {
            let batches = sessions.access.shared.feed.followers.add();
            session.tasks.spawn(send_committed(batches, outgoing.clone()));
        }
        session.tasks.spawn(send_answers(sessions.clone(), run, answers, outgoing.clone()));
        session.read_frames(&mut reading).await
    }

    /// Tells the node which of its operations were run.
    async fn welcome(&self, writing: &mut Writing) -> io::Result<()> {
        let before = self.sessions.run_before(self.run).await.map_err(io::Error::other)?;
        write_frame(writing, &Welcome::Served(before)).await?;
        writing.flush().await
    }

    /// Returns none once the node has connected again, or is dead.
    async fn unless_replaced<T>(&self, work: impl Future<Output = T>) -> Option<T> {
        tokio::select! {
            biased;
            () = self.outgoing.closed() => None,
            done = work => Some(done),
        }
    }

    /// Reads until the session is replaced or the connection is lost. A frame that was begun is handled to its end: half of what a
    /// node said would lose parts.
    async fn read_frames(&mut self, reading: &mut Reading) -> io::Result<()> {
        let mut buffer = Vec::new();
        while let Some(frame) = self.unless_replaced(read_next(reading, &mut buffer)).await {
            self.handle(frame?).await.map_err(io::Error::other)?;
        }
        Ok(())
    }

    async fn handle(&mut self, frame: ToEngine<'_>) -> Result<(), StoreError> {
        match frame {
            ToEngine::Resume(links) => self.resume(links).await?,
            ToEngine::Operations { first, settled, operations } => {
                for (number, operation) in (first..).zip(operations) {
                    self.queue(SentBy { node: self.run, number, settled }, operation).await?;
                }
            }
            ToEngine::OpenReceiver { port, connection, held } => {
                let opened = Arc::new(ReportPort::open(self.sessions.access.clone(), connection));
                opened.adopt(held);
                let (wanted, wants) = watch::channel((0, 0, Timestamp::EPOCH));
                let sending = send_reports(port, opened.clone(), wants, self.outgoing.clone());
                self.tasks.spawn(sending);
                self.receivers.insert(port, Receiver { port: opened, wanted });
            }
            ToEngine::TakeReports { port, most, now } => {
                if let Some(receiver) = self.receivers.get(&port) {
                    receiver.wanted.send_modify(|(asked, wanted, at)| {
                        (*asked, *wanted, *at) = (*asked + 1, most, now);
                    });
                }
            }
            ToEngine::SettleReports { port, outcomes, now } => {
                // Without a confirmation the node sends them to the next engine.
                if let Some(receiver) = self.receivers.get(&port)
                    && receiver.port.settle(outcomes, now).await.is_ok()
                {
                    self.outgoing.send(&ToNode::Settled { port });
                }
            }
            ToEngine::CloseReceiver { port } => drop(self.receivers.remove(&port)),
            ToEngine::NodeEnvelope(envelope) => {
                self.sessions.pass_on(NodeEnvelope { from: self.run, ..envelope })
            }
            ToEngine::Ping => {}
        }
        Ok(())
    }

    /// Opens the links that were open before, and takes back parts that their node has not got.
    async fn resume(&mut self, links: Vec<ResumedLink>) -> Result<(), StoreError> {
        let mut opened = Vec::new();
        let mut held_now = HashSet::new();
        let mut links_now = HashMap::new();
        for ResumedLink { open, is_open, slots, held } in links {
            let link = self.new_link(&open);
            link.held().replace(&held);
            held_now.extend(held);
            if is_open {
                opened.push((open, slots, link.mailbox.clone()));
            }
            links_now.insert(open.link, link);
        }
        let earlier = self.sessions.replace_links(self.run, links_now, &held_now);
        let mut lost = self.sessions.close_links(earlier).await?;
        lost.retain(|part| !held_now.contains(part));
        self.sessions.report(lost, SubmitResponse::NotSent).await?;
        self.sessions.settle_unclaimed().await;
        for (open, slots, mailbox) in opened {
            let place = self.sessions.access.queue.reserve().await?;
            let reply = Reply::Caller(oneshot::channel().0);
            {
                let state = self.sessions.state();
                // A link that is opened for a dead node would keep its parts.
                state.nodes.get(&self.run).ok_or(StoreError::Closed)?;
                place.send(Op::OpenLink(open, mailbox, reply));
            }
            let grant = LinkBatch {
                carrier: open.carrier,
                ids: IdConversion::None,
                link: open.link,
                responses: Vec::new(),
                receipts: Vec::new(),
                inbound: Vec::new(),
                slots,
                now: ENGINES_TIME,
            };
            self.sessions.queue(grant).await?;
        }
        Ok(())
    }

    /// Returns a link of the node, whose handouts are sent to it from now on.
    fn new_link(&mut self, open: &OpenLink) -> RemoteLink {
        let link = RemoteLink::new(open.carrier);
        self.tasks.spawn(link.clone().send_handouts(open.link, self.outgoing.clone()));
        link
    }

    /// Queues an operation. While the engine is handed over it is left out: the node sends it to the next one.
    async fn queue(&mut self, sent_by: SentBy, operation: Operation<'_>) -> Result<(), StoreError> {
        let sessions = self.sessions.clone();
        let Ok(place) = sessions.access.queue.reserve().await else { return Ok(()) };
        let new_link = match &operation {
            Operation::OpenLink(open) => Some(self.new_link(open)),
            Operation::Command(_) | Operation::Accept(_) => None,
        };
        // From here on without a pause: the links are as the operations say that are in the queue.
        let mut state = sessions.state();
        let node = state.nodes.get_mut(&self.run).filter(|node| node.is_served_by(&self.outgoing));
        // The node has connected again, and sends the operation there.
        let node = node.ok_or(StoreError::Closed)?;
        node.queued = sent_by.number;
        let reply = Reply::Node(NodeReply { sent_by, answers: self.answers.clone() });
        place.send(match (operation, new_link) {
            (Operation::OpenLink(open), Some(link)) => {
                node.links.retain(|_, link| !link.ends());
                let mailbox = link.mailbox.clone();
                node.links.insert(open.link, link);
                Op::OpenLink(open, mailbox, reply)
            }
            (Operation::OpenLink(_), None) => unreachable!("made above"),
            (Operation::Command(command), _) => {
                node.note(sent_by.number, &command);
                Op::Command(command.into_owned(), Some(reply))
            }
            (Operation::Accept(acceptance), _) => {
                Op::Accept(Arc::new(QueuedAcceptance::new(acceptance)), reply)
            }
        });
        Ok(())
    }
}

/// The node is lost, or has connected again: its links get no more parts.
impl Drop for NodeSession {
    fn drop(&mut self) {
        self.outgoing.close();
        let state = self.sessions.state();
        let Some(node) = state.nodes.get(&self.run) else { return };
        if !node.is_served_by(&self.outgoing) {
            return;
        }
        for (link, carrier) in node.all_links() {
            if let Ok(place) = self.sessions.access.queue.try_reserve() {
                place.send(Op::Command(CloseLink { carrier, link }.into(), None));
            }
        }
    }
}

async fn send_answers(
    sessions: Arc<EngineSessions>,
    run: NodeRun,
    answers: Arc<UnsentAnswers>,
    outgoing: Arc<Outgoing>,
) {
    loop {
        if let Some(node) = sessions.state().nodes.get_mut(&run).filter(|node| node.is_served_by(&outgoing)) {
            node.send_answers();
        }
        tokio::select! {
            biased;
            () = outgoing.closed() => return,
            () = answers.wait() => {}
        }
    }
}

async fn send_changes(mut changes: watch::Receiver<u64>, outgoing: Arc<Outgoing>) {
    while changes.changed().await.is_ok() {
        outgoing.send(&ToNode::CatalogueChanged);
    }
}

/// Sends what is committed, for the record of the node. If too much waits for the connection, the node misses some and reads it
/// from the tables.
async fn send_committed(mut batches: mpsc::Receiver<Arc<PassedOn>>, outgoing: Arc<Outgoing>) {
    while let Some(batch) = batches.recv().await {
        if outgoing.octets() <= COMMITTED_OCTETS_MAX {
            let encode = || frames::encode(&ToNode::Committed(batch.committed.clone())).ok();
            // One that cannot be encoded is left out.
            batch.encoded.get_or_init(encode).iter().for_each(|octets| outgoing.put(octets.clone()));
        } else {
            // The node begins to read the tables with each gap.
            pause_after_a_gap().await;
            while batches.try_recv().is_ok() {}
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "a connection that is too slow is slow in real time")]
async fn pause_after_a_gap() {
    tokio::time::sleep(AFTER_A_GAP).await;
}

async fn send_reports(
    number: u64,
    port: Arc<ReportPort>,
    mut wants: watch::Receiver<(u64, u32, Timestamp)>,
    outgoing: Arc<Outgoing>,
) {
    let mut asked = wants.changed().await;
    while asked.is_ok() {
        let (_, most, now) = *wants.borrow_and_update();
        tokio::select! {
            biased;
            // A port that was closed takes no more reports: the other binds would get them only when they are sent again.
            changed = wants.changed() => asked = changed,
            reports = port.take(most, now) => {
                outgoing.send(&ToNode::Reports { port: number, reports });
                asked = wants.changed().await;
            }
        }
    }
}
