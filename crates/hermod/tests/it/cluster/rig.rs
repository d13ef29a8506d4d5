//! Three nodes as real processes on one PostgreSQL, and a carrier that survives them and records what it received.

use super::forwarder::{Forwarder, Road};
use super::own_server::{OwnServer, query};
use crate::crash::{Customer, compare};
use crate::gateways::{self, NodeSetup, PROGRAM, Served, carrier_entry, customers_text, free_address};
use crate::real_time::{PATIENCE, now, pause};
use crate::store_access::{is_embedded, number_from, store_of};
use hermod_gateway::config::StoreAddress;
use hermod_simulator::carrier::{CarrierOptions, Outcome, RecordMode, Script, SimulatedCarrier};
use hermod_simulator::load::http::Which;
use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;
use tokio::task::JoinSet;

pub(super) const NAMES: [&str; 3] = ["a", "b", "c"];
/// The keys that one node gets in one cycle, at most.
pub(super) const KEYS_PER_NODE: u64 = 20_000;
/// What a node ends with that was declared dead.
pub(super) const DECLARED_DEAD: i32 = 74;

pub(super) struct Cluster {
    folder: tempfile::TempDir,
    pub(super) carrier: SimulatedCarrier,
    links: u8,
    /// The store as the tests reach it.
    store: StoreAddress,
    addresses: [NodeAddresses; 3],
    /// What nodes are started with.
    program: String,
    /// How long nodes that stop wait for their customers.
    linger: &'static str,
    pub(super) nodes: [Option<Served>; 3],
}

/// Where a node listens, where the others reach it, and where it reaches PostgreSQL.
struct NodeAddresses {
    listen: SocketAddr,
    /// None: directly.
    forwarders: Option<Forwarders>,
}

/// What stands before a node for the others, and before PostgreSQL for that node.
pub(super) struct Forwarders {
    pub(super) to_node: Forwarder,
    pub(super) to_server: Forwarder,
}

impl Cluster {
    /// Starts three nodes; none without PostgreSQL. `links`: how many binds the carrier allows.
    pub(super) async fn start(links: u8) -> Option<Cluster> {
        let mut cluster = Cluster::prepare(links).await?;
        cluster.start_all();
        Some(cluster)
    }

    /// The same, with nodes that wait for their customers when they stop, however slow the machine is.
    pub(super) async fn start_patient(links: u8) -> Option<Cluster> {
        let mut cluster = Cluster::prepare(links).await?;
        cluster.linger = "5m";
        cluster.start_all();
        Some(cluster)
    }

    /// The same, with forwarders between the nodes and before PostgreSQL.
    pub(super) async fn start_forwarded() -> Option<Cluster> {
        let mut cluster = Cluster::prepare(3).await?;
        let server = address_in(&cluster.url());
        cluster.add_forwarders(server).await;
        cluster.start_all();
        Some(cluster)
    }

    /// The same, on a server that the test may kill.
    pub(super) async fn start_on_own_server() -> Option<(Cluster, OwnServer)> {
        let mut cluster = Cluster::prepare(3).await?;
        let server = OwnServer::start();
        cluster.set_server(&server);
        cluster.add_forwarders(server.address()).await;
        cluster.start_all();
        Some((cluster, server))
    }

    async fn prepare(links: u8) -> Option<Cluster> {
        if is_embedded() {
            println!("only for PostgreSQL");
            return None;
        }
        let script = Script::new().receipt_after(Duration::from_millis(5), Outcome::Delivered);
        let script = if links == 1 { script.binds_max(1) } else { script };
        let options = CarrierOptions { record: RecordMode::Compact, ..CarrierOptions::new(script) };
        let carrier = SimulatedCarrier::start(options).await.expect("a free port");
        let folder = tempfile::tempdir().expect("a temporary folder");
        let store = store_of(&gateways::data_folder(folder.path()));
        let addresses = NAMES.map(|_| NodeAddresses { listen: free_address(), forwarders: None });
        let (program, linger, nodes) = (PROGRAM.to_owned(), "2s", [None, None, None]);
        Some(Cluster { folder, carrier, links, store, addresses, program, linger, nodes })
    }

    /// The same, with another program to begin with: that of an older release.
    pub(super) async fn start_with_program(links: u8, program: Option<String>) -> Option<Cluster> {
        let mut cluster = Cluster::prepare(links).await?;
        let new = std::mem::replace(&mut cluster.program, program.unwrap_or(PROGRAM.to_owned()));
        cluster.start_all();
        cluster.program = new;
        Some(cluster)
    }

    /// Starts all nodes on an empty database without waiting for each other.
    pub(super) async fn start_at_once() -> Option<Cluster> {
        let mut cluster = Cluster::prepare(3).await?;
        (0..NAMES.len()).for_each(|index| cluster.start_without_waiting(index));
        (0..NAMES.len()).for_each(|index| cluster.wait_until_ready(index));
        Some(cluster)
    }

    /// Sets how many links the provision files of nodes that are started from now on have.
    pub(super) fn set_links(&mut self, links: u8) {
        self.links = links;
    }

    /// Holds the lock of the setup for some seconds, as a node does that changes it. Returns once it has the lock.
    pub(super) async fn hold_setup_lock(&self, seconds: u32) -> JoinSet<()> {
        let (url, name) = (self.url(), format!("hashtext('hermod catalogue {}')", self.schema()));
        let hold = format!("SELECT pg_advisory_lock({name}); SELECT pg_sleep({seconds})");
        let mut holding = JoinSet::new();
        holding.spawn(async move { drop(query(&url, &hold).await.expect("the server answers")) });
        let is_free = format!(
            "SELECT CASE WHEN pg_try_advisory_lock({name}) THEN pg_advisory_unlock({name})::text ELSE 'held' END"
        );
        while self.query(&is_free).await != ["held"] {
            pause(Duration::from_millis(20)).await;
        }
        holding
    }

    fn start_all(&mut self) {
        (0..NAMES.len()).for_each(|index| self.start_node(index));
    }

    async fn add_forwarders(&mut self, server: SocketAddr) {
        for node in &mut self.addresses {
            let to_node = Forwarder::start(node.listen).await;
            let to_server = Forwarder::start(server).await;
            node.forwarders = Some(Forwarders { to_node, to_server });
        }
    }

    /// Sets where the tests reach the store. The nodes reach it by their forwarders.
    pub(super) fn set_server(&mut self, server: &OwnServer) {
        let url = format!("{}?schema={}", server.url(), self.schema());
        self.store = StoreAddress::parse(&url).expect("an address");
    }

    pub(super) fn start_node(&mut self, index: usize) {
        self.start_without_waiting(index);
        self.wait_until_ready(index);
    }

    pub(super) fn wait_until_ready(&mut self, index: usize) {
        self.nodes[index].as_mut().expect("the node runs").wait_until_ready();
    }

    /// Starts a node that may not be able to serve yet.
    pub(super) fn start_without_waiting(&mut self, index: usize) {
        self.start_with_options(index, &[]);
    }

    /// The same, with options of `hermod serve`.
    pub(super) fn start_with_options(&mut self, index: usize, options: &[&str]) {
        let entry = carrier_entry("acme", self.carrier.addr(), &format!("links = {}\n", self.links));
        let NodeAddresses { listen, forwarders } = &self.addresses[index];
        let (address, store) = match forwarders {
            Some(Forwarders { to_node, to_server }) => {
                let (direct, behind) = (address_in(&self.url()), to_server.address());
                let url = self.full_url().replace(&direct.to_string(), &behind.to_string());
                (to_node.address(), StoreAddress::parse(&url).expect("an address"))
            }
            None => (*listen, self.store.clone()),
        };
        let (program, linger) = (&self.program, self.linger);
        let setup = NodeSetup {
            name: NAMES[index],
            store: &store,
            listen: *listen,
            address,
            program,
            linger,
            options,
        };
        let customers = customers_text(gateways::OPENING);
        self.nodes[index] = Some(Served::start_node(self.path(), &setup, &entry, &customers));
    }

    pub(super) fn forwarders(&self, index: usize) -> &Forwarders {
        self.addresses[index].forwarders.as_ref().expect("started with forwarders")
    }

    /// Opens or cuts the way of a node to PostgreSQL.
    pub(super) fn set_road_to_server(&self, index: usize, road: Road) {
        self.forwarders(index).to_server.set_road(road);
    }

    pub(super) fn path(&self) -> &Path {
        self.folder.path()
    }

    fn schema(&self) -> String {
        self.path().file_name().expect("a name").to_string_lossy().into_owned()
    }

    fn full_url(&self) -> &str {
        let StoreAddress::Postgres(url) = &self.store else { unreachable!("only for PostgreSQL") };
        url
    }

    /// Returns the address of the server without the schema, which only we understand.
    fn url(&self) -> String {
        self.full_url().split('?').next().expect("an address").to_owned()
    }

    /// Runs a statement on the tables. Returns the first column.
    pub(super) async fn query(&self, sql: &str) -> Vec<String> {
        let sql = format!("SET search_path = \"{}\"; {sql}", self.schema());
        query(&self.url(), &sql).await.expect("the server answers")
    }

    /// Returns the node that runs the engine.
    pub(super) async fn engine(&self) -> usize {
        let sql =
            "SELECT name FROM node JOIN writer ON node.id = writer.node AND node.epoch = writer.node_epoch";
        let names = self.query(sql).await;
        let index = names.first().and_then(|name| NAMES.iter().position(|known| known == name));
        index.unwrap_or_else(|| panic!("no node runs the engine: {names:?}"))
    }

    pub(super) fn node(&self, index: usize) -> &Served {
        self.nodes[index].as_ref().expect("the node runs")
    }

    pub(super) fn take_node(&mut self, index: usize) -> Served {
        self.nodes[index].take().expect("the node runs")
    }

    /// Expects that a node ends because it was declared dead, and starts it again.
    pub(super) async fn restart_declared_dead(&mut self, index: usize) {
        let mut ended = self.take_node(index);
        let code = ended.wait_for_exit_code().await;
        assert_eq!(code, Some(DECLARED_DEAD), "{} does not go on", NAMES[index]);
        drop(ended);
        self.start_node(index);
    }

    /// Waits until a node accepts messages. If it ends because it was declared dead, it is started again.
    pub(super) async fn wait_for_service_or_restart(&mut self, index: usize, customer: &Customer) {
        let began = now();
        while !customer.send_one(self.node(index)).await {
            if self.nodes[index].as_mut().is_some_and(Served::has_ended) {
                return self.restart_declared_dead(index).await;
            }
            assert!(began.elapsed() < PATIENCE, "{}: no service", NAMES[index]);
        }
    }

    /// Panics if a node has ended.
    pub(super) fn assert_all_run(&mut self) {
        for (node, name) in self.nodes.iter_mut().zip(NAMES) {
            assert!(!node.as_mut().is_none_or(Served::has_ended), "{name} has ended");
        }
    }

    /// Sends to all nodes that run while `fault` happens, and a little longer.
    pub(super) async fn send_during(&self, customer: &Customer, fault: impl Future<Output = ()>) {
        let lists = customer.next_keys(NAMES.len(), KEYS_PER_NODE);
        let running = self.nodes.iter().flatten();
        let mut loads = Vec::new();
        for (node, keys) in running.zip(lists) {
            loads.push(customer.start(node, Which::These(keys.into())).await);
        }
        pause(Duration::from_millis(700)).await;
        fault.await;
        pause(Duration::from_millis(700)).await;
        for load in &loads {
            load.stopper().stop();
        }
        for load in loads {
            load.finish().await;
        }
    }

    /// Waits until a node accepts messages. Returns how long that took.
    pub(super) async fn wait_for_service(&self, index: usize, customer: &Customer) -> Duration {
        let began = now();
        loop {
            let is_served = customer.send_one(self.node(index)).await;
            let took = began.elapsed();
            assert!(took < PATIENCE, "{}: no service after {took:?}", NAMES[index]);
            if is_served {
                return took;
            }
        }
    }

    /// Sends the rest, and waits until all messages have ended.
    pub(super) async fn wait_until_settled(&self, customer: &Customer) {
        customer.send_unanswered(self.node(0)).await;
        gateways::wait_until_no_open_parts(&self.store, self.path()).await;
    }

    /// Sends the rest, stops all nodes, and compares the records.
    pub(super) async fn finish(mut self, customer: &Customer) {
        self.wait_until_settled(customer).await;
        for index in 0..NAMES.len() {
            self.take_node(index).stop().await;
        }
        compare(&self.store, self.path(), customer, &self.carrier).await;
        self.carrier.stop().await;
    }
}

/// Returns how often a test repeats its faults: as often as `HERMOD_CLUSTER_CYCLES` says.
pub(super) fn cycles(usual: u64) -> u64 {
    number_from("HERMOD_CLUSTER_CYCLES").unwrap_or(usual)
}

/// Returns the TCP address in `postgres://user@address/database`.
fn address_in(url: &str) -> SocketAddr {
    let host = url.split_once('@').and_then(|(_, host)| host.split_once('/'));
    host.and_then(|(address, _)| address.parse().ok()).expect("an address in numbers")
}
