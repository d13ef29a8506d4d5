//! A node whose connections to PostgreSQL are cut: closed and refused, or silent.

use super::RATE;
use super::forwarder::Road;
use super::rig::{Cluster, NAMES, cycles};
use crate::crash::Customer;
use crate::real_time::{now, pause};
use std::time::Duration;

/// Longer than a lease and the time until a node counts as dead.
const LONG: Duration = Duration::from_secs(10);
/// Shorter than a lease.
const SHORT: Duration = Duration::from_secs(2);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn engine_node_cut_from_postgresql_is_replaced_and_stops_itself() {
    let Some(mut cluster) = Cluster::start_forwarded().await else { return };
    let customer = Customer::paced(RATE);
    for cycle in 0..cycles(2) {
        let road = if cycle % 2 == 0 { Road::Silent } else { Road::Closed };
        let cut = cluster.engine().await;
        let other = (cut + 1) % NAMES.len();
        cluster
            .send_during(&customer, async {
                cluster.set_road_to_server(cut, road);
                let took = cluster.wait_for_service(other, &customer).await;
                println!("engine on {}, {road:?} to PostgreSQL: service after {took:?}", NAMES[cut]);
                assert_ne!(cluster.engine().await, cut);
                cluster.set_road_to_server(cut, Road::Open);
            })
            .await;
        cluster.restart_declared_dead(cut).await;
    }
    cluster.finish(&customer).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn other_node_cut_from_postgresql_stops_itself_and_the_others_go_on() {
    let Some(mut cluster) = Cluster::start_forwarded().await else { return };
    let customer = Customer::paced(RATE);
    for cycle in 0..cycles(2) {
        let road = if cycle % 2 == 0 { Road::Closed } else { Road::Silent };
        let engine = cluster.engine().await;
        let cut = (engine + 1 + usize::try_from(cycle % 2).expect("0 or 1")) % NAMES.len();
        cluster
            .send_during(&customer, async {
                let (began, mut longest) = (now(), Duration::ZERO);
                cluster.set_road_to_server(cut, road);
                while began.elapsed() < LONG {
                    let took = cluster.wait_for_service(engine, &customer).await;
                    longest = longest.max(took);
                    pause(Duration::from_millis(100)).await;
                }
                println!(
                    "{} without the engine, {road:?} to PostgreSQL: others waited {longest:?}",
                    NAMES[cut]
                );
                cluster.set_road_to_server(cut, Road::Open);
            })
            .await;
        assert_eq!(cluster.engine().await, engine);
        cluster.restart_declared_dead(cut).await;
    }
    cluster.finish(&customer).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nodes_cut_from_postgresql_for_less_than_a_lease_go_on() {
    let Some(mut cluster) = Cluster::start_forwarded().await else { return };
    let customer = Customer::paced(RATE);
    for _ in 0..cycles(1) {
        let engine = cluster.engine().await;
        for (cut, road) in
            [(engine, Road::Closed), (engine, Road::Silent), ((engine + 1) % NAMES.len(), Road::Closed)]
        {
            let mut cut_for = Duration::ZERO;
            cluster
                .send_during(&customer, async {
                    let began = now();
                    cluster.set_road_to_server(cut, road);
                    pause(SHORT).await;
                    cluster.set_road_to_server(cut, Road::Open);
                    cut_for = began.elapsed();
                    let took = cluster.wait_for_service(cut, &customer).await;
                    println!("{} cut for {SHORT:?} ({road:?}): service after {took:?}", NAMES[cut]);
                })
                .await;
            if cut_for > 2 * SHORT {
                return println!("this machine is too slow to cut a node for less than a lease: {cut_for:?}");
            }
            cluster.assert_all_run();
        }
        assert_eq!(cluster.engine().await, engine);
    }
    cluster.finish(&customer).await;
}

/// As with a server whose disk hangs while another one has taken its place, or a broken load balancer in front of it: the system of the
/// other side confirms everything, so that TCP notices nothing.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn connections_to_postgresql_that_never_answer_are_replaced() {
    let Some(mut cluster) = Cluster::start_forwarded().await else { return };
    let customer = Customer::paced(RATE);
    for cycle in 0..cycles(1) {
        let cut = (cluster.engine().await + usize::try_from(cycle % 2).expect("0 or 1")) % NAMES.len();
        cluster
            .send_during(&customer, async {
                cluster.forwarders(cut).to_server.silence_the_open_ones();
                // Until they are missed.
                pause(Duration::from_secs(1)).await;
                let took = cluster.wait_for_service(cut, &customer).await;
                println!("{}: connections that do not answer: service after {took:?}", NAMES[cut]);
            })
            .await;
        cluster.assert_all_run();
        cluster.set_road_to_server(cut, Road::Open);
    }
    cluster.finish(&customer).await;
}
