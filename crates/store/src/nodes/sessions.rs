//! The side of the engine: one session per node that is connected. A session puts the operations of its node into the writer's
//! queue, and sends back answers, parts for links and reports for binds.
//!
//! When a node is lost, its links get no more parts at once. The parts that they have stay theirs until the node is back and
//! says which of them it has, or until it is declared dead: then they are in doubt.

use super::frames::{self, HeldPart, Operation, ResumedLink, ToEngine, ToNode, Welcome};
use super::front_end::write_frames;
use super::outgoing::Outgoing;
use super::remote_link::RemoteLink;
use super::wire::{Reading, Writing, read_frame, write_frame};
use crate::access::Access;
use crate::error::StoreError;
use crate::queued_acceptance::QueuedAcceptance;
use crate::report_port::ReportPort;
use crate::writer::answers::{Answers, NodeReply, NodeRun, SentBy};
use crate::writer::operation::{Op, Reply};
use hermod_domain::carrier::IdConversion;
use hermod_domain::ids::CarrierId;
use hermod_domain::time::Timestamp;
use hermod_engine::commands::{AnyCommand, CloseLink, OpenLink};
use hermod_engine::ops::{LinkBatch, LinkId, ResponseRecord, SubmitResponse};
use std::collections::{HashMap, HashSet};
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::io::AsyncWriteExt as _;
use tokio::sync::{Notify, oneshot, watch};
use tokio::task::JoinSet;

/// A command with this time leaves the engine's time as it is.
const ENGINES_TIME: Timestamp = Timestamp::EPOCH;
/// Pause between two looks whether all answers are sent.
const FAREWELL_PAUSE: Duration = Duration::from_millis(10);

/// The parts that were being sent when the engine was loaded, until a node says that it has them.
#[derive(Default)]
pub(crate) struct Unclaimed {
    pub parts: Vec<HeldPart>,
    /// The nodes that may have some.
    pub waits_for: HashSet<NodeRun>,
}

/// The nodes that this engine knows.
pub(crate) struct EngineSessions {
    access: Arc<Access>,
    state: Mutex<State>,
    /// An operation of a node was answered.
    progress: Arc<Notify>,
}

#[derive(Default)]
struct State {
    nodes: HashMap<NodeRun, Node>,
    unclaimed: Unclaimed,
}

#[derive(Default)]
struct Node {
    links: HashMap<LinkId, RemoteLink>,
    answers: Arc<Answers>,
    /// The last operation that was put into the queue.
    queued: u64,
    /// Whether `queued` is known: the first session reads it from the tables.
    is_known: bool,
    session: Option<Arc<Outgoing>>,
}

impl Node {
    fn is_served_by(&self, outgoing: &Arc<Outgoing>) -> bool {
        self.session.as_ref().is_some_and(|session| Arc::ptr_eq(session, outgoing))
    }
}

impl EngineSessions {
    /// `unclaimed`: what other nodes may have. If there are no such nodes, there must be no such parts.
    pub(crate) fn new(access: Arc<Access>, unclaimed: Unclaimed) -> EngineSessions {
        let state = Mutex::new(State { nodes: HashMap::new(), unclaimed });
        EngineSessions { access, state, progress: Arc::default() }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Serves a node until its connection ends.
    pub(super) async fn serve(
        self: Arc<EngineSessions>,
        run: NodeRun,
        mut reading: Reading,
        mut writing: Writing,
    ) -> io::Result<()> {
        let outgoing = Arc::new(Outgoing::default());
        let answers = {
            let mut state = self.state();
            let node = state.nodes.entry(run).or_default();
            // The node has given an earlier connection up.
            if let Some(earlier) = node.session.replace(outgoing.clone()) {
                earlier.close();
            }
            node.answers.clone()
        };
        let applied = self.applied(run).await.map_err(io::Error::other)?;
        write_frame(&mut writing, &Welcome::Served { applied }).await?;
        writing.flush().await?;
        let mut session = Session {
            run,
            sessions: self.clone(),
            answers: answers.clone(),
            outgoing: outgoing.clone(),
            receivers: HashMap::new(),
            tasks: JoinSet::new(),
        };
        session.tasks.spawn(write_frames(writing, outgoing.clone()));
        let changes = self.access.shared.catalogue_changed.subscribe();
        session.tasks.spawn(send_changes(changes, outgoing.clone()));
        session.tasks.spawn(send_answers(answers, outgoing.clone(), self.progress.clone()));
        let mut buffer = Vec::new();
        let ended = loop {
            if outgoing.is_closed() {
                break Ok(());
            }
            match read_frame(&mut reading, &mut buffer).await {
                Ok(frame) => session.handle(frame).await.map_err(io::Error::other)?,
                Err(error) => break Err(error),
            }
        };
        outgoing.close();
        drop(session);
        ended
    }

    /// Returns the last operation of a node that was run. Waits for those that are in the queue.
    async fn applied(&self, run: NodeRun) -> Result<u64, StoreError> {
        let known = self.state().nodes.get(&run).filter(|node| node.is_known).map(|node| node.queued);
        let Some(queued) = known else {
            let applied = self.access.backend.applied(run).await?;
            if let Some(node) = self.state().nodes.get_mut(&run) {
                (node.queued, node.is_known) = (applied, true);
            }
            return Ok(applied);
        };
        loop {
            let progress = self.progress.notified();
            let answers = self.state().nodes.get(&run).map(|node| node.answers.clone());
            if answers.is_none_or(|answers| answers.given() >= queued) {
                return Ok(queued);
            }
            progress.await;
        }
    }

    /// Ends what a dead node had: its parts are in doubt.
    pub(crate) async fn end_node(&self, run: NodeRun) -> Result<(), StoreError> {
        let (node, unclaimed) = {
            let mut state = self.state();
            state.unclaimed.waits_for.remove(&run);
            let unclaimed = state.take_unclaimed();
            (state.nodes.remove(&run), unclaimed)
        };
        let mut lost = unclaimed;
        if let Some(node) = node {
            if let Some(session) = node.session {
                session.close();
            }
            lost.extend(self.close_links(node.links).await?);
        }
        self.report(lost, SubmitResponse::NoResponse).await
    }

    /// Ends the parts that no node has, if no node is waited for.
    pub(crate) async fn settle_unclaimed(&self) {
        let unclaimed = self.state().take_unclaimed();
        if let Err(error) = self.report(unclaimed, SubmitResponse::NoResponse).await {
            tracing::debug!(%error, "The engine was stopped before it knew which parts are in doubt");
        }
    }

    /// Closes links at the engine. Returns the parts that their node had, or would have had.
    async fn close_links(&self, links: HashMap<LinkId, RemoteLink>) -> Result<Vec<HeldPart>, StoreError> {
        let mut parts = Vec::new();
        for (id, link) in links {
            let (reply, closed) = oneshot::channel();
            let close = CloseLink { carrier: link.carrier, link: id };
            let place = self.access.queue.reserve().await?;
            place.send(Op::Command(close.into(), Some(Reply::Caller(reply))));
            closed.await.map_err(|_| StoreError::Closed)??;
            parts.extend(link.last_parts());
        }
        Ok(parts)
    }

    /// Sets the links of a node that has connected again, and returns those that it had before. `held`: the parts that it has.
    fn replace_links(
        &self,
        run: NodeRun,
        links: HashMap<LinkId, RemoteLink>,
        held: &HashSet<HeldPart>,
    ) -> HashMap<LinkId, RemoteLink> {
        let mut state = self.state();
        state.unclaimed.parts.retain(|part| !held.contains(part));
        state.unclaimed.waits_for.remove(&run);
        let node = state.nodes.get_mut(&run);
        node.map(|node| std::mem::replace(&mut node.links, links)).unwrap_or_default()
    }

    /// Returns the runs of the nodes that have a session, or had one.
    pub(crate) fn known(&self) -> Vec<NodeRun> {
        let state = self.state();
        state.nodes.keys().chain(&state.unclaimed.waits_for).copied().collect()
    }

    /// Ends all sessions, once their answers are sent or the time is over.
    #[expect(clippy::disallowed_methods, reason = "the process ends, and waits in real time")]
    pub(crate) async fn say_farewell(&self, longest: Duration) {
        let sessions: Vec<Arc<Outgoing>> =
            self.state().nodes.values().filter_map(|node| node.session.clone()).collect();
        let mut waited = Duration::ZERO;
        while waited < longest && sessions.iter().any(|session| !session.is_empty()) {
            tokio::time::sleep(FAREWELL_PAUSE).await;
            waited += FAREWELL_PAUSE;
        }
        // The last frames are on their way to the socket.
        tokio::time::sleep(FAREWELL_PAUSE).await;
        sessions.iter().for_each(|session| session.close());
    }

    /// Queues a response for each of these parts.
    async fn report(&self, parts: Vec<HeldPart>, response: SubmitResponse) -> Result<(), StoreError> {
        if !parts.is_empty() {
            tracing::warn!(
                parts = parts.len(),
                ?response,
                "Parts of links on another node return to the engine"
            );
        }
        let mut by_carrier: HashMap<CarrierId, Vec<ResponseRecord>> = HashMap::new();
        for HeldPart { carrier, message, part, account, to } in parts {
            let response = response.clone();
            let record = ResponseRecord { message, part, account, to, response, failover_to: None };
            by_carrier.entry(carrier).or_default().push(record);
        }
        for (carrier, responses) in by_carrier {
            let (receipts, inbound) = (Vec::new(), Vec::new());
            let (ids, link, now) = (IdConversion::None, LinkId::NONE, ENGINES_TIME);
            self.queue(LinkBatch { carrier, ids, link, responses, receipts, inbound, slots: 0, now }).await?;
        }
        Ok(())
    }

    async fn queue(&self, command: impl Into<AnyCommand>) -> Result<(), StoreError> {
        self.access.queue.reserve().await?.send(Op::Command(command.into(), None));
        Ok(())
    }
}

impl State {
    /// Takes the parts that no node has, once all nodes have said what they have.
    fn take_unclaimed(&mut self) -> Vec<HeldPart> {
        if self.unclaimed.waits_for.is_empty() {
            std::mem::take(&mut self.unclaimed.parts)
        } else {
            Vec::new()
        }
    }
}

/// The connection of one node.
struct Session {
    run: NodeRun,
    sessions: Arc<EngineSessions>,
    answers: Arc<Answers>,
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

impl Session {
    async fn handle(&mut self, frame: ToEngine) -> Result<(), StoreError> {
        match frame {
            ToEngine::Resume(links) => self.resume(links).await?,
            ToEngine::Operations { first, operations } => {
                for (number, operation) in (first..).zip(operations) {
                    self.queue(number, operation).await?;
                }
            }
            ToEngine::OpenReceiver { port, connection } => {
                let opened = Arc::new(ReportPort::open(self.sessions.access.clone(), connection));
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
                if let Some(receiver) = self.receivers.get(&port) {
                    receiver.port.settle(outcomes, now).await?;
                }
            }
            ToEngine::CloseReceiver { port } => drop(self.receivers.remove(&port)),
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
            place.send(Op::OpenLink(open, mailbox, reply));
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

    /// Follows what the node does with its links.
    fn note(&self, command: &AnyCommand) {
        let state = self.sessions.state();
        let Some(node) = state.nodes.get(&self.run) else { return };
        match command {
            AnyCommand::ReportLink(batch) => {
                if let Some(link) = node.links.get(&batch.link) {
                    link.held().remove_reported(batch);
                }
            }
            AnyCommand::CloseLink(close) => {
                if let Some(link) = node.links.get(&close.link) {
                    link.close();
                }
            }
            _ => {}
        }
    }

    async fn queue(&mut self, number: u64, operation: Operation) -> Result<(), StoreError> {
        let sent_by = SentBy { node: self.run, number };
        let reply = Reply::Node(NodeReply { sent_by, answers: self.answers.clone() });
        let op = match operation {
            Operation::Command(command) => {
                self.note(&command);
                Op::Command(command, Some(reply))
            }
            Operation::Accept(acceptance) => Op::Accept(Arc::new(QueuedAcceptance::new(*acceptance)), reply),
            Operation::OpenLink(open) => {
                let link = self.new_link(&open);
                let mailbox = link.mailbox.clone();
                if let Some(node) = self.sessions.state().nodes.get_mut(&self.run) {
                    node.links.retain(|_, link| !link.ends());
                    node.links.insert(open.link, link);
                }
                Op::OpenLink(open, mailbox, reply)
            }
        };
        let place = self.sessions.access.queue.reserve().await?;
        {
            let mut state = self.sessions.state();
            let node = state.nodes.get_mut(&self.run).filter(|node| node.is_served_by(&self.outgoing));
            // The node has connected again, and sends the operation there.
            let node = node.ok_or(StoreError::Closed)?;
            node.queued = number;
        }
        place.send(op);
        Ok(())
    }
}

/// The node is lost, or has connected again: its links get no more parts.
impl Drop for Session {
    fn drop(&mut self) {
        let state = self.sessions.state();
        let Some(node) = state.nodes.get(&self.run) else { return };
        if !node.is_served_by(&self.outgoing) {
            return;
        }
        for (id, link) in &node.links {
            if let Ok(place) = self.sessions.access.queue.try_reserve() {
                let close = CloseLink { carrier: link.carrier, link: *id };
                place.send(Op::Command(close.into(), None));
            }
        }
    }
}

async fn send_answers(answers: Arc<Answers>, outgoing: Arc<Outgoing>, progress: Arc<Notify>) {
    loop {
        let taken = answers.take().await.into_iter().map(|(number, answer)| (number, frames::sent(answer)));
        put(&outgoing, &ToNode::Answers(taken.collect()));
        progress.notify_waiters();
    }
}

async fn send_changes(mut changes: watch::Receiver<u64>, outgoing: Arc<Outgoing>) {
    while changes.changed().await.is_ok() {
        put(&outgoing, &ToNode::CatalogueChanged);
    }
}

async fn send_reports(
    number: u64,
    port: Arc<ReportPort>,
    mut wants: watch::Receiver<(u64, u32, Timestamp)>,
    outgoing: Arc<Outgoing>,
) {
    while wants.changed().await.is_ok() {
        let (_, most, now) = *wants.borrow_and_update();
        let reports = port.take(most, now).await;
        put(&outgoing, &ToNode::Reports { port: number, reports });
    }
}

fn put(outgoing: &Outgoing, frame: &ToNode) {
    match frames::encode(frame) {
        Ok(octets) => outgoing.put(octets),
        Err(error) => tracing::error!(%error, "A frame for another node could not be encoded"),
    }
}
