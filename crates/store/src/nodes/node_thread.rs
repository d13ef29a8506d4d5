//! The thread that empties the queue of operations. It runs the engine if this node has the right to write, and otherwise
//! sends the operations to the node that has. When that node is gone it takes over, and runs the operations that were not run.

use super::frames::{HeldPart, RunBefore};
use super::front_end::{EngineConnection, FrontEnd};
use super::held_links::HeldLink;
use super::lease_renewal::OwnNode;
use super::sessions::{EngineSessions, Unclaimed};
use super::wire::NodeConnector;
use crate::backend::NodeRun;
use crate::backend::Server;
use crate::backend::{self, writing::WritingBackend};
use crate::error::StoreError;
use crate::sql::{catalogue, nodes, webhook_events};
use crate::writer::Writer;
use crate::writer::loading::{LoadedStore, Sending, load, stored_setup};
use crate::writer::meters::Meters;
use crate::writer::operation::Op;
use crate::writer::queue::OpQueue;
use crate::writer::shared::Access;
use crate::writer::shared::Shared;
use hermod_domain::time::Timestamp;
use hermod_engine::commands::ReadQueues;
use hermod_engine::tables::SendingPart;
use std::collections::HashSet;
use std::net::{SocketAddr, ToSocketAddrs as _};
use std::sync::{Arc, Weak};
use std::time::Duration;

/// Pause before another attempt to reach the engine.
const RECONNECT_PAUSE: Duration = Duration::from_millis(100);
/// How long the thread waits for operations before it looks at the nodes again.
const LOOK_EVERY: Duration = Duration::from_millis(500);
/// How long a new engine hands out no reports, while it waits for other nodes to say which ones their binds have.
const REPORTS_HELD_MAX: Duration = Duration::from_secs(5);
/// How long to wait for answers when the node is stopped.
const LAST_ANSWERS_MAX: Duration = Duration::from_secs(5);
/// How long a node that cannot reach others waits for them to be gone.
const ALONE_TRIES: u32 = 40;
const ALONE_PAUSE: Duration = Duration::from_millis(200);

pub(crate) struct NodeThread {
    pub server: Server,
    pub store: [u8; 16],
    /// None if this node cannot talk to others.
    pub wire: Option<Arc<NodeConnector>>,
    pub access: Weak<Access>,
    pub shared: Arc<Shared>,
    pub queue: Arc<OpQueue>,
    pub own_node: Arc<OwnNode>,
    pub in_doubt_wait: Duration,
}

/// What the thread begins with.
pub(crate) enum Role {
    Engine(Box<Engine>),
    FrontEnd(Arc<FrontEnd>),
}

/// An engine that is about to run, with the open links of this node.
pub(crate) struct Engine {
    writing: WritingBackend,
    loaded: LoadedStore,
    meters: Meters,
    links: Vec<HeldLink>,
}

/// Where the engine is.
enum Place {
    At(SocketAddr),
    /// On a node that is not reached: its address is unknown.
    Unknown,
    /// Nowhere: any node may take over.
    Nowhere,
}

impl NodeThread {
    /// Takes the engine if no node has it. Fails with [`StoreError::WriterElsewhere`] if another node has it that this one
    /// cannot talk to.
    pub(crate) fn take_role(&self, now: Timestamp) -> Result<Role, StoreError> {
        let front_end = self.wire.as_ref().map(|wire| {
            let inbox = self.own_node.inbox.clone();
            Arc::new(FrontEnd::new(self.own_node.run, self.store, wire.clone(), self.shared.clone(), inbox))
        });
        for _ in 0..ALONE_TRIES {
            if let Some(engine) = self.take_engine(None, now)? {
                return Ok(Role::Engine(Box::new(engine)));
            }
            if let Some(front_end) = front_end {
                return Ok(Role::FrontEnd(front_end));
            }
            pause(ALONE_PAUSE);
        }
        let status = self.own_node.status.borrow();
        let name = status.writing_node().map_or_else(String::new, |node| node.name.clone());
        Err(StoreError::WriterElsewhere(name))
    }

    /// Runs until the store is closed.
    pub(crate) fn run(self, role: Role) {
        match role {
            Role::Engine(engine) => self.write(*engine),
            Role::FrontEnd(front_end) => self.forward(&front_end),
        }
        self.shared.feed.close();
    }

    /// Takes the right to write if no node has it, and loads the engine.
    fn take_engine(
        &self,
        front_end: Option<&FrontEnd>,
        now: Timestamp,
    ) -> Result<Option<Engine>, StoreError> {
        if !matches!(self.place(), Place::Nowhere) {
            return Ok(None);
        }
        let run = self.own_node.run;
        let Some(mut writing) = backend::take_writer(&self.server, run, &self.shared.lease)? else {
            return Ok(None);
        };
        let others = self.other_nodes();
        // Only a process that was alone, or cannot talk to others, knows that nobody will report on the parts that were being sent.
        let is_alone = self.wire.is_none() || (others.is_empty() && front_end.is_none());
        let sending = if is_alone { Sending::InDoubt } else { Sending::Kept };
        // Read again: the setup may have changed on the last node with the engine, a moment before it was gone.
        let setup = stored_setup(&catalogue::read(writing.connection())?)?;
        self.shared.catalogue.store(setup.clone());
        let loaded = load(&writing, &self.shared, setup, self.in_doubt_wait, sending, now)?;
        let meters = Meters::register(webhook_events::count_waiting(writing.connection())?);
        writing.start_upkeep(self.shared.disk.clone(), now)?;
        let (applied, outcomes) = nodes::applied(writing.connection(), run)?;
        let sequence = writing.store_position()?.sequence;
        // Nothing fails from here on: what the front end has is taken once.
        let before = RunBefore { applied, outcomes };
        let mut taken = front_end.map(|front_end| front_end.take_over(before)).unwrap_or_default();
        if let (Some(front_end), Some(access)) = (front_end, self.access.upgrade()) {
            taken.ops.extend(front_end.open_ports_here(&access));
        }
        self.shared.outboxes.set_served(others.is_empty());
        self.shared.feed.push_elsewhere(sequence);
        self.shared.runs_engine.send_replace(true);
        self.serve_nodes(&loaded.sending, &taken.held, others);
        self.queue.put_back(taken.ops);
        Ok(Some(Engine { writing, loaded, meters, links: taken.links }))
    }

    /// Begins to serve other nodes. `held`: the parts that links of this node have.
    fn serve_nodes(&self, sending: &[SendingPart], held: &HashSet<HeldPart>, others: HashSet<NodeRun>) {
        let (Some(access), Some(handle)) = (self.access.upgrade(), self.own_node.handle()) else {
            return self.shared.outboxes.set_served(true);
        };
        let parts = sending.iter().map(HeldPart::of).filter(|part| !held.contains(part)).collect();
        let unclaimed = Unclaimed { parts, waits_for: others };
        let sessions = Arc::new(EngineSessions::new(
            self.own_node.run,
            access,
            unclaimed,
            self.own_node.status.subscribe(),
            self.own_node.inbox.clone(),
        ));
        self.own_node.engine.send_replace(Some(sessions.clone()));
        // Without other nodes these parts are in doubt at once.
        #[expect(clippy::let_underscore_future, reason = "it ends with its runtime")]
        let _ = handle.spawn(async move { sessions.begin_serving(REPORTS_HELD_MAX).await });
    }

    fn other_nodes(&self) -> HashSet<NodeRun> {
        let status = self.own_node.status.borrow();
        let others = status.nodes.iter().filter(|node| !node.has_left && node.run != self.own_node.run);
        others.map(|node| node.run).collect()
    }

    fn place(&self) -> Place {
        let status = self.own_node.status.borrow();
        let Some(node) = status.writing_node() else { return Place::Nowhere };
        if node.run == self.own_node.run {
            // It was taken, and the engine could not be loaded.
            return Place::Nowhere;
        }
        let address = node.address.to_socket_addrs().ok().and_then(|mut found| found.next());
        address.map_or(Place::Unknown, Place::At)
    }

    fn write(&self, engine: Engine) {
        let Engine { writing, loaded, meters, links } = engine;
        let mut writer =
            Writer::new(&writing, loaded.engine, self.queue.clone(), self.shared.clone(), meters);
        for HeldLink { open, slots, is_closed, mailbox, .. } in links {
            writer.adopt(open, if is_closed { None } else { Some(slots) }, mailbox);
        }
        writer.run();
        writing.close();
    }

    /// Sends operations to the engine, until this node takes over or the store is closed.
    fn forward(&self, front_end: &Arc<FrontEnd>) {
        let mut connection: Option<(SocketAddr, EngineConnection)> = None;
        let mut ops = Vec::new();
        loop {
            let place = self.place();
            if let Some((address, open)) = &connection
                && (open.is_lost() || !matches!(place, Place::At(now) if now == *address))
            {
                connection = None;
            }
            match (&connection, place) {
                (Some((_, engine)), _) => {
                    if !front_end.wait_for_room() {
                        continue;
                    }
                    if !self.queue.wait_for_any(LOOK_EVERY, &mut ops)
                        || !self.pass_on(front_end, engine, &mut ops)
                    {
                        return front_end.close();
                    }
                }
                (None, Place::At(address)) => {
                    connection = self.connect(front_end, address).map(|engine| (address, engine));
                    if connection.is_none() && !self.queue.wait_for_wake(RECONNECT_PAUSE) {
                        return self.end_without_engine(front_end);
                    }
                }
                (None, Place::Unknown) => {
                    if !self.queue.wait_for_wake(LOOK_EVERY) {
                        return self.end_without_engine(front_end);
                    }
                }
                (None, Place::Nowhere) => match self.take_engine(Some(front_end), self.now()) {
                    Ok(Some(engine)) => {
                        tracing::warn!("This node runs the engine now");
                        return self.write(engine);
                    }
                    Ok(None) => {
                        if !self.queue.wait_for_wake(RECONNECT_PAUSE) {
                            return self.end_without_engine(front_end);
                        }
                    }
                    Err(error) if error.is_connection_lost() => {
                        tracing::warn!(%error, "The engine could not be taken over; trying again");
                        if !self.queue.wait_for_wake(RECONNECT_PAUSE) {
                            return self.end_without_engine(front_end);
                        }
                    }
                    Err(error) => error.exit_process(),
                },
            }
        }
    }

    fn connect(&self, front_end: &Arc<FrontEnd>, address: SocketAddr) -> Option<EngineConnection> {
        let handle = self.own_node.handle()?;
        match front_end.connect(address, self.now(), handle, &self.queue) {
            Ok(Some(engine)) => {
                tracing::info!(%address, "Connected to the node with the engine");
                Some(engine)
            }
            Ok(None) => None,
            Err(error) => {
                if front_end.note_unreached() {
                    tracing::warn!(%error, %address, "The node with the engine cannot be reached; trying again");
                }
                None
            }
        }
    }

    /// Sends operations to the engine. Returns false if one of them says to stop; then all are answered, or the time is over.
    fn pass_on(&self, front_end: &FrontEnd, engine: &EngineConnection, ops: &mut Vec<Op>) -> bool {
        let stop = ops.iter().position(|op| matches!(op, Op::Stop(_)));
        let rest = stop.map(|index| ops.split_off(index));
        if rest.is_some() {
            // Its answer says that the engine has everything before it, the results of reports too.
            ops.push(Op::Command(ReadQueues.into(), None));
        }
        front_end.send(engine, ops);
        let Some(rest) = rest else { return true };
        let mut waited = Duration::ZERO;
        while !front_end.is_settled() && !engine.is_lost() && waited < LAST_ANSWERS_MAX {
            pause(RECONNECT_PAUSE);
            waited += RECONNECT_PAUSE;
        }
        self.end(rest);
        false
    }

    /// Ends the operations of a node that is stopped while it reaches no engine.
    fn end_without_engine(&self, front_end: &FrontEnd) {
        front_end.close();
        self.end(self.queue.close().into());
    }

    fn end(&self, ops: Vec<Op>) {
        for op in ops.into_iter().chain(self.queue.close()) {
            match op {
                Op::Stop(reply) => drop(reply.send(Ok(()))),
                op => op.fail(StoreError::Closed),
            }
        }
    }

    fn now(&self) -> Timestamp {
        self.server.node.as_ref().map_or(Timestamp::EPOCH, |node| (node.clock)())
    }
}

#[expect(clippy::disallowed_methods, reason = "no event says that another node has answered or is gone")]
fn pause(time: Duration) {
    std::thread::sleep(time);
}
