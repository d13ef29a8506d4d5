//! What customers and the operator see of three nodes: limits that hold over all of them, changes that are known everywhere, and
//! binds, links and metrics of every node.

use super::rig::{Cluster, NAMES};
use crate::cli::process::{Caller, command, json, path};
use crate::crash::Customer;
use crate::gateways::{KEY, SECRET, data_folder};
use crate::real_time::{PATIENCE, block, now, wait_until};
use crate::scenario::Esme;
use hermod_smpp::{BindType, CommandStatus, VERSION_3_4};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs::Permissions;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// Requests per second of the customer.
const RATE: u32 = 50;
const RATE_SECONDS: u32 = 10;
/// Parts per second of the carrier.
const CARRIER_RATE: u32 = 60;

const ALICE_SMPP: &str = "[[connection]]\nname = \"alice-smpp\"\naccount = \"alice\"\ndefault_sender = \"Hermod\"\n\
     system_id = \"alice\"\npassword = \"secret12\"\nmax_binds = 2\n";

impl Cluster {
    pub(super) fn data(&self, index: usize) -> PathBuf {
        data_folder(&self.path().join(NAMES[index]))
    }

    pub(super) fn caller(&self, index: usize) -> Caller {
        let address = self.node(index).address().to_string();
        Caller { address, key: KEY.to_owned(), secret: SECRET.to_owned() }
    }

    /// Returns how many binds each node has, as another node lists them.
    fn binds(&self, asked: usize) -> BTreeMap<String, usize> {
        let listed = json(&self.data(asked), &["binds"]);
        let mut binds = BTreeMap::new();
        for bind in listed["items"].as_array().expect("a list") {
            *binds.entry(bind["node"].as_str().expect("a node").to_owned()).or_default() += 1;
        }
        binds
    }

    /// Waits until each node has one of the links.
    pub(super) fn wait_for_a_link_on_each_node(&self) {
        wait_until("each node has a link", || {
            (0..3).all(|index| {
                let text = metrics(self.node(index).address());
                text.lines().any(|line| line.starts_with("hermod_link_bound{") && line.ends_with(" 1"))
            })
        });
    }

    /// Sends requests to all nodes as fast as they are answered, until `count` were admitted. Returns how long that took.
    fn time_to_admit(&self, count: u32) -> Duration {
        let (began, admitted) = (now(), AtomicU32::new(0));
        std::thread::scope(|scope| {
            for index in 0..3 {
                let (caller, admitted) = (self.caller(index), &admitted);
                scope.spawn(move || {
                    while admitted.load(Ordering::Relaxed) < count {
                        assert!(began.elapsed() < PATIENCE, "no more requests are admitted");
                        let is_admitted = caller.call("GET", "/balance", "").0 == 200;
                        admitted.fetch_add(u32::from(is_admitted), Ordering::Relaxed);
                        block(Duration::from_millis(2));
                    }
                });
            }
        });
        began.elapsed()
    }
}

pub(super) fn metrics(address: std::net::SocketAddr) -> String {
    let mut stream = TcpStream::connect(address).expect("it listens");
    let request = "GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    stream.write_all(request.as_bytes()).expect("it reads");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("it answers");
    answer
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn binds_are_counted_and_listed_over_all_nodes() {
    let Some(mut cluster) = Cluster::start(3).await else { return };
    let file = cluster.path().join("alice.toml");
    std::fs::write(&file, ALICE_SMPP).unwrap();
    std::fs::set_permissions(&file, Permissions::from_mode(0o600)).unwrap();
    command(&cluster.data(0), &["apply", path(&file)]);
    let smpp = [0, 1, 2].map(|index| cluster.node(index).smpp_address());
    // The other nodes know the new connection within a second or two.
    for address in &smpp[1..] {
        let began = now();
        loop {
            let mut esme = Esme::connect(*address).await;
            if esme.try_bind(BindType::Transceiver, "alice", "secret12", VERSION_3_4).await
                == CommandStatus::OK
            {
                esme.unbind().await;
                break;
            }
            assert!(began.elapsed() < PATIENCE, "the change is not known elsewhere");
        }
    }
    wait_until("no bind is left", || cluster.binds(0).is_empty());
    let mut first = Esme::bind(smpp[0], BindType::Transceiver, "alice").await;
    let second = Esme::bind(smpp[1], BindType::Transceiver, "alice").await;
    assert_eq!(cluster.binds(2), BTreeMap::from([("a".to_owned(), 1), ("b".to_owned(), 1)]));
    // There is no place left. Both are silent: they are found dead on their nodes, and make room for the one that arrives here.
    let third = Esme::bind(smpp[2], BindType::Transceiver, "alice").await;
    assert_eq!(cluster.binds(0), BTreeMap::from([("c".to_owned(), 1)]));
    third.unbind().await;
    drop((first, second));
    wait_until("no bind is left", || cluster.binds(1).is_empty());

    first = Esme::bind(smpp[0], BindType::Transceiver, "alice").await;
    let listed = json(&cluster.data(1), &["binds"]);
    let bind = format!("a/{}", listed["items"][0]["number"]);
    assert!(command(&cluster.data(1), &["binds"]).contains(&bind), "it is listed by this name");
    command(&cluster.data(1), &["binds", "--unbind", &bind]);
    first.wait_for_unbind().await;

    let mut links: Vec<Value> =
        json(&cluster.data(2), &["links"])["items"][0]["links"].as_array().unwrap().clone();
    links.retain(|link| link["state"] == "bound");
    let on: Vec<&str> = links.iter().filter_map(|link| link["node"].as_str()).collect();
    assert_eq!(on.len(), 3, "{links:?}");
    let labelled = metrics(cluster.node(1).address());
    assert!(labelled.contains("hermod_uptime_seconds{node=\"b\"}"), "{labelled}");

    command(&cluster.data(0), &["nodes", "--drain", "c"]);
    let mut drained = cluster.take_node(2);
    let code = tokio::task::spawn_blocking(move || drained.exit_code()).await.unwrap();
    assert_eq!(code, Some(0));
    wait_until("the node has left", || {
        json(&cluster.data(0), &["nodes"])["items"].as_array().unwrap().len() == 2
    });
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn request_rate_and_revoked_keys_hold_on_all_nodes() {
    let Some(cluster) = Cluster::start(3).await else { return };
    command(&cluster.data(1), &["connection", "set", "alice-http", &format!("rate={RATE}")]);
    // As on one node: the rate, and the burst of a second at the beginning.
    let took = tokio::task::block_in_place(|| {
        let second = Duration::from_secs(1);
        wait_until("all nodes know the rate", || cluster.time_to_admit(3 * RATE) > second);
        cluster.time_to_admit(RATE_SECONDS * RATE)
    });
    println!("{} requests in {took:?} at {RATE} per second", RATE_SECONDS * RATE);
    assert!(took > Duration::from_secs(RATE_SECONDS.into()) * 8 / 10, "{took:?}");

    command(&cluster.data(2), &["key", "revoke", KEY]);
    let began = now();
    while (0..3).any(|index| cluster.caller(index).call("GET", "/balance", "").0 != 401) {
        assert!(began.elapsed() < PATIENCE, "a revoked key still works");
        block(Duration::from_millis(50));
    }
    println!("the key is refused on all nodes after {:?}", began.elapsed());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rate_of_a_carrier_holds_over_all_nodes() {
    let Some(cluster) = Cluster::start(3).await else { return };
    command(&cluster.data(1), &["carrier", "set", "acme", &format!("rate={CARRIER_RATE}")]);
    cluster.wait_for_a_link_on_each_node();
    let customer = Customer::default();
    let submits = || u32::try_from(cluster.carrier.record().counts().submits).expect("a few thousand");
    let time_to_send = |parts: u32| {
        let (began, before) = (now(), submits());
        wait_until("the carrier gets parts", || submits() >= before + parts);
        began.elapsed()
    };
    cluster
        .send_during(&customer, async {
            let second = Duration::from_secs(1);
            wait_until("all nodes know the rate", || time_to_send(2 * CARRIER_RATE) > second);
            let parts = RATE_SECONDS * CARRIER_RATE;
            let took = time_to_send(parts);
            println!("{parts} parts in {took:?} at {CARRIER_RATE} per second");
            assert!(took > Duration::from_secs(RATE_SECONDS.into()) * 8 / 10, "{took:?}");
        })
        .await;
}
