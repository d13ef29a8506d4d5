//! What a node knows of the others, and shares with them: the list of nodes, notices, links to carriers as slots, and changes of
//! the setup.

use crate::backend;
use crate::backend::{BindSlot, LinkSlots, NodeRun};
use crate::error::StoreError;
use crate::nodes::FrontEnd;
use crate::nodes::envelope::NodeEnvelope;
use crate::nodes::lease_renewal::OwnNode;
use crate::operations::ClusterStore;
use hermod_domain::ids::{CarrierId, ConnectionId};
use std::sync::{Arc, PoisonError};
use tokio::sync::{mpsc, watch};

/// A node, as an operator sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeInfo {
    pub name: String,
    /// Where other nodes reach it; empty if they cannot.
    pub address: String,
    pub version: String,
    pub is_alive: bool,
    pub runs_engine: bool,
    pub is_this: bool,
    pub run: NodeRun,
}

/// The answer to a bind that wants a slot.
pub enum BindClaim {
    /// No other node: only this process counts the binds.
    Alone,
    Taken(BindSlot),
    /// The connection has all the binds that it may have, on this node and others.
    Full,
}

/// Held during a change of the setup: no other node changes it meanwhile.
pub struct CatalogueLock {
    _lock: Option<backend::CatalogueLock>,
}

/// This node among others: only where a server has the tables.
pub(super) struct Cluster {
    pub own_node: Arc<OwnNode>,
    /// The way to the engine of another node, if this one began without it.
    pub front_end: Option<Arc<FrontEnd>>,
}

impl ClusterStore<'_> {
    /// Returns the answer of this node; that of a process without others for the embedded store.
    fn ask<T: Default>(self, answer: impl FnOnce(&OwnNode) -> T) -> T {
        self.0.inner.cluster.as_ref().map(|cluster| answer(&cluster.own_node)).unwrap_or_default()
    }

    /// Asks the server for a slot. `alone`: the answer for the embedded store.
    async fn ask_server<T: Send + 'static>(
        self,
        alone: T,
        ask: impl FnOnce(&LinkSlots) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let Some(cluster) = &self.0.inner.cluster else { return Ok(alone) };
        let slots = cluster.own_node.slots.clone();
        blocking(move || ask(&slots)).await
    }

    /// Returns all nodes on the server; none for the embedded store.
    pub fn nodes(self) -> Vec<NodeInfo> {
        self.ask(|own_node| {
            let status = own_node.status.borrow();
            let nodes = status.nodes.iter().filter(|node| !node.has_left).map(|node| NodeInfo {
                name: node.name.clone(),
                address: node.address.clone(),
                version: node.version.clone(),
                is_alive: node.is_alive,
                runs_engine: status.writer == Some(node.run),
                is_this: node.run == own_node.run,
                run: node.run,
            });
            nodes.collect()
        })
    }

    /// Sends an envelope to another node, or to all others. It can be lost.
    pub fn send_envelope(self, to: Option<NodeRun>, octets: Vec<u8>) {
        let Some(Cluster { own_node, front_end }) = &self.0.inner.cluster else { return };
        let envelope = NodeEnvelope { from: own_node.run, to, octets };
        let sessions = own_node.engine.borrow().clone();
        match (sessions, front_end) {
            (Some(sessions), _) => sessions.pass_on(envelope),
            (None, Some(front_end)) => front_end.send_envelope(envelope),
            (None, None) => {}
        }
    }

    /// Returns the envelopes of other nodes as they arrive; none if it was called before, or if there can be no other nodes.
    pub fn envelopes(self) -> Option<mpsc::Receiver<NodeEnvelope>> {
        self.ask(|own_node| own_node.binds.as_ref().and_then(|_| own_node.inbox.open()))
    }

    /// Takes one of the binds that a connection may have on all nodes together.
    pub async fn claim_bind(self, connection: ConnectionId, max_binds: u32) -> Result<BindClaim, StoreError> {
        let Some(Cluster { own_node, .. }) = &self.0.inner.cluster else { return Ok(BindClaim::Alone) };
        let Some(binds) = own_node.binds.clone() else { return Ok(BindClaim::Alone) };
        let _turn = own_node.claims.acquire().await.map_err(|_| StoreError::Closed)?;
        let claimed = blocking(move || binds.claim(connection, max_binds)).await?;
        Ok(claimed.map_or(BindClaim::Full, BindClaim::Taken))
    }

    /// Whether this node may share its store with others.
    pub fn has_nodes(self) -> bool {
        self.ask(|own_node| own_node.binds.is_some())
    }

    /// Whether another node is alive.
    pub fn has_other_nodes(self) -> bool {
        self.ask(|own_node| own_node.status.borrow().others(own_node.run).next().is_some())
    }

    /// Sets what this node tells the others. They know it a second or two later.
    pub fn set_notice(self, notice: Vec<u8>) {
        self.ask(|own_node| *own_node.notice.lock().unwrap_or_else(PoisonError::into_inner) = notice);
    }

    /// Returns what the other nodes say that are alive.
    pub fn notices(self) -> Vec<Vec<u8>> {
        self.ask(|own_node| {
            own_node.status.borrow().others(own_node.run).map(|node| node.notice.clone()).collect()
        })
    }

    /// Whether the link of this number to a carrier is best on this node: links are spread over the nodes that are alive.
    pub fn prefers_link(self, carrier: CarrierId, number: u8) -> bool {
        let preferred = self.ask(|own_node| {
            let status = own_node.status.borrow();
            let mut alive: Vec<_> =
                status.nodes.iter().filter(|node| node.is_alive).map(|node| node.run).collect();
            alive.sort_unstable();
            let turn = usize::try_from(carrier.get()).unwrap_or(0) + usize::from(number);
            alive.get(turn % alive.len().max(1)).map(|run| *run == own_node.run)
        });
        preferred.unwrap_or(true)
    }

    /// Takes the link of this number to a carrier for this node. Returns whether it has it now.
    pub async fn claim_link(self, carrier: CarrierId, number: u8) -> Result<bool, StoreError> {
        self.ask_server(true, move |slots| slots.claim(carrier, number)).await
    }

    /// Gives a link back that is closed.
    pub async fn release_link(self, carrier: CarrierId, number: u8) -> Result<(), StoreError> {
        self.ask_server((), move |slots| slots.release(carrier, number)).await
    }

    /// Waits until no other node changes the setup.
    pub async fn lock_catalogue(self) -> Result<CatalogueLock, StoreError> {
        let lock = self.ask_server(None, |slots| slots.lock_catalogue().map(Some)).await?;
        Ok(CatalogueLock { _lock: lock })
    }

    /// Returns a receiver that is notified when the setup was changed, by this node or another.
    pub fn catalogue_changes(self) -> watch::Receiver<u64> {
        self.0.inner.access.shared.catalogue_changed.subscribe()
    }
}

/// Runs work that waits for the server.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, StoreError> + Send + 'static,
) -> Result<T, StoreError> {
    tokio::task::spawn_blocking(work)
        .await
        .map_err(|_| StoreError::damaged("a task of the store panicked"))?
}
