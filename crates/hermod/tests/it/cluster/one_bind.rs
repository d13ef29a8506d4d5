//! A carrier that allows one bind, and kills of the node that has it.

use super::RATE;
use super::rig::{Cluster, NAMES, cycles};
use crate::crash::Customer;
use crate::real_time::{PATIENCE, now, pause};
use std::time::Duration;

impl Cluster {
    /// Returns the node that has the only link.
    async fn bound(&self) -> Option<usize> {
        let sql = "SELECT name FROM link_slot JOIN node ON node.id = node AND node.epoch = node_epoch";
        let names = self.query(sql).await;
        names.first().and_then(|name| NAMES.iter().position(|known| known == name))
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn carrier_with_one_bind_never_sees_two_when_bound_nodes_are_killed() {
    let Some(mut cluster) = Cluster::start(1).await else { return };
    let customer = Customer::paced(RATE);
    for cycle in 0..cycles(2) {
        let index = cluster.bound().await.expect("a node has the link");
        let killed = cluster.take_node(index);
        let submits = cluster.carrier.record().counts().submits;
        cluster
            .send_during(&customer, async {
                let binds = cluster.carrier.record().counts().binds;
                killed.kill();
                let began = now();
                while cluster.carrier.record().counts().binds == binds {
                    assert!(began.elapsed() < PATIENCE, "no bind after {PATIENCE:?}");
                    pause(Duration::from_millis(20)).await;
                }
                println!(
                    "cycle {}: {} killed, bound again after {:?}",
                    cycle + 1,
                    NAMES[index],
                    began.elapsed()
                );
            })
            .await;
        assert!(cluster.carrier.record().counts().submits > submits, "the new bind is used");
        assert_ne!(cluster.bound().await, Some(index));
        cluster.start_node(index);
    }
    let counts = cluster.carrier.record().counts();
    assert_eq!(counts.binds_rejected, 0, "the carrier never saw two binds: {counts:?}");
    cluster.finish(&customer).await;
}
