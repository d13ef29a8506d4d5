//! The side of the engine: what it knows of the nodes that are connected, or were.
//!
//! When a node is lost, its links get no more parts at once. The parts that they have stay theirs until the node is back and
//! says which of them it has, or until it is declared dead: then they are in doubt.

use super::envelope::{Inbox, NodeEnvelope};
use super::frames::{self, HeldPart, RunBefore, ToNode};
use super::outgoing::Outgoing;
use super::remote_link::RemoteLink;
use crate::backend::NodeRun;
use crate::backend::NodesStatus;
use crate::error::StoreError;
use crate::sql::nodes;
use crate::writer::answers::UnsentAnswers;
use crate::writer::operation::{Op, Reply};
use crate::writer::shared::Access;
use hermod_domain::carrier::IdConversion;
use hermod_domain::ids::CarrierId;
use hermod_domain::time::Timestamp;
use hermod_engine::commands::{AnyCommand, CloseLink};
use hermod_engine::ops::{LinkBatch, LinkId, ResponseRecord, SubmitResponse};
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::{oneshot, watch};

/// A command with this time leaves the engine's time as it is.
pub(super) const ENGINES_TIME: Timestamp = Timestamp::EPOCH;

/// The parts that were being sent when the engine was loaded, until a node says that it has them.
#[derive(Default)]
pub(crate) struct Unclaimed {
    pub parts: Vec<HeldPart>,
    /// The nodes that may have some.
    pub waits_for: HashSet<NodeRun>,
}

/// The nodes that this engine knows.
pub(crate) struct EngineSessions {
    /// The node with the engine.
    own: NodeRun,
    pub(super) access: Arc<Access>,
    state: Mutex<NodeSessions>,
    status: watch::Receiver<NodesStatus>,
    inbox: Arc<Inbox>,
}

#[derive(Default)]
pub(super) struct NodeSessions {
    pub(super) nodes: HashMap<NodeRun, NodeLink>,
    /// The runs that were ended. They are never served again: their operations may still be in the queue.
    ended: HashSet<NodeRun>,
    unclaimed: Unclaimed,
}

#[derive(Default)]
pub(super) struct NodeLink {
    /// Those that the node named in this session.
    pub(super) links: HashMap<LinkId, RemoteLink>,
    /// Those of earlier sessions. Their parts are not sent any more: the node says first which parts it has.
    left: Vec<(LinkId, RemoteLink)>,
    /// Held by the session that is served. The next one begins when it has ended.
    turn: Arc<tokio::sync::Mutex<()>>,
    pub(super) answers: Arc<UnsentAnswers>,
    /// The last operation that was put into the queue.
    pub(super) queued: u64,
    /// Operations that close a link, until they are answered.
    closing: HashMap<u64, LinkId>,
    /// Whether `queued` is known: the first session reads it from the tables.
    is_known: bool,
    pub(super) session: Option<Arc<Outgoing>>,
}

/// What a session begins with.
pub(super) struct Begun {
    pub answers: Arc<UnsentAnswers>,
    pub turn: Arc<tokio::sync::Mutex<()>>,
}

impl NodeLink {
    /// Begins a session, and ends an earlier one.
    fn begin(&mut self, outgoing: &Arc<Outgoing>) {
        self.left.extend(self.links.drain());
        if let Some(earlier) = self.session.replace(outgoing.clone()) {
            earlier.close();
        }
    }

    /// Returns the links that the engine may still know.
    pub(super) fn all_links(&self) -> impl Iterator<Item = (LinkId, CarrierId)> {
        let left = self.left.iter().map(|(id, link)| (*id, link.carrier));
        self.links.iter().map(|(id, link)| (*id, link.carrier)).chain(left)
    }

    /// Follows what the node does with its links.
    pub(super) fn note(&mut self, number: u64, command: &AnyCommand) {
        match command {
            AnyCommand::ReportLink(batch) => {
                if let Some(link) = self.links.get(&batch.link) {
                    link.held().remove_reported(batch);
                }
            }
            AnyCommand::CloseLink(close) => drop(self.closing.insert(number, close.link)),
            _ => {}
        }
    }

    /// Notes that an operation was run: a link that it closed gets no more parts.
    pub(super) fn note_answered(&mut self, number: u64) {
        if let Some(link) = self.closing.remove(&number).and_then(|link| self.links.get(&link)) {
            link.close();
        }
    }

    /// Sends the answers that came. The handouts of the batches that they belong to are sent before them: a link that was closed
    /// asks for its last parts once.
    pub(super) fn send_answers(&mut self) {
        let Some(session) = self.session.clone() else { return };
        let taken = self.answers.take();
        let handouts = self.links.iter().map(|(id, link)| (*id, link.take_handout()));
        let handouts: Vec<_> = handouts.filter(|(_, handout)| !handout.is_empty()).collect();
        if !handouts.is_empty() {
            session.send(&ToNode::Handouts(handouts));
        }
        if taken.is_empty() {
            return;
        }
        taken.iter().for_each(|(number, _)| self.note_answered(*number));
        let taken = taken.into_iter().map(|(number, answer)| (number, frames::sent(answer)));
        session.send(&ToNode::Answers(taken.collect()));
    }

    pub(super) fn is_served_by(&self, outgoing: &Arc<Outgoing>) -> bool {
        self.session.as_ref().is_some_and(|session| Arc::ptr_eq(session, outgoing))
    }
}

impl EngineSessions {
    /// `unclaimed`: what other nodes may have. If there are no such nodes, there must be no such parts.
    pub(crate) fn new(
        own: NodeRun,
        access: Arc<Access>,
        unclaimed: Unclaimed,
        status: watch::Receiver<NodesStatus>,
        inbox: Arc<Inbox>,
    ) -> EngineSessions {
        let state = Mutex::new(NodeSessions { unclaimed, ..NodeSessions::default() });
        EngineSessions { own, access, state, status, inbox }
    }

    pub(super) fn state(&self) -> MutexGuard<'_, NodeSessions> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Passes an envelope on to the nodes that it is for.
    pub(crate) fn pass_on(&self, envelope: NodeEnvelope) {
        for (run, node) in &self.state().nodes {
            if let Some(session) = node.session.as_ref().filter(|_| envelope.is_for(*run)) {
                session.put_envelope(&ToNode::NodeEnvelope(envelope.clone()));
            }
        }
        if envelope.is_for(self.own) {
            self.inbox.put(envelope);
        }
    }

    /// Begins the session of a node, and ends an earlier one. Returns none for a node that is not known: it is dead, or so new that
    /// the next renewal will tell.
    pub(super) fn begin(&self, run: NodeRun, outgoing: &Arc<Outgoing>) -> Option<Begun> {
        let is_member = self.status.borrow().nodes.iter().any(|node| node.run == run && !node.has_left);
        let mut state = self.state();
        if !is_member || state.ended.contains(&run) {
            return None;
        }
        let node = state.nodes.entry(run).or_default();
        node.begin(outgoing);
        Some(Begun { answers: node.answers.clone(), turn: node.turn.clone() })
    }

    /// Returns the operations of a node that were run. Waits for those that are in the queue.
    pub(super) async fn run_before(&self, run: NodeRun) -> Result<RunBefore, StoreError> {
        let known = self.state().nodes.get(&run).filter(|node| node.is_known).map(|node| node.queued);
        let Some(queued) = known else {
            let (applied, outcomes) =
                self.access.backend.read(move |database| nodes::applied(database, run)).await?;
            if let Some(node) = self.state().nodes.get_mut(&run) {
                (node.queued, node.is_known) = (applied, true);
            }
            return Ok(RunBefore { applied, outcomes });
        };
        let answers = self.state().nodes.get(&run).map(|node| node.answers.clone());
        if let Some(answers) = answers {
            answers.wait_for(queued).await?;
        }
        let (_, outcomes) = self.access.backend.read(move |database| nodes::applied(database, run)).await?;
        Ok(RunBefore { applied: queued, outcomes })
    }

    /// Ends what a dead node had: its parts are in doubt.
    pub(crate) async fn end_node(&self, run: NodeRun) -> Result<(), StoreError> {
        let node = {
            let mut state = self.state();
            state.ended.insert(run);
            state.unclaimed.waits_for.remove(&run);
            state.nodes.remove(&run)
        };
        let mut lost = self.take_unclaimed();
        if let Some(node) = node {
            if let Some(session) = node.session {
                session.close();
            }
            lost.extend(self.close_links(node.links.into_iter().chain(node.left)).await?);
        }
        self.report(lost, SubmitResponse::NoResponse).await
    }

    /// Ends the parts that no node has. Hands out reports after this long at the latest: a node that takes longer may repeat
    /// some that its binds have.
    #[expect(clippy::disallowed_methods, reason = "nodes connect in real time")]
    pub(crate) async fn begin_serving(&self, reports_held: Duration) {
        self.settle_unclaimed().await;
        tokio::time::sleep(reports_held).await;
        self.access.shared.outboxes.set_served(true);
    }

    /// Ends the parts that no node has and hands out reports, if no node is waited for.
    pub(super) async fn settle_unclaimed(&self) {
        let unclaimed = self.take_unclaimed();
        if let Err(error) = self.report(unclaimed, SubmitResponse::NoResponse).await {
            tracing::debug!(%error, "The engine was stopped before it knew which parts are in doubt");
        }
    }

    /// Closes links at the engine. Returns the parts that their node had, or would have had.
    pub(super) async fn close_links(
        &self,
        links: impl IntoIterator<Item = (LinkId, RemoteLink)>,
    ) -> Result<Vec<HeldPart>, StoreError> {
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
    pub(super) fn replace_links(
        &self,
        run: NodeRun,
        links: HashMap<LinkId, RemoteLink>,
        held: &HashSet<HeldPart>,
    ) -> Vec<(LinkId, RemoteLink)> {
        let mut state = self.state();
        state.unclaimed.parts.retain(|part| !held.contains(part));
        state.unclaimed.waits_for.remove(&run);
        let Some(node) = state.nodes.get_mut(&run) else { return Vec::new() };
        node.left.extend(std::mem::replace(&mut node.links, links));
        std::mem::take(&mut node.left)
    }

    /// Returns the runs of the nodes that have a session, or had one.
    pub(crate) fn known(&self) -> Vec<NodeRun> {
        let state = self.state();
        state.nodes.keys().chain(&state.unclaimed.waits_for).copied().collect()
    }

    /// Ends all sessions after the writer has ended. Each node gets its last answers and closes its connection when it has read
    /// them: otherwise they could be lost, and it would not know what became of its operations. Nodes that take longer are
    /// disconnected.
    #[expect(clippy::disallowed_methods, reason = "the process ends, and waits in real time")]
    pub(crate) async fn say_farewell(&self, longest: Duration) {
        let mut sessions: Vec<Arc<Outgoing>> = Vec::new();
        for node in self.state().nodes.values_mut() {
            node.send_answers();
            if let Some(session) = &node.session {
                session.send(&ToNode::Farewell);
                sessions.push(session.clone());
            }
        }
        let closed = async {
            for session in &sessions {
                session.closed().await;
            }
        };
        drop(tokio::time::timeout(longest, closed).await);
        sessions.iter().for_each(|session| session.close());
    }

    /// Queues a response for each of these parts.
    pub(super) async fn report(
        &self,
        parts: Vec<HeldPart>,
        response: SubmitResponse,
    ) -> Result<(), StoreError> {
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

    /// Takes the parts that no node has, once all nodes have said what they have. From then on reports are handed out.
    fn take_unclaimed(&self) -> Vec<HeldPart> {
        let mut state = self.state();
        if !state.unclaimed.waits_for.is_empty() {
            return Vec::new();
        }
        self.access.shared.outboxes.set_served(true);
        std::mem::take(&mut state.unclaimed.parts)
    }

    pub(super) async fn queue(&self, command: impl Into<AnyCommand>) -> Result<(), StoreError> {
        self.access.queue.reserve().await?.send(Op::Command(command.into(), None));
        Ok(())
    }
}

#[cfg(test)]
#[path = "sessions_tests.rs"]
mod tests;
