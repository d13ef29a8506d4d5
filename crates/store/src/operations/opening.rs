//! Opens a store: on a data folder, or as a node on a server. Starts the writer's thread.

use crate::backend::Lease;
use crate::backend::NodeRun;
use crate::backend::read_results::StorePosition;
use crate::backend::{self, Backend, writing::WritingBackend};
use crate::backend::{Server, run_on_thread};
use crate::data_folder::disk::Disk;
use crate::error::StoreError;
use crate::nodes::NodeConnector;
use crate::nodes::lease_renewal::OwnNode;
use crate::nodes::node_thread::{NodeThread, Role};
use crate::operations::cluster::Cluster;
use crate::operations::webhooks::{GivingUp, ReportMover};
use crate::operations::{Inner, OpenOptions, Store};
use crate::outboxes::{Outboxes, Receivers};
use crate::record::{Feed, RunningRecord};
use crate::sql::{catalogue, webhook_events};
use crate::writer::Writer;
use crate::writer::loading::{LoadedStore, Sending, load, stored_setup};
use crate::writer::meters::Meters;
use crate::writer::queue::{self, OpQueue};
use crate::writer::shared::Access;
use crate::writer::shared::Shared;
use hermod_domain::catalogue::Catalogue;
use hermod_domain::time::Timestamp;
use std::path::Path;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

/// The name of a node that was given none.
const ONLY_NODE: &str = "hermod";
/// The bits of a link's id below the number of its node, and below the epoch of that node's run.
const BITS_BELOW_NODE: u32 = 48;
const BITS_BELOW_EPOCH: u32 = 32;

impl Store {
    /// Opens the store of a data folder, or creates it. Parts that were being sent when the last process ended become in
    /// doubt. Fails if another process has the folder open, or if the database has lost acknowledged commits. On a server that
    /// several nodes share, the engine may be on another node.
    pub fn open(options: &OpenOptions) -> Result<Store, StoreError> {
        match &options.server {
            None => open_embedded(options),
            Some(server) => run_on_thread(|| open_server(options, server)),
        }
    }
}

fn open_embedded(options: &OpenOptions) -> Result<Store, StoreError> {
    let OpenOptions { folder, in_doubt_wait, now, .. } = options;
    let (backend, mut writing) = backend::open(folder)?;
    let position = writing.store_position()?;
    let rows = catalogue::read(writing.connection())?;
    let was_empty = rows.is_empty();
    let setup = stored_setup(&rows)?;
    let shared = new_shared(options, Arc::new(Lease::endless()), setup.clone());
    let loaded = load(&writing, &shared, setup, *in_doubt_wait, Sending::InDoubt, *now)?;
    let newest = loaded.newest;
    let meters = Meters::register(webhook_events::count_waiting(writing.connection())?);
    writing.start_upkeep(shared.disk.clone(), *now)?;
    shared.runs_engine.send_replace(true);
    let (queue, queued) = queue::queue();
    let for_readers = queued.clone();
    backend.set_wake_writer(move || for_readers.wake_writer());
    let record = open_record(options, &backend, position, &shared)?;
    let for_writer = shared.clone();
    let thread = start_writer(folder, move || write(writing, loaded, queued, for_writer, meters))?;
    let access = Arc::new(Access { queue, backend, shared });
    Ok(Store::new(Opened { access, newest, was_empty, record, thread, cluster: None }))
}

/// Joins the nodes of a server. If no node runs the engine, this one does before the call returns.
fn open_server(options: &OpenOptions, server: &Server) -> Result<Store, StoreError> {
    let OpenOptions { folder, in_doubt_wait, now, .. } = options;
    let node = server.node.as_ref();
    let name = node.map_or(ONLY_NODE, |node| node.name.as_str()).to_owned();
    let listener = node.and_then(|node| node.listener.as_ref());
    let address = listener.map_or_else(String::new, |listener| listener.address.clone());
    let (backend, member) = backend::open_server(folder, server, name, address)?;
    let lease = Arc::new(Lease::ended());
    let own_node = Arc::new(OwnNode::begin(&member, &lease, server)?);
    let (newest, rows) = backend.contents()?;
    let was_empty = rows.is_empty();
    let shared = new_shared(options, lease, stored_setup(&rows)?);
    let position = backend.shared_position()?;
    shared.feed.set_sequence(position.sequence);
    let record = open_record(options, &backend, position, &shared)?;
    let (queue, queued) = queue::queue();
    let access = Arc::new(Access { queue, backend, shared: shared.clone() });
    let wire = listener.map(|listener| NodeConnector::new(listener.key.clone())).transpose()?.map(Arc::new);
    own_node.keep(member, shared.clone(), queued.clone())?;
    let node_thread = NodeThread {
        server: server.clone(),
        store: position.id,
        wire: wire.clone(),
        access: Arc::downgrade(&access),
        shared,
        queue: queued,
        own_node: own_node.clone(),
        in_doubt_wait: *in_doubt_wait,
    };
    let role = node_thread.take_role(*now)?;
    let front_end = if let Role::FrontEnd(front_end) = &role { Some(front_end.clone()) } else { None };
    if let (Some(listener), Some(wire), Some(node)) = (listener, &wire, node) {
        own_node.listen(listener, wire, position.id, node)?;
    }
    let thread = start_writer(folder, move || node_thread.run(role))?;
    let cluster = Some(Cluster { own_node, front_end });
    Ok(Store::new(Opened { access, newest, was_empty, record, thread, cluster }))
}

fn new_shared(options: &OpenOptions, lease: Arc<Lease>, catalogue: Arc<Catalogue>) -> Arc<Shared> {
    let OpenOptions { folder, low_water_bytes, record, now, .. } = options;
    let disk = Arc::new(Disk::new(folder.clone(), *low_water_bytes));
    let outboxes = Outboxes::empty(Arc::new(Receivers::new(*now)), *now);
    Arc::new(Shared::new(disk, outboxes, Arc::new(Feed::new(*record)), lease, catalogue))
}

fn open_record(
    options: &OpenOptions,
    backend: &Backend,
    position: StorePosition,
    shared: &Shared,
) -> Result<Option<RunningRecord>, StoreError> {
    if !options.record {
        return Ok(None);
    }
    let (folder, source) = (options.folder.clone(), backend.record_source(&options.folder)?);
    RunningRecord::open(folder, source, position, shared.feed.clone(), options.now).map(Some)
}

fn write(
    writing: WritingBackend,
    loaded: LoadedStore,
    queue: Arc<OpQueue>,
    shared: Arc<Shared>,
    meters: Meters,
) {
    let feed = shared.feed.clone();
    Writer::new(&writing, loaded.engine, queue, shared, meters).run();
    writing.close();
    feed.close();
}

fn start_writer(folder: &Path, write: impl FnOnce() + Send + 'static) -> Result<JoinHandle<()>, StoreError> {
    std::thread::Builder::new()
        .name("hermod-writer".to_owned())
        .spawn(write)
        .map_err(|error| StoreError::File { path: folder.to_owned(), error })
}

/// Returns the first id of the links of a run. No run of any node has the same ones: what is left of a dead run must not
/// concern the links of the next one.
fn first_link_of(run: NodeRun) -> u64 {
    let epoch = run.epoch % (1 << (BITS_BELOW_NODE - BITS_BELOW_EPOCH));
    (u64::from(run.id) << BITS_BELOW_NODE) | (epoch << BITS_BELOW_EPOCH)
}

/// The pieces of an open store.
struct Opened {
    access: Arc<Access>,
    newest: Option<Timestamp>,
    was_empty: bool,
    record: Option<RunningRecord>,
    thread: JoinHandle<()>,
    cluster: Option<Cluster>,
}

impl Store {
    fn new(opened: Opened) -> Store {
        let Opened { access, newest, was_empty, record, thread, cluster } = opened;
        let first_link = cluster.as_ref().map_or(0, |cluster| first_link_of(cluster.own_node.run));
        Store {
            inner: Arc::new(Inner {
                access,
                links_opened: AtomicU64::new(first_link),
                newest_at_open: newest,
                was_empty,
                rematched: Mutex::default(),
                scans: Mutex::default(),
                report_mover: ReportMover::default(),
                giving_up: GivingUp::default(),
                writer: Mutex::new(Some(thread)),
                record,
                cluster,
            }),
            audit: Arc::default(),
        }
    }
}
