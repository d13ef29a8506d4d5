//! Spreads the endpoints over the nodes that share a store. The node with the engine knows which endpoints have due events; it
//! chooses the node that posts to each, and keeps to its choice until that node has nothing more to post or is silent. So two
//! nodes post to one endpoint only after a fault, and an event is then posted twice at worst.

use crate::clock::Moment;
use crate::live_status::{EndedPosting, Failing, PostingNotice, PostingOrder};
use hermod_store::{Endpoint, NodeRun};
use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::time::Duration;

/// How often a node says which endpoints it posts to.
pub(super) const TELL_EVERY: Duration = Duration::from_secs(1);
/// A node that says nothing for so long gets no more endpoints, and others post to those that it had.
const SILENCE_MAX: Duration = Duration::from_secs(4);
/// If this node itself looked so long ago, it cannot tell whether others were silent.
const LOOKED_LONG_AGO: Duration = Duration::from_secs(2);
/// A node that does not say for so long that it posts to an endpoint has not got the order.
const ORDER_ARRIVES_WITHIN: Duration = Duration::from_secs(2);

/// What the node with the engine knows of the others.
#[derive(Default)]
pub(super) struct Spread {
    heard: HashMap<NodeRun, Moment>,
    looked_at: Option<Moment>,
    /// The endpoints that other nodes post to.
    elsewhere: HashMap<Endpoint, Elsewhere>,
    orders: HashMap<NodeRun, PostingOrder>,
}

#[derive(Clone, Copy)]
struct Elsewhere {
    node: NodeRun,
    /// When it got the first order for this endpoint, or last listed the endpoint in a notice.
    known_at: Moment,
}

/// What follows from a notice of a node.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Heard {
    /// Endpoints whose task has ended.
    pub ended: Vec<EndedPosting>,
    /// What the node that posts to an endpoint knows of it.
    pub changed: Vec<(Endpoint, Option<Failing>)>,
    /// Endpoints whose node does not know that it is to post.
    pub unserved: Vec<Endpoint>,
}

/// Nodes that said nothing for too long.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Silent {
    /// How many of them were heard before.
    pub nodes: usize,
    /// The endpoints that they had.
    pub endpoints: Vec<Endpoint>,
}

impl Spread {
    /// Has another node post to an endpoint. Returns false if this node is to do it.
    pub(super) fn order(&mut self, endpoint: Endpoint, failing: Option<Failing>, now: Moment) -> bool {
        let known = self.elsewhere.get(&endpoint).map(|there| there.node);
        let Some(node) = known.or_else(|| self.choose(endpoint)) else { return false };
        self.elsewhere.entry(endpoint).or_insert(Elsewhere { node, known_at: now });
        self.orders.entry(node).or_default().post_to.push((endpoint, failing));
        true
    }

    /// Chooses the node for an endpoint; none for this one. A node that comes or goes changes the choice only for its share.
    fn choose(&self, endpoint: Endpoint) -> Option<NodeRun> {
        let others = self.heard.keys().copied().map(Some);
        others.chain([None]).max_by_key(|node| weight(endpoint, *node)).flatten()
    }

    /// Whether all of these nodes were heard.
    pub(super) fn knows(&self, mut nodes: impl Iterator<Item = NodeRun>) -> bool {
        nodes.all(|node| self.heard.contains_key(&node))
    }

    /// Takes in what a node says. `is_here`: whether this node posts to an endpoint.
    pub(super) fn hear(
        &mut self,
        from: NodeRun,
        notice: PostingNotice,
        is_here: impl Fn(&Endpoint) -> bool,
        now: Moment,
    ) -> Heard {
        let PostingNotice { mut ended, mut changed, posting_to, is_leaving } = notice;
        if is_leaving {
            self.heard.remove(&from);
        } else {
            self.heard.insert(from, now);
        }
        let is_there = |spread: &Spread, endpoint: &Endpoint| {
            spread.elsewhere.get(endpoint).is_some_and(|there| there.node == from)
        };
        changed.retain(|(endpoint, _)| is_there(self, endpoint));
        ended.retain(|ended| is_there(self, &ended.endpoint));
        for ended in &ended {
            self.elsewhere.remove(&ended.endpoint);
        }
        let unserved = posting_to.map_or_else(Vec::new, |all| self.compare(from, all, is_here, now));
        Heard { ended, changed, unserved }
    }

    /// Compares all endpoints that a node posts to with those that it is to post to. Returns those whose orders were lost.
    fn compare(
        &mut self,
        from: NodeRun,
        posting_to: Vec<Endpoint>,
        is_here: impl Fn(&Endpoint) -> bool,
        now: Moment,
    ) -> Vec<Endpoint> {
        let posting_to: HashSet<Endpoint> = posting_to.into_iter().collect();
        for endpoint in &posting_to {
            let node = self.elsewhere.get(endpoint).map_or(from, |there| there.node);
            if node != from || is_here(endpoint) {
                self.orders.entry(from).or_default().leave.push(*endpoint);
            } else {
                self.elsewhere.insert(*endpoint, Elsewhere { node, known_at: now });
            }
        }
        let is_lost = |endpoint: &Endpoint, there: &mut Elsewhere| {
            let is_old = there.known_at.plus(ORDER_ARRIVES_WITHIN) <= now;
            there.node == from && is_old && !posting_to.contains(endpoint)
        };
        self.elsewhere.extract_if(is_lost).map(|(endpoint, _)| endpoint).collect()
    }

    /// Forgets the nodes that were silent for too long. Returns what they had.
    pub(super) fn take_silent(&mut self, now: Moment) -> Silent {
        let looked_at = self.looked_at.replace(now).unwrap_or(now);
        if looked_at.plus(LOOKED_LONG_AGO) <= now {
            self.heard.values_mut().for_each(|heard| *heard = now);
        }
        let known = self.heard.len();
        self.heard.retain(|_, heard| now < heard.plus(SILENCE_MAX));
        let nodes = known - self.heard.len();
        let (heard, looked) = (&self.heard, now);
        // A node that is leaving has some time to finish its posts.
        let is_left = |_: &Endpoint, there: &mut Elsewhere| {
            !heard.contains_key(&there.node) && there.known_at.plus(SILENCE_MAX) <= looked
        };
        let endpoints = self.elsewhere.extract_if(is_left).map(|(endpoint, _)| endpoint).collect();
        Silent { nodes, endpoints }
    }

    /// Takes what is to be sent.
    pub(super) fn take_orders(&mut self) -> HashMap<NodeRun, PostingOrder> {
        std::mem::take(&mut self.orders)
    }
}

fn weight(endpoint: Endpoint, node: Option<NodeRun>) -> u64 {
    // Only this process compares the weights.
    let mut hasher = DefaultHasher::new();
    (endpoint, node).hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
#[path = "spread_tests.rs"]
mod tests;
