//! Three nodes on one PostgreSQL as real processes, under load on all of them, with a carrier that survives and records what it
//! received. Nodes are killed, stopped past their leases and stopped in order; at the end the customer's responses, the carrier's
//! record and the store are compared, as in the crash tests.
//!
//! `HERMOD_CLUSTER_CYCLES` sets the number of kills.

mod operations;

use crate::crash::{Customer, compare};
use crate::gateways::{self, Served, carrier_entry, customers_text};
use crate::real_time::{now, pause};
use crate::store_access::{is_embedded, number_from};
use hermod_simulator::carrier::{Carrier, CarrierOptions, Outcome, RecordMode, Script};
use hermod_simulator::load::http::Which;
use std::path::Path;
use std::time::Duration;

const NAMES: [&str; 3] = ["a", "b", "c"];
const CYCLES: u64 = 3;
/// How long service may be interrupted.
const TAKEOVER_MAX: Duration = Duration::from_secs(15);
/// The keys that one node gets in one cycle, at most.
const KEYS_PER_NODE: u64 = 20_000;
const SETTLE_WAIT: Duration = Duration::from_secs(120);
/// What a node ends with that was declared dead.
const DECLARED_DEAD: i32 = 74;

struct Cluster {
    folder: tempfile::TempDir,
    carrier: Carrier,
    links: u8,
    nodes: [Option<Served>; 3],
}

impl Cluster {
    /// Starts three nodes; none without PostgreSQL. `links`: how many binds the carrier allows.
    async fn start(links: u8) -> Option<Cluster> {
        if is_embedded() {
            println!("only for PostgreSQL");
            return None;
        }
        let script = Script::new().receipt_after(Duration::from_millis(5), Outcome::Delivered);
        let script = if links == 1 { script.binds_max(1) } else { script };
        let options = CarrierOptions { record: RecordMode::Compact, ..CarrierOptions::new(script) };
        let carrier = Carrier::start(options).await.expect("a free port");
        let folder = tempfile::tempdir().expect("a temporary folder");
        let mut cluster = Cluster { folder, carrier, links, nodes: [None, None, None] };
        (0..NAMES.len()).for_each(|index| cluster.start_node(index));
        Some(cluster)
    }

    fn start_node(&mut self, index: usize) {
        let entry = carrier_entry("acme", self.carrier.addr(), &format!("links = {}\n", self.links));
        let customers = customers_text(gateways::OPENING);
        let node = Served::start_node(self.path(), NAMES[index], &entry, &customers);
        self.nodes[index] = Some(node);
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn node(&self, index: usize) -> &Served {
        self.nodes[index].as_ref().expect("the node runs")
    }

    fn take_node(&mut self, index: usize) -> Served {
        self.nodes[index].take().expect("the node runs")
    }

    /// Sends to all nodes that run while `fault` happens, and a little longer.
    async fn send_during(&self, customer: &Customer, fault: impl Future<Output = ()>) {
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
    async fn wait_for_service(&self, index: usize, customer: &Customer) -> Duration {
        let began = now();
        loop {
            if customer.send_one(self.node(index)).await {
                return began.elapsed();
            }
            assert!(began.elapsed() < TAKEOVER_MAX, "no service after {TAKEOVER_MAX:?}");
        }
    }

    /// Sends the rest, stops all nodes, and compares the records.
    async fn finish(mut self, customer: &Customer) {
        customer.send_unanswered(self.node(0)).await;
        self.node(0).wait_until_no_open_parts(self.path(), SETTLE_WAIT).await;
        for index in 0..NAMES.len() {
            self.take_node(index).stop().await;
        }
        compare(self.path(), customer, &self.carrier).await;
        self.carrier.stop().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_nodes_lose_nothing_and_another_takes_over() {
    let Some(mut cluster) = Cluster::start(3).await else { return };
    let customer = Customer::default();
    let cycles = number_from("HERMOD_CLUSTER_CYCLES").unwrap_or(CYCLES);
    for cycle in 0..cycles {
        let index = usize::try_from(cycle).expect("a few") % NAMES.len();
        let killed = cluster.take_node(index);
        cluster.nodes[index] = None;
        let other = (index + 1) % NAMES.len();
        let keys = customer.next_keys(1, KEYS_PER_NODE).remove(0);
        let load = customer.start(&killed, Which::These(keys.into())).await;
        cluster
            .send_during(&customer, async {
                killed.kill();
                let took = cluster.wait_for_service(other, &customer).await;
                println!("cycle {}: {} killed, service after {took:?}", cycle + 1, NAMES[index]);
            })
            .await;
        load.stopper().stop();
        load.finish().await;
        cluster.start_node(index);
    }
    assert!(customer.acknowledged() > 500, "only {} messages", customer.acknowledged());
    cluster.finish(&customer).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn node_that_wakes_up_after_its_lease_has_ended_stops_itself() {
    let Some(mut cluster) = Cluster::start(3).await else { return };
    let customer = Customer::default();
    // The first node runs the engine.
    let mut stopped = cluster.take_node(0);
    let keys = customer.next_keys(1, KEYS_PER_NODE).remove(0);
    let load = customer.start(&stopped, Which::These(keys.into())).await;
    cluster
        .send_during(&customer, async {
            stopped.signal("STOP");
            let took = cluster.wait_for_service(1, &customer).await;
            println!("service after {took:?}");
            stopped.signal("CONT");
        })
        .await;
    load.stopper().stop();
    load.finish().await;
    assert_eq!(stopped.exit_code(), Some(DECLARED_DEAD), "it does not go on");
    cluster.start_node(0);
    cluster.finish(&customer).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nodes_that_are_restarted_one_after_another_refuse_nothing_for_long() {
    let Some(mut cluster) = Cluster::start(1).await else { return };
    let customer = Customer::default();
    for (index, name) in NAMES.iter().enumerate() {
        let stopping = cluster.take_node(index);
        let other = (index + 1) % NAMES.len();
        cluster
            .send_during(&customer, async {
                stopping.stop().await;
                let took = cluster.wait_for_service(other, &customer).await;
                println!("{name} stopped, service after {took:?}");
            })
            .await;
        cluster.start_node(index);
    }
    let binds = cluster.carrier.record().counts();
    assert_eq!(binds.binds_rejected, 0, "a carrier that allows one bind never saw two: {binds:?}");
    cluster.finish(&customer).await;
}
