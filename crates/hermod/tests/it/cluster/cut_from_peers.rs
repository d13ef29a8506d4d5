//! A node that reaches PostgreSQL and not the other nodes.

use super::RATE;
use super::forwarder::Road;
use super::rig::{Cluster, NAMES, cycles};
use crate::crash::Customer;
use crate::gateways::is_ready;
use crate::real_time::{PATIENCE, now, pause};
use std::time::Duration;

/// Longer than a node takes to notice that the engine's node is silent.
const CUT: Duration = Duration::from_secs(8);

impl Cluster {
    /// Serves at `serving` during the cut, until none of `cut` is ready.
    async fn stay_cut(&self, customer: &Customer, serving: usize, cut: &[usize]) {
        let (began, mut longest) = (now(), Duration::ZERO);
        while began.elapsed() < CUT || cut.iter().any(|index| is_ready(self.node(*index).address())) {
            assert!(began.elapsed() < PATIENCE, "a node that is cut is still ready");
            longest = longest.max(self.wait_for_service(serving, customer).await);
            pause(Duration::from_millis(100)).await;
        }
        println!("{} was interrupted for {longest:?} at most", NAMES[serving]);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn engine_node_cut_from_its_peers_serves_alone_and_they_come_back() {
    let Some(mut cluster) = Cluster::start_forwarded().await else { return };
    let customer = Customer::paced(RATE);
    for cycle in 0..cycles(2) {
        let road = if cycle % 2 == 0 { Road::Silent } else { Road::Closed };
        let engine = cluster.engine().await;
        let others = [(engine + 1) % NAMES.len(), (engine + 2) % NAMES.len()];
        cluster
            .send_during(&customer, async {
                cluster.forwarders(engine).to_node.set_road(road);
                cluster.stay_cut(&customer, engine, &others).await;
                cluster.forwarders(engine).to_node.set_road(Road::Open);
                for other in others {
                    let took = cluster.wait_for_service(other, &customer).await;
                    println!("{road:?} to the engine: {} serves again after {took:?}", NAMES[other]);
                }
            })
            .await;
        cluster.assert_all_run();
        assert_eq!(cluster.engine().await, engine, "a node that cannot reach the engine does not take it");
    }
    cluster.finish(&customer).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn node_cut_from_the_engine_alone_is_not_ready_and_the_others_go_on() {
    let Some(mut cluster) = Cluster::start_forwarded().await else { return };
    let customer = Customer::paced(RATE);
    let engine = cluster.engine().await;
    for _ in 0..cycles(1) {
        // The node that was started last has connected last.
        let (connected, cut) = (1, 2);
        cluster
            .send_during(&customer, async {
                cluster.forwarders(engine).to_node.silence_all_but_the_first();
                cluster.stay_cut(&customer, connected, &[cut]).await;
                cluster.forwarders(engine).to_node.set_road(Road::Open);
                let took = cluster.wait_for_service(cut, &customer).await;
                println!("{} reaches the engine again: service after {took:?}", NAMES[cut]);
            })
            .await;
        cluster.assert_all_run();
    }
    assert_eq!(cluster.engine().await, engine);
    cluster.finish(&customer).await;
}
