//! PostgreSQL itself is killed under load, and started again on its data or replaced by its synchronous standby.

use super::RATE;
use super::forwarder::Held;
use super::rig::{Cluster, NAMES, cycles};
use crate::crash::Customer;
use crate::real_time::{now, pause};
use crate::store_access::number_from;
use std::time::{Duration, Instant};

/// Shorter than a lease.
const SHORT: Duration = Duration::from_secs(2);
/// Longer than all leases; `HERMOD_CLUSTER_AWAY_SECS` sets it.
const LONG_SECS: u64 = 12;
/// How long nodes reach a standby that is not promoted yet.
const BEFORE_PROMOTION: Duration = Duration::from_secs(1);

impl Cluster {
    /// Waits until every node serves, and says how long that took since PostgreSQL was lost.
    async fn wait_for_all(&self, customer: &Customer, what: &str, lost_at: Instant) {
        for index in 0..NAMES.len() {
            self.wait_for_service(index, customer).await;
        }
        println!("{what}: all nodes serve {:.1?} after it was lost", lost_at.elapsed());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nodes_go_on_when_postgresql_was_killed_and_is_back() {
    let Some((mut cluster, server)) = Cluster::start_on_own_server().await else { return };
    let customer = Customer::paced(RATE);
    let long = Duration::from_secs(number_from("HERMOD_CLUSTER_AWAY_SECS").unwrap_or(LONG_SECS));
    for cycle in 0..cycles(2) {
        let away = if cycle % 2 == 0 { SHORT } else { long };
        cluster
            .send_during(&customer, async {
                let lost_at = now();
                server.kill();
                pause(away).await;
                server.start_again();
                cluster.wait_for_all(&customer, &format!("PostgreSQL away for {away:?}"), lost_at).await;
            })
            .await;
        cluster.assert_all_run();
    }
    cluster.finish(&customer).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn batch_is_written_once_when_postgresql_is_killed_within_its_commit() {
    let Some((mut cluster, server)) = Cluster::start_on_own_server().await else { return };
    let customer = Customer::paced(RATE);
    for cycle in 0..cycles(2) {
        let held = if cycle % 2 == 0 { Held::Answer } else { Held::Request };
        let engine = cluster.engine().await;
        cluster
            .send_during(&customer, async {
                cluster.forwarders(engine).to_server.hold_commit(held).await;
                let lost_at = now();
                server.kill();
                server.start_again();
                cluster
                    .wait_for_all(&customer, &format!("killed within a commit ({held:?} lost)"), lost_at)
                    .await;
            })
            .await;
        cluster.assert_all_run();
    }
    cluster.finish(&customer).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_acknowledged_is_lost_when_a_synchronous_standby_is_promoted() {
    let Some((mut cluster, mut primary)) = Cluster::start_on_own_server().await else { return };
    let mut standby = primary.start_standby().await;
    let customer = Customer::paced(RATE);
    for cycle in 0..cycles(2) {
        cluster
            .send_during(&customer, async {
                let lost_at = now();
                primary.kill();
                // Nodes that reach a standby must not take it for the server.
                for index in 0..NAMES.len() {
                    cluster.forwarders(index).to_server.set_target(standby.address());
                }
                pause(BEFORE_PROMOTION).await;
                standby.promote();
                // Until it has a standby of its own it commits nothing.
                primary.become_standby_of(&standby).await;
                cluster.wait_for_all(&customer, &format!("promotion {}", cycle + 1), lost_at).await;
            })
            .await;
        std::mem::swap(&mut primary, &mut standby);
        cluster.set_server(&primary);
        cluster.assert_all_run();
    }
    cluster.finish(&customer).await;
}
