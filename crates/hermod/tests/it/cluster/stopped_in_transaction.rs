//! The process with the engine is stopped within a transaction that has locks, and wakes up after its lease has ended.

use super::RATE;
use super::forwarder::Held;
use super::rig::{Cluster, NAMES, cycles};
use crate::crash::Customer;

impl Cluster {
    /// Returns the states of the connections by which a node writes, and that have locked the row of the right to write.
    async fn states_of_writer(&self, index: usize) -> Vec<String> {
        let sql = format!(
            "SELECT state FROM pg_stat_activity JOIN pg_locks USING (pid) CROSS JOIN node
             WHERE relation = 'writer'::regclass AND mode = 'RowExclusiveLock' AND name = '{}'
             AND application_name LIKE 'hermod % ' || id || '.' || epoch",
            NAMES[index]
        );
        self.query(&sql).await
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn engine_node_stopped_within_a_transaction_is_replaced_and_stops_itself() {
    let Some(mut cluster) = Cluster::start_forwarded().await else { return };
    let customer = Customer::paced(RATE);
    for _ in 0..cycles(2) {
        let stopped = cluster.engine().await;
        let other = (stopped + 1) % NAMES.len();
        cluster
            .send_during(&customer, async {
                // The server has run the batch, and does not get the commit.
                cluster.forwarders(stopped).to_server.hold_commit(Held::Request).await;
                cluster.node(stopped).signal("STOP");
                assert_eq!(cluster.states_of_writer(stopped).await, ["idle in transaction"]);
                let took = cluster.wait_for_service(other, &customer).await;
                println!("{} stopped within a transaction: service after {took:?}", NAMES[stopped]);
                assert_ne!(cluster.engine().await, stopped);
                cluster.node(stopped).signal("CONT");
            })
            .await;
        cluster.restart_declared_dead(stopped).await;
    }
    cluster.finish(&customer).await;
}
