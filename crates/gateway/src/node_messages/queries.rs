//! Queries to other nodes that wait for their answers.

use super::{NodeMessage, send};
use crate::gateway::Gateway;
use crate::live_status::NodeAnswer;
use hermod_store::{NodeInfo, NodeRun};
use serde::Deserialize;
use serde_json::Value;
use std::time::Duration;

/// How long the other nodes may take to answer.
const ANSWER_WAIT: Duration = Duration::from_secs(2);

/// The answers of the other nodes.
#[derive(Default)]
pub struct Answers {
    given: Vec<NodeAnswer>,
    /// The nodes that did not answer in time.
    pub missing: Vec<String>,
}

impl Answers {
    /// Returns the answers that can be read. A node of another release may answer otherwise: then it counts as missing.
    pub fn read<T: for<'de> Deserialize<'de>>(&mut self) -> Vec<T> {
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
pub fn own_name(gateway: &Gateway) -> Option<String> {
    gateway.store.cluster().nodes().into_iter().find(|node| node.is_this).map(|node| node.name)
}

/// Queries all other nodes that are alive.
pub async fn query_others(gateway: &Gateway, query: impl Into<Value>) -> Answers {
    let others: Vec<NodeInfo> =
        gateway.store.cluster().nodes().into_iter().filter(|node| node.is_alive && !node.is_this).collect();
    if others.is_empty() { Answers::default() } else { wait_for(gateway, None, &others, query.into()).await }
}

/// Queries one other node. Returns none if it does not answer in time.
pub async fn query_node(gateway: &Gateway, node: &NodeInfo, query: impl Into<Value>) -> Option<Value> {
    let mut answers = wait_for(gateway, Some(node.run), std::slice::from_ref(node), query.into()).await;
    answers.given.pop().map(|given| given.answer)
}

async fn wait_for(gateway: &Gateway, to: Option<NodeRun>, nodes: &[NodeInfo], query: Value) -> Answers {
    let mut ask = gateway.node_queries.begin();
    send(gateway, to, &NodeMessage::Query { number: ask.number, query });
    let mut answers = Answers::default();
    answers.missing.extend(nodes.iter().map(|node| node.name.clone()));
    let late = gateway.clock.sleep(ANSWER_WAIT);
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
