//! Keeps the lease of this node: a thread renews it every second, and looks after the other nodes. The node with the engine
//! declares nodes dead whose leases have expired; the others watch the node with the engine.

use super::envelope::Inbox;
use super::listening::listen;
use super::sessions::EngineSessions;
use super::wire::NodeConnector;
use crate::backend::NodeRun;
use crate::backend::{BindSlots, LinkSlots, Member, NodeRow, NodesStatus};
use crate::backend::{BootTime, Lease, RENEW_EVERY};
use crate::backend::{NodeListener, NodeOptions, Server};
use crate::error::StoreError;
use crate::writer::queue::OpQueue;
use crate::writer::shared::Shared;
use std::collections::HashMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::thread::JoinHandle;
use std::time::Duration;
use tokio::runtime::{Handle, Runtime};
use tokio::sync::{Semaphore, watch};

/// Pause after a renewal that failed.
const RETRY_PAUSE: Duration = Duration::from_millis(200);
/// How often the lease of a node must be found expired before it is declared dead. After PostgreSQL was away all leases have
/// expired, and each node needs a moment to renew its own.
const LOOKS_MIN: u32 = 3;
/// How long to wait for the other nodes to read their last answers, when the node leaves. Longer than a node that is alive needs
/// on a busy machine; the others accept nothing meanwhile.
const FAREWELL_MAX: Duration = Duration::from_secs(3);

/// Claims of binds that may wait on a thread for the server.
const CLAIMS_MAX: usize = 2;

/// This node among the others, for as long as the store is open.
pub(crate) struct OwnNode {
    pub run: NodeRun,
    pub status: watch::Sender<NodesStatus>,
    /// What the gateways of other nodes tell this one.
    pub inbox: Arc<Inbox>,
    /// What this node tells the others.
    pub notice: Mutex<Vec<u8>>,
    pub slots: Arc<LinkSlots>,
    /// The binds of customers that this node has; none if it has no listener for other nodes.
    pub binds: Option<Arc<BindSlots>>,
    /// Claims of binds, which share a connection to the server.
    pub claims: Semaphore,
    /// The sessions of the other nodes, while the engine is here.
    pub engine: watch::Sender<Option<Arc<EngineSessions>>>,
    /// Runs the connections between nodes; none if this node has no listener.
    runtime: Mutex<Option<Runtime>>,
    handle: Option<Handle>,
    stopping: Mutex<bool>,
    stop: Condvar,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl OwnNode {
    /// Takes part, with a first lease, and returns the member for [`OwnNode::keep`].
    pub(crate) fn begin(member: &Member, lease: &Lease, server: &Server) -> Result<OwnNode, StoreError> {
        let asked_at = BootTime::now();
        let status = member.renew(&[])?;
        lease.renew(asked_at);
        if let Some(writer) = status.writer
            && status.writing_node().is_none()
        {
            member.end_connections(writer)?;
        }
        let node = server.node.as_ref();
        let runtime = node.and_then(|node| node.listener.as_ref()).map(|_| {
            let mut builder = tokio::runtime::Builder::new_multi_thread();
            builder.worker_threads(1).thread_name("hermod-nodes").enable_all().build()
        });
        let runtime = runtime.transpose().map_err(|error| StoreError::Nodes(error.to_string()))?;
        Ok(OwnNode {
            run: member.run,
            status: watch::Sender::new(status),
            engine: watch::Sender::new(None),
            inbox: Arc::default(),
            notice: Mutex::default(),
            slots: Arc::new(LinkSlots::new(server, member.run)),
            binds: runtime.as_ref().map(|_| BindSlots::start(server, member.run)).transpose()?,
            claims: Semaphore::new(CLAIMS_MAX),
            handle: runtime.as_ref().map(|runtime| runtime.handle().clone()),
            runtime: Mutex::new(runtime),
            stopping: Mutex::new(false),
            stop: Condvar::new(),
            thread: Mutex::new(None),
        })
    }

    pub(super) fn handle(&self) -> Option<&Handle> {
        self.handle.as_ref()
    }

    /// Starts the thread.
    pub(crate) fn keep(
        self: &Arc<OwnNode>,
        member: Member,
        shared: Arc<Shared>,
        queue: Arc<OpQueue>,
    ) -> Result<(), StoreError> {
        let renewal = LeaseRenewal {
            member,
            own_node: Arc::downgrade(self),
            shared,
            queue,
            expired: HashMap::new(),
            commits: 0,
        };
        let thread = std::thread::Builder::new().name("hermod-lease".to_owned()).spawn(move || renewal.run());
        *lock(&self.thread) = Some(thread.map_err(|error| StoreError::Nodes(error.to_string()))?);
        Ok(())
    }

    /// Accepts connections of other nodes from now on.
    pub(crate) fn listen(
        &self,
        listener: &NodeListener,
        wire: &Arc<NodeConnector>,
        store: [u8; 16],
        node: &Arc<NodeOptions>,
    ) -> Result<(), StoreError> {
        let failed = |error: std::io::Error| StoreError::Nodes(error.to_string());
        let Some(handle) = &self.handle else { return Ok(()) };
        let socket = listener.socket.try_clone().map_err(failed)?;
        socket.set_nonblocking(true).map_err(failed)?;
        let _entered = handle.enter();
        let socket = tokio::net::TcpListener::from_std(socket).map_err(failed)?;
        let (clock, wire, engine) = (node.clone(), wire.clone(), self.engine.subscribe());
        #[expect(clippy::let_underscore_future, reason = "it ends with its runtime")]
        let _ = handle.spawn(listen(socket, wire, store, move || (clock.clock)(), engine));
        Ok(())
    }

    /// Leaves: another node may take over at once.
    pub(crate) async fn leave(&self) {
        if let Some(sessions) = self.engine.send_replace(None) {
            sessions.say_farewell(FAREWELL_MAX).await;
        }
        *lock(&self.stopping) = true;
        self.stop.notify_all();
        let thread = lock(&self.thread).take();
        if let Some(thread) = thread {
            drop(tokio::task::spawn_blocking(move || thread.join()).await);
        }
        self.end_runtime();
    }

    fn end_runtime(&self) {
        if let Some(runtime) = lock(&self.runtime).take() {
            runtime.shutdown_background();
        }
    }

    /// Waits until the next renewal. Returns false if the thread is to end.
    fn wait(&self, pause: Duration) -> bool {
        let stopping = lock(&self.stopping);
        let waited = self.stop.wait_timeout_while(stopping, pause, |stopping| !*stopping);
        !*waited.unwrap_or_else(PoisonError::into_inner).0
    }
}

impl Drop for OwnNode {
    fn drop(&mut self) {
        self.end_runtime();
    }
}

struct LeaseRenewal {
    member: Member,
    own_node: Weak<OwnNode>,
    shared: Arc<Shared>,
    queue: Arc<OpQueue>,
    /// How often the lease of a node was found expired in a row.
    expired: HashMap<NodeRun, u32>,
    /// The last batch that was seen while another node wrote.
    commits: u64,
}

impl LeaseRenewal {
    fn run(mut self) {
        let mut pause = RENEW_EVERY;
        let mut has_failed = false;
        while let Some(own_node) = self.own_node.upgrade()
            && own_node.wait(pause)
        {
            let asked_at = BootTime::now();
            // Before the renewal: what it finds may be older than a takeover meanwhile.
            let ran_engine = *self.shared.runs_engine.borrow();
            let notice = lock(&own_node.notice).clone();
            match self.member.renew(&notice) {
                Ok(status) => {
                    (pause, has_failed) = (RENEW_EVERY, false);
                    self.check(&status, ran_engine);
                    self.shared.lease.renew(asked_at);
                    if let Err(error) = self.look_after(&own_node, &status) {
                        tracing::warn!(%error, "The other nodes could not be looked after; trying again");
                    }
                    self.publish(&own_node, status);
                }
                Err(error) => {
                    if !std::mem::replace(&mut has_failed, true) {
                        tracing::error!(%error, "The lease of this node could not be renewed; trying again");
                    }
                    pause = RETRY_PAUSE;
                }
            }
        }
        if let Err(error) = self.member.leave() {
            tracing::warn!(%error, "The lease could not be given back; other nodes wait until it expires");
        }
    }

    /// Ends the process if another node has declared this one dead.
    fn check(&self, status: &NodesStatus, ran_engine: bool) {
        let is_replaced = ran_engine && status.writer != Some(self.member.run);
        if !status.is_renewed || is_replaced {
            StoreError::DeclaredDead.exit_process();
        }
    }

    fn look_after(&mut self, own_node: &OwnNode, status: &NodesStatus) -> Result<(), StoreError> {
        if *self.shared.runs_engine.borrow() {
            return self.look_after_nodes(own_node, status);
        }
        // What was there a look ago should have come from the engine since.
        let commits_before = std::mem::replace(&mut self.commits, status.commits);
        if self.shared.feed.sequence() < commits_before {
            self.shared.feed.push_elsewhere(status.commits);
        }
        let Some(writer) = status.writer else { return Ok(()) };
        match status.writing_node() {
            Some(node) if node.is_alive => self.expired.clear(),
            Some(node) => {
                let looks = self.expired.entry(node.run).or_default();
                *looks += 1;
                if *looks >= LOOKS_MIN && self.member.declare_dead(node.run)? {
                    tracing::warn!(node = node.name, "The node with the engine is dead");
                    self.member.end_connections(writer)?;
                }
            }
            None => self.member.end_connections(writer)?,
        }
        Ok(())
    }

    /// Declares nodes dead whose leases have expired, and ends what they had.
    fn look_after_nodes(&mut self, own_node: &OwnNode, status: &NodesStatus) -> Result<(), StoreError> {
        let own = self.member.run;
        let is_expired = |node: &&NodeRow| !node.is_alive && !node.has_left && node.run != own;
        let expired: Vec<&NodeRow> = status.nodes.iter().filter(is_expired).collect();
        self.expired.retain(|run, _| expired.iter().any(|node| node.run == *run));
        for node in expired {
            let looks = self.expired.entry(node.run).or_default();
            *looks += 1;
            if *looks >= LOOKS_MIN && self.member.declare_dead(node.run)? {
                tracing::warn!(node = node.name, "A node is dead; what its links were sending is in doubt");
            }
        }
        let sessions = own_node.engine.borrow().clone();
        let (Some(sessions), Some(handle)) = (sessions, own_node.handle()) else { return Ok(()) };
        for run in sessions.known() {
            if status.nodes.iter().any(|node| node.run == run) {
                continue;
            }
            // Not awaited: the writer may wait for a renewal of this thread.
            let sessions = sessions.clone();
            #[expect(clippy::let_underscore_future, reason = "it ends with its runtime")]
            let _ = handle.spawn(async move {
                if let Err(error) = sessions.end_node(run).await {
                    tracing::debug!(%error, "The engine was stopped before it ended what a dead node had");
                }
            });
        }
        Ok(())
    }

    fn publish(&self, own_node: &OwnNode, status: NodesStatus) {
        let before = own_node.status.send_replace(status);
        let after = own_node.status.borrow();
        if before.catalogue != after.catalogue {
            self.shared.catalogue_changed.send_modify(|count| *count += 1);
        }
        if before.writer != after.writer || before.writing_node() != after.writing_node() {
            self.queue.wake_writer();
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
