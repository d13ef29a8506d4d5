//! One of several nodes as a real process.

use super::{LOG, POLL, Served, data_folder, provision_text_with};
use crate::real_time::{PATIENCE, now, pause};
use hermod_gateway::config::StoreAddress;
use std::net::SocketAddr;
use std::path::Path;

/// What differs between the nodes of a test.
pub(crate) struct NodeSetup<'a> {
    pub(crate) name: &'a str,
    /// The store as this node reaches it.
    pub(crate) store: &'a StoreAddress,
    pub(crate) listen: SocketAddr,
    /// Where other nodes reach it.
    pub(crate) address: SocketAddr,
    /// The program, which may be of another release.
    pub(crate) program: &'a str,
    /// How long it waits for its customers when it stops.
    pub(crate) linger: &'a str,
    /// Of `hermod serve`.
    pub(crate) options: &'a [&'a str],
}

impl Served {
    /// Starts one of several nodes, in a folder of its own below `cluster`, and does not wait until it is ready.
    pub(crate) fn start_node(
        cluster: &Path,
        setup: &NodeSetup<'_>,
        carrier: &str,
        customers: &str,
    ) -> Served {
        let NodeSetup { name, store, listen, address, program, linger, options } = setup;
        let folder = cluster.join(name);
        let data = data_folder(&folder);
        std::fs::create_dir_all(&data).expect("a folder");
        // All nodes have the same.
        std::fs::write(data.join("pepper.key"), [7; 32]).expect("a pepper");
        let settings = format!(
            "[shutdown]\nannounce = \"300ms\"\nlinger = \"{linger}\"\n[webhooks]\nallow_http = true\nallow = [\"127.0.0.0/8\"]\n[messages]\nin_doubt_wait = \"200ms\"\n[log]\nlevel = \"warn\"\n\
             [node]\nname = \"{name}\"\nlisten = \"{listen}\"\naddress = \"{address}\"\n"
        );
        let provision = provision_text_with(carrier, customers);
        Served::spawn(&[program], options, &folder, store, &settings, &provision, &folder.join(LOG))
    }

    /// Waits for it to end by itself. Returns its exit code.
    pub(crate) async fn wait_for_exit_code(&mut self) -> Option<i32> {
        let began = now();
        loop {
            if let Some(status) = self.child.try_wait().expect("a child can be asked") {
                return status.code();
            }
            assert!(began.elapsed() < PATIENCE, "it still runs after {PATIENCE:?}");
            pause(POLL).await;
        }
    }

    /// Whether it has ended.
    pub(crate) fn has_ended(&mut self) -> bool {
        self.child.try_wait().expect("a child can be asked").is_some()
    }
}
