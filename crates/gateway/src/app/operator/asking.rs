//! Questions to other nodes that wait for their answers.

use super::OperatorRefusal;
use super::letters::{NodeLetter, Question};
use crate::board::NodeAnswer;
use crate::world::World;
use hermod_store::{NodeInfo, NodeRun};
use serde::Deserialize;
use serde_json::Value;
use std::time::Duration;

/// How long the other nodes may take to answer.
const ANSWER_WAIT: Duration = Duration::from_secs(2);

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

/// Returns the name of this node; none with the embedded store.
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
