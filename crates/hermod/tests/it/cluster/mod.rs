//! Three nodes on one PostgreSQL as real processes, under load on all of them, with a carrier that survives and records what it
//! received. Nodes are killed, stopped and cut from the others and from PostgreSQL; PostgreSQL is killed and replaced by its standby.
//! At the end the customer's responses, the carrier's record and the store are compared, as in the crash tests.
//!
//! `HERMOD_CLUSTER_CYCLES` sets how often each test repeats its faults; `cargo xtask chaos nodes --cycles N` does that.
//! `HERMOD_CLUSTER_OLDER_PROGRAM` is the program of an older release, from which the nodes are upgraded one after another.

mod cut_from_peers;
mod cut_from_server;
mod forwarder;
mod node_messages;
mod one_bind;
mod operations;
mod own_server;
mod restarts;
mod rig;
mod server_lost;
mod setup_at_start;
mod stopped_in_transaction;
mod unanswered_submits;
mod webhooks;

use crate::crash::Customer;
use crate::store_access::text_from;
use hermod_simulator::load::http::Which;
use rig::{Cluster, DECLARED_DEAD, KEYS_PER_NODE, NAMES, cycles};

const CYCLES: u64 = 3;
/// Messages a second that each node gets where a test measures how long service was interrupted.
const RATE: f64 = 100.0;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_nodes_lose_nothing_and_another_takes_over() {
    let Some(mut cluster) = Cluster::start(3).await else { return };
    let customer = Customer::default();
    for cycle in 0..cycles(CYCLES) {
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
    assert!(customer.acknowledged() > 0, "no messages");
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
    // With an older release to begin with, the nodes are upgraded. Those that do not understand each other wait for the last one.
    let older = text_from("HERMOD_CLUSTER_OLDER_PROGRAM");
    let is_upgrade = older.is_some();
    let Some(mut cluster) = Cluster::start_with_program(1, older).await else { return };
    let customer = Customer::default();
    for (index, name) in NAMES.iter().enumerate() {
        let stopping = cluster.take_node(index);
        let other = (index + 1) % NAMES.len();
        cluster
            .send_during(&customer, async {
                stopping.stop().await;
                // Of an upgrade only the last node with the older release serves, or all with the new one.
                let serves = if is_upgrade && index + 1 < NAMES.len() { NAMES.len() - 1 } else { other };
                let took = cluster.wait_for_service(serves, &customer).await;
                println!("{name} stopped, service after {took:?}");
            })
            .await;
        cluster.start_without_waiting(index);
        if !is_upgrade {
            cluster.wait_until_ready(index);
        }
    }
    (0..NAMES.len()).for_each(|index| cluster.wait_until_ready(index));
    let binds = cluster.carrier.record().counts();
    assert_eq!(binds.binds_rejected, 0, "a carrier that allows one bind never saw two: {binds:?}");
    cluster.finish(&customer).await;
}
