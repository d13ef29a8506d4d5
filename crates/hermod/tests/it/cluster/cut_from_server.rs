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
/// A lease of five seconds is renewed every second: after a shorter cut there is still a second to renew it.
const SHORT_MAX: Duration = Duration::from_secs(3);
/// How often a cut is made until one is short enough. Without one the records are still compared.
const TRIES: usize = 20;

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
        for (after_engine, road) in [(0, Road::Closed), (0, Road::Silent), (1, Road::Closed)] {
            for _ in 0..TRIES {
                if cut_briefly(&mut cluster, &customer, after_engine, road).await {
                    break;
                }
            }
        }
    }
    cluster.finish(&customer).await;
}

/// Cuts the node with the engine, or one after it, for less than a lease, and expects that all go on. Returns false if the machine
/// was too slow for that; all nodes serve again.
async fn cut_briefly(cluster: &mut Cluster, customer: &Customer, after_engine: usize, road: Road) -> bool {
    let engine = cluster.engine().await;
    let cut = (engine + after_engine) % NAMES.len();
    let mut cut_for = Duration::ZERO;
    cluster
        .send_during(customer, async {
            let began = now();
            cluster.set_road_to_server(cut, road);
            pause(SHORT).await;
            cluster.set_road_to_server(cut, Road::Open);
            cut_for = began.elapsed();
            if cut_for < SHORT_MAX {
                let took = cluster.wait_for_service(cut, customer).await;
                println!("{} cut for {cut_for:?} ({road:?}): service after {took:?}", NAMES[cut]);
            }
        })
        .await;
    if cut_for < SHORT_MAX {
        cluster.assert_all_run();
        assert_eq!(cluster.engine().await, engine);
        return true;
    }
    println!("{} cut for {cut_for:?}, which is too long: again", NAMES[cut]);
    cluster.wait_for_service_or_restart(cut, customer).await;
    false
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
