//! Letters to other nodes, and questions that wait for their answers.

use super::OperatorRefusal;
use super::news::News;
use super::traces::Traced;
use crate::board::{NodeAnswer, PostingLetter};
use crate::views::binds::BindsQuery;
use crate::views::carriers::AlarmsQuery;
use crate::world::{Use, World};
use hermod_domain::ids::ConnectionId;
use hermod_domain::time::Timestamp;
use hermod_store::{NodeInfo, NodeRun};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::net::IpAddr;
use std::time::Duration;

/// How long the other nodes may take to answer.
const ANSWER_WAIT: Duration = Duration::from_secs(2);

/// What the gateways of several nodes tell each other.
#[derive(Serialize, Deserialize)]
pub(super) enum NodeLetter {
    /// What the sender has taken from limits that all nodes share.
    Used(Vec<Use>),
    /// The oldest bind of this connection from this address may be dead: find out.
    ProbeBind {
        connection: ConnectionId,
        peer: IpAddr,
    },
    /// What happened at the sender since its last news.
    News(News),
    /// Which node posts webhooks to which endpoint.
    Webhooks(PostingLetter),
    Question {
        number: u64,
        question: Question,
    },
    Answer {
        number: u64,
        node: String,
        answer: Value,
    },
}

#[derive(Serialize, Deserialize)]
pub(super) enum Question {
    Binds(BindsQuery),
    Carriers,
    Alarms(AlarmsQuery),
    /// Says how many alarms were acknowledged.
    AcknowledgeAlarms(AlarmsQuery),
    /// Says whether the carrier was stopped.
    Resume(String),
    /// Says whether there is such a bind.
    Unbind(u64),
    /// Unbinds all binds of a connection.
    UnbindAll(ConnectionId),
    /// Traces PDUs until then, or no longer.
    Trace(Traced, Option<Timestamp>),
    /// Stops the node in order.
    Stop,
}

/// The answers of the other nodes.
#[derive(Default)]
pub(super) struct Answers {
    pub given: Vec<NodeAnswer>,
    /// The nodes that did not answer in time.
    pub missing: Vec<String>,
}

impl Answers {
    /// Returns the answers that can be read. A node of another release may answer otherwise: then it counts as missing.
    pub(super) fn read<T: for<'de> Deserialize<'de>>(&mut self) -> Vec<T> {
        let Answers { given, missing } = self;
        let read = |NodeAnswer { node, answer }| match serde_json::from_value(answer) {
            Ok(answer) => Some(answer),
            Err(_) => {
                missing.push(node);
                None
            }
        };
        given.drain(..).filter_map(read).collect()
    }
}

/// Returns the name of this node; none if it is alone.
pub(super) fn own_name(world: &World) -> Option<String> {
    world.store.nodes().into_iter().find(|node| node.is_this).map(|node| node.name)
}

pub(super) fn find_node(world: &World, name: &str) -> Result<NodeInfo, OperatorRefusal> {
    let found = world.store.nodes().into_iter().find(|node| node.name == name && node.is_alive);
    found.ok_or_else(|| OperatorRefusal::no_such("node", name))
}

/// Asks all other nodes that are alive.
pub(super) async fn ask_others(world: &World, question: Question) -> Answers {
    let others: Vec<NodeInfo> =
        world.store.nodes().into_iter().filter(|node| node.is_alive && !node.is_this).collect();
    if others.is_empty() { Answers::default() } else { ask(world, None, &others, question).await }
}

/// Asks one other node.
pub(super) async fn ask_one(
    world: &World,
    node: &NodeInfo,
    question: Question,
) -> Result<Value, OperatorRefusal> {
    let mut answers = ask(world, Some(node.run), std::slice::from_ref(node), question).await;
    answers.given.pop().map(|given| given.answer).ok_or(OperatorRefusal::no_answer())
}

async fn ask(world: &World, to: Option<NodeRun>, nodes: &[NodeInfo], question: Question) -> Answers {
    let mut ask = world.asks.begin();
    send(world, to, &NodeLetter::Question { number: ask.number, question });
    let mut answers = Answers::default();
    answers.missing.extend(nodes.iter().map(|node| node.name.clone()));
    let late = world.clock.sleep(ANSWER_WAIT);
    tokio::pin!(late);
    while !answers.missing.is_empty() {
        let NodeAnswer { node, answer } = tokio::select! {
            Some(answer) = ask.next() => answer,
            () = &mut late => break,
        };
        answers.missing.retain(|missing| *missing != node);
        answers.given.push(NodeAnswer { node, answer });
    }
    answers
}

pub(super) fn send(world: &World, to: Option<NodeRun>, letter: &NodeLetter) {
    match serde_json::to_vec(letter) {
        Ok(octets) => world.store.send_letter(to, octets),
        Err(error) => tracing::error!(%error, "A letter to another node could not be written"),
    }
}
