//! A node whose engine is elsewhere. Its queue of operations is sent to the engine, in order; answers, parts for its links and
//! reports for its binds come back. What was sent and not answered is kept until the next engine has said what was run, and with
//! which outcome.

use super::envelope::{Inbox, NodeEnvelope};
use super::frames::{self, HeldPart, Hello, Operation, RunBefore, ToEngine, ToNode, VERSION, Welcome};
use super::held_links::{HeldLink, HeldLinks};
use super::outgoing::Outgoing;
use super::pending::PendingOperations;
use super::remote_port::RemotePort;
use super::wire::{NodeConnector, Reading, read_frame, read_next, write_frame, write_frames};
use crate::backend::NodeRun;
use crate::error::StoreError;
use crate::writer::operation::Op;
use crate::writer::queue::OpQueue;
use crate::writer::shared::Access;
use crate::writer::shared::Shared;
use hermod_domain::ids::ConnectionId;
use hermod_domain::time::Timestamp;
use hermod_engine::ops::LinkId;
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::io;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;
use tokio::io::AsyncWriteExt as _;
use tokio::runtime::Handle;
use tokio::task::JoinSet;

/// Operations that may wait for an answer. Beyond that the queue fills, and submissions are rejected.
const UNANSWERED_MAX: usize = 8_192;
/// Operations in one frame.
const OPERATIONS_PER_FRAME_MAX: usize = 512;
/// How long to wait for an answer while too many are missing, before looking whether the connection is lost.
const ANSWER_WAIT: Duration = Duration::from_millis(100);
/// How long a connection and its welcome may take.
const CONNECT_MAX: Duration = Duration::from_secs(3);

/// What outlives a connection to an engine.
pub(crate) struct FrontEnd {
    run: NodeRun,
    store: [u8; 16],
    wire: Arc<NodeConnector>,
    state: Mutex<State>,
    answered: Condvar,
    ports: Mutex<Ports>,
    ports_opened: AtomicU64,
    is_unreached: AtomicBool,
    shared: Arc<Shared>,
    inbox: Arc<Inbox>,
}

#[derive(Default)]
struct State {
    /// Counts the connections. What an earlier one brings is not taken any more: the engine has been told what was there.
    connection: u64,
    pending: PendingOperations,
    links: HeldLinks,
}

#[derive(Default)]
struct Ports {
    open: HashMap<u64, Weak<RemotePort>>,
    /// Those of binds that have ended, with results that no engine has confirmed.
    closing: HashMap<u64, Arc<RemotePort>>,
    engine: Option<Arc<Outgoing>>,
}

/// What the engine of this process takes over from the front end.
#[derive(Default)]
pub(crate) struct TakenOver {
    pub links: Vec<HeldLink>,
    /// The parts that the links have, or report on.
    pub held: HashSet<HeldPart>,
    /// Operations that no engine has run.
    pub ops: Vec<Op>,
}

/// A connection to an engine, and the tasks that serve it. Dropping it closes it.
pub(crate) struct EngineConnection {
    front_end: Arc<FrontEnd>,
    outgoing: Arc<Outgoing>,
    _tasks: JoinSet<()>,
}

impl EngineConnection {
    pub(crate) fn is_lost(&self) -> bool {
        self.outgoing.is_closed()
    }
}

impl Drop for EngineConnection {
    fn drop(&mut self) {
        self.outgoing.close();
        self.front_end.disconnect_ports(&self.outgoing);
    }
}

impl FrontEnd {
    pub(crate) fn new(
        run: NodeRun,
        store: [u8; 16],
        wire: Arc<NodeConnector>,
        shared: Arc<Shared>,
        inbox: Arc<Inbox>,
    ) -> FrontEnd {
        FrontEnd {
            run,
            store,
            wire,
            state: Mutex::default(),
            answered: Condvar::new(),
            ports: Mutex::default(),
            ports_opened: AtomicU64::new(0),
            is_unreached: AtomicBool::new(false),
            shared,
            inbox,
        }
    }

    /// Connects to the engine at an address, and sends again what it has not run. Returns none if the engine is not there.
    pub(crate) fn connect(
        self: &Arc<FrontEnd>,
        address: SocketAddr,
        now: Timestamp,
        runtime: &Handle,
        queue: &Arc<OpQueue>,
    ) -> io::Result<Option<EngineConnection>> {
        let _entered = runtime.enter();
        let greeting = async {
            let (mut reading, mut writing) = self.wire.connect(address).await?;
            let NodeRun { id, epoch } = self.run;
            let keeps_record = self.shared.feed.is_followed();
            let hello = Hello { version: VERSION, store: self.store, id, epoch, now, keeps_record };
            write_frame(&mut writing, &hello).await?;
            writing.flush().await?;
            let welcome: Welcome = read_frame(&mut reading, &mut Vec::new()).await?;
            Ok::<_, io::Error>((reading, writing, welcome))
        };
        #[expect(clippy::disallowed_methods, reason = "a node that does not answer is noticed in real time")]
        let greeted = runtime.block_on(tokio::time::timeout(CONNECT_MAX, greeting));
        let (reading, writing, welcome) = greeted.map_err(|_| io::ErrorKind::TimedOut)??;
        let before = match welcome {
            Welcome::Served(before) => before,
            Welcome::NotHere => return Ok(None),
            Welcome::Refused(why) => return Err(io::Error::new(io::ErrorKind::PermissionDenied, why)),
        };
        let outgoing = Arc::new(Outgoing::default());
        // Before the links: the engine hands out reports when each node has said what it has.
        self.connect_ports(&outgoing);
        let number = self.resume(before, &outgoing).map_err(|error| {
            self.disconnect_ports(&outgoing);
            io::Error::other(error)
        })?;
        let mut tasks = JoinSet::new();
        let ping = frames::encode(&ToEngine::Ping).map_err(io::Error::other)?;
        tasks.spawn_on(write_frames(writing, outgoing.clone(), ping), runtime);
        let (front_end, closing, waking) = (self.clone(), outgoing.clone(), queue.clone());
        let read = async move {
            match front_end.read_frames(reading, number).await {
                Ok(()) => tracing::info!("The node with the engine hands it over"),
                Err(error) => tracing::warn!(%error, "The connection to the node with the engine was lost"),
            }
            closing.close();
            front_end.disconnect_ports(&closing);
            waking.wake_writer();
        };
        tasks.spawn_on(read, runtime);
        self.is_unreached.store(false, Ordering::Relaxed);
        Ok(Some(EngineConnection { front_end: self.clone(), outgoing, _tasks: tasks }))
    }

    /// Answers the operations that were run, and sends the links and the other operations. Returns the number of the connection.
    fn resume(&self, before: RunBefore, engine: &Outgoing) -> Result<u64, postcard::Error> {
        let mut state = self.state();
        state.connection += 1;
        for again in state.pending.end_applied(before) {
            state.pending.push(again);
        }
        let settled = state.pending.settled();
        let unanswered: Vec<(u64, &Op)> = state.pending.unanswered().collect();
        let resumed = state.links.resumed(unanswered.iter().map(|(_, op)| *op));
        engine.put(frames::encode(&ToEngine::Resume(resumed))?);
        // Their numbers follow each other, except where an answer came out of order.
        for chunk in unanswered.chunk_by(|(before, _), (after, _)| before + 1 == *after) {
            for some in chunk.chunks(OPERATIONS_PER_FRAME_MAX) {
                let operations = some.iter().filter_map(|(_, op)| operation(op)).collect();
                engine.put(frames::encode(&ToEngine::Operations { first: some[0].0, settled, operations })?);
            }
        }
        Ok(state.connection)
    }

    /// Sends operations. Those that were cancelled meanwhile are left out.
    pub(crate) fn send(&self, engine: &EngineConnection, ops: &mut Vec<Op>) {
        ops.retain(|op| match op {
            Op::Accept(queued, _) => queued.begin(),
            Op::Command(..) | Op::OpenLink(..) => true,
            Op::Stop(_) => false,
        });
        if ops.is_empty() {
            return;
        }
        // Only this thread adds operations, so this is the number of the first.
        let (first, settled) = {
            let state = self.state();
            (state.pending.next_number(), state.pending.settled())
        };
        let operations = ops.iter().filter_map(operation).collect();
        let encoded = frames::encode(&ToEngine::Operations { first, settled, operations });
        let mut state = self.state();
        for op in ops.drain(..) {
            state.links.note(&op);
            state.pending.push(op);
        }
        drop(state);
        match encoded {
            Ok(octets) => engine.outgoing.put(octets),
            Err(error) => tracing::error!(%error, "Operations could not be encoded"),
        }
    }

    /// Waits until there is room for more operations without an answer. Returns false if there is none yet.
    pub(crate) fn wait_for_room(&self) -> bool {
        let state = self.state();
        if state.pending.len() < UNANSWERED_MAX {
            return true;
        }
        let waited = self.answered.wait_timeout(state, ANSWER_WAIT).unwrap_or_else(PoisonError::into_inner);
        waited.0.pending.len() < UNANSWERED_MAX
    }

    /// Notes that the engine was not reached. Returns whether it is the first time since it was.
    pub(crate) fn note_unreached(&self) -> bool {
        !self.is_unreached.swap(true, Ordering::Relaxed)
    }

    /// Whether there is a connection to the engine.
    pub(crate) fn is_connected(&self) -> bool {
        self.ports().engine.is_some()
    }

    /// Sends an envelope to the node with the engine, which passes it on. It is lost without a connection.
    pub(crate) fn send_envelope(&self, envelope: NodeEnvelope) {
        let engine = self.ports().engine.clone();
        if let Some(engine) = engine {
            engine.put_envelope(&ToEngine::NodeEnvelope(envelope));
        }
    }

    /// Whether every operation that was sent is answered.
    pub(crate) fn is_settled(&self) -> bool {
        self.state().pending.unanswered().next().is_none()
    }

    /// Takes the links and operations for the engine of this process. `before`: the operations that were run.
    pub(crate) fn take_over(&self, before: RunBefore) -> TakenOver {
        let mut state = self.state();
        state.connection += 1;
        let again = state.pending.end_applied(before);
        let resumed = state.links.resumed(state.pending.unanswered().map(|(_, op)| op));
        let slots: HashMap<LinkId, u32> = resumed.iter().map(|link| (link.open.link, link.slots)).collect();
        let held = resumed.into_iter().flat_map(|link| link.held).collect();
        let mut ops = state.pending.take_all();
        ops.extend(again);
        // Links that these open are opened when they run.
        let opening = |link: &HeldLink| {
            ops.iter().any(|op| matches!(op, Op::OpenLink(open, ..) if open.link == link.open.link))
        };
        let mut links = state.links.take();
        links.retain(|link| !opening(link));
        // What the operations grant is granted when they run.
        links.iter_mut().for_each(|link| link.slots = slots.get(&link.open.link).copied().unwrap_or(0));
        TakenOver { links, held, ops }
    }

    /// Fails what is not answered, at the end of the process.
    pub(crate) fn close(&self) {
        for op in self.state().pending.take_all() {
            op.fail(StoreError::OutcomeUnknown);
        }
    }

    /// Reads until the engine is handed over, or the connection is lost.
    async fn read_frames(&self, mut reading: Reading, connection: u64) -> io::Result<()> {
        let mut buffer = Vec::new();
        loop {
            match read_next(&mut reading, &mut buffer).await? {
                ToNode::Farewell => return Ok(()),
                frame => self.handle(frame, connection),
            }
        }
    }

    fn handle(&self, frame: ToNode, connection: u64) {
        match frame {
            ToNode::Answers(answers) => {
                let mut state = self.state();
                if state.connection != connection {
                    return;
                }
                for (number, answer) in answers {
                    // The engine is being stopped. The next one runs the operation.
                    if matches!(answer, Err(frames::OperationFailure::Closed)) {
                        continue;
                    }
                    let Some(op) = state.pending.take(number) else { continue };
                    match answer {
                        Ok(outcome) => op.succeed(outcome),
                        Err(failure) => op.fail(failure.into()),
                    }
                }
                drop(state);
                self.answered.notify_all();
            }
            ToNode::Handouts(handouts) => {
                let mut state = self.state();
                if state.connection != connection {
                    return;
                }
                handouts.into_iter().for_each(|(link, handout)| state.links.deliver(link, handout));
            }
            ToNode::Reports { port, reports } => {
                let port = self.ports().open.get(&port).and_then(Weak::upgrade);
                if let Some(port) = port {
                    port.deliver(reports);
                }
            }
            ToNode::Settled { port } => {
                let port = self.ports().open.get(&port).and_then(Weak::upgrade);
                let port = port.filter(|_| self.state().connection == connection);
                if let Some(port) = port.filter(|port| port.confirm()) {
                    self.ports().closing.remove(&port.number);
                }
            }
            ToNode::Ping | ToNode::Farewell => {}
            ToNode::Committed(committed) => {
                // The frame was decoded here, so this is the only reference.
                let own = Arc::into_inner(committed).filter(|_| self.state().connection == connection);
                own.into_iter().for_each(|committed| self.shared.feed.push_committed(committed));
            }
            ToNode::NodeEnvelope(envelope) => self.inbox.put(envelope),
            ToNode::CatalogueChanged => self.shared.catalogue_changed.send_modify(|count| *count += 1),
        }
    }

    /// Opens the port of a bind that takes reports.
    pub(crate) fn open_port(&self, connection: ConnectionId) -> Arc<RemotePort> {
        let number = self.ports_opened.fetch_add(1, Ordering::Relaxed);
        let port = Arc::new(RemotePort::new(number, connection));
        let mut ports = self.ports();
        ports.open.retain(|_, port| port.strong_count() > 0);
        ports.open.insert(number, Arc::downgrade(&port));
        if let Some(engine) = &ports.engine {
            port.connect(engine.clone());
        }
        port
    }

    /// Closes the port of a bind that has ended, once an engine has its results.
    pub(crate) fn close_port(&self, port: &Arc<RemotePort>) {
        let mut ports = self.ports();
        if !port.close() {
            ports.closing.insert(port.number, port.clone());
        }
    }

    /// Opens the ports at the engine of this process. Returns what its writer must write.
    pub(crate) fn open_ports_here(&self, access: &Arc<Access>) -> Vec<Op> {
        let open: Vec<_> = self.ports().open.values().filter_map(Weak::upgrade).collect();
        let ops = open.iter().flat_map(|port| port.open_here(access)).collect();
        // After that: a port that is closed from here on has no results left.
        self.ports().closing.clear();
        ops
    }

    fn connect_ports(&self, engine: &Arc<Outgoing>) {
        let mut ports = self.ports();
        ports.engine = Some(engine.clone());
        ports.open.values().filter_map(Weak::upgrade).for_each(|port| port.connect(engine.clone()));
    }

    fn disconnect_ports(&self, engine: &Arc<Outgoing>) {
        let mut ports = self.ports();
        if !ports.engine.as_ref().is_some_and(|known| Arc::ptr_eq(known, engine)) {
            return;
        }
        ports.engine = None;
        ports.open.values().filter_map(Weak::upgrade).for_each(|port| port.disconnect());
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn ports(&self) -> MutexGuard<'_, Ports> {
        self.ports.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns an operation in the form in which it is sent; none for one that only this process understands.
fn operation(op: &Op) -> Option<Operation<'_>> {
    match op {
        Op::Command(command, _) => Some(Operation::Command(Cow::Borrowed(command))),
        Op::Accept(queued, _) => Some(Operation::Accept(queued.acceptance.clone())),
        Op::OpenLink(open, ..) => Some(Operation::OpenLink(*open)),
        Op::Stop(_) => None,
    }
}
