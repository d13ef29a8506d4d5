//! The setup of nodes that start. A node that is stopped and started at once gets the engine back before the others notice. Traffic of
//! the other nodes reaches it at that moment: it must decide by the stored setup from its first batch on. Nodes that start together
//! apply their provision files one after another.

use super::rig::{Cluster, KEYS_PER_NODE, NAMES, cycles};
use crate::cli::process::{Caller, command, path};
use crate::crash::Customer;
use crate::gateways::SECRET;
use crate::real_time::{PATIENCE, pause, wait_until};
use hermod_simulator::carrier::CarrierRecord;
use hermod_simulator::load::http::Which;
use hermod_simulator::webhooks::{ReceiverBehaviour, WebhookReceiver};
use std::fs::Permissions;
use std::net::{Ipv4Addr, SocketAddr};
use std::os::unix::fs::PermissionsExt as _;
use std::time::Duration;

const CYCLES: u64 = 5;
const NUMBER: &str = "4915799999999";
const NEW_KEY: &str = "alice-new-key";
const HANDSET: u64 = 4_915_112_000_000;
/// MO messages before and after each stop.
const MO_EACH: u64 = 150;
/// How long the other nodes send before and after a restart.
const SENDING: Duration = Duration::from_millis(700);

/// Messages of accounts with a webhook that have ended without an event.
const WITHOUT_EVENT: &str = "SELECT count(*)::text FROM (SELECT id FROM message WHERE settled_at IS NOT NULL
     EXCEPT SELECT message FROM webhook EXCEPT SELECT message FROM webhook_past) AS missing";

/// Sends MO messages to the owned number.
fn send_mo(cluster: &Cluster, sent: &mut u64) {
    for number in *sent..*sent + MO_EACH {
        let said = cluster.carrier.send_mo(&(HANDSET + number).to_string(), NUMBER, "a reply");
        said.expect("room for a message");
    }
    *sent += MO_EACH;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn restarted_node_with_the_engine_decides_by_the_stored_setup_from_its_first_batch_on() {
    let Some(mut cluster) = Cluster::start(3).await else { return };
    let local = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let hooks = WebhookReceiver::start(local, ReceiverBehaviour::Status(200), None).expect("a free port");
    let (dlr, inbound) = (hooks.url("dlr"), hooks.url("inbound"));
    let entries = format!(
        "[[account]]\nname = \"alice\"\ndlr_webhook = \"{dlr}\"\ninbound_webhook = \"{inbound}\"\n\
         webhook_secret = \"a-secret-of-the-rig\"\n[[number]]\nnumber = \"+{NUMBER}\"\naccount = \"alice\"\n\
         [[key]]\nkey = \"{NEW_KEY}\"\nsecret = \"{SECRET}\"\nconnection = \"alice-http\"\n"
    );
    let file = cluster.path().join("alice.toml");
    std::fs::write(&file, entries).expect("a file");
    std::fs::set_permissions(&file, Permissions::from_mode(0o600)).expect("a mode");
    command(&cluster.data(0), &["apply", path(&file)]);
    // A node that accepts the new key has all of the file.
    wait_until("all nodes know the setup", || {
        let knows = |index| Caller { key: NEW_KEY.to_owned(), ..cluster.caller(index) };
        (0..NAMES.len()).all(|index| knows(index).call("GET", "/balance", "").0 == 200)
    });

    let (customer, mut sent) = (Customer::default(), 0);
    for cycle in 0..cycles(CYCLES) {
        let index = cluster.engine().await;
        let stopping = cluster.take_node(index);
        let lists = customer.next_keys(NAMES.len(), KEYS_PER_NODE);
        let mut loads = Vec::new();
        for (node, keys) in cluster.nodes.iter().flatten().zip(lists) {
            loads.push(customer.start(node, Which::These(keys.into())).await);
        }
        send_mo(&cluster, &mut sent);
        pause(SENDING).await;
        stopping.stop().await;
        cluster.start_without_waiting(index);
        send_mo(&cluster, &mut sent);
        tokio::task::block_in_place(|| cluster.wait_until_ready(index));
        pause(SENDING).await;
        loads.iter().for_each(|load| load.stopper().stop());
        for load in loads {
            load.finish().await;
        }
        let engine = NAMES[cluster.engine().await];
        println!("cycle {}: {} restarted, engine on {engine}", cycle + 1, NAMES[index]);
    }
    let answered = move |record: &CarrierRecord| record.counts().mo_accepted >= sent;
    cluster.carrier.record().wait_until(answered, PATIENCE).await.expect("all deliver_sm are answered");
    cluster.wait_until_settled(&customer).await;
    assert!(customer.acknowledged() > 0, "no messages");
    let counts = async |sql: &str| cluster.query(sql).await;
    assert_eq!(
        counts("SELECT count(*)::text FROM unassigned_inbound").await,
        ["0"],
        "no MO message lost its account"
    );
    assert_eq!(counts("SELECT count(*)::text FROM inbound").await, [sent.to_string()]);
    let with_event = "SELECT count(DISTINCT message)::text FROM
         (SELECT message, kind FROM webhook UNION ALL SELECT message, kind FROM webhook_past) AS event WHERE kind = 2";
    assert_eq!(counts(with_event).await, [sent.to_string()], "each MO message has its event");
    assert_eq!(counts(WITHOUT_EVENT).await, ["0"], "each message that has ended has its event");
    cluster.finish(&customer).await;
    hooks.stop().await;
}

const CARRIER: &str = "SELECT body FROM catalogue WHERE kind = 'carrier'";
/// How long the test holds the lock of the setup, in seconds.
const LOCK_HELD: u32 = 6;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn provision_file_is_applied_at_a_start_only_while_no_other_node_changes_the_setup() {
    // All three start on an empty database at once, with the same file.
    let Some(mut cluster) = Cluster::start_at_once().await else { return };
    let before = cluster.query(CARRIER).await;

    // A changed file must wait for a change of another node.
    cluster.take_node(2).stop().await;
    let mut holding = cluster.hold_setup_lock(LOCK_HELD).await;
    cluster.set_links(2);
    cluster.start_without_waiting(2);
    loop {
        let now = cluster.query(CARRIER).await;
        if holding.try_join_next().is_some() {
            break;
        }
        assert_eq!(now, before, "the file was applied while another node had the setup");
        pause(Duration::from_millis(50)).await;
    }
    tokio::task::block_in_place(|| cluster.wait_until_ready(2));
    let after = cluster.query(CARRIER).await;
    assert_ne!(after, before, "the file was applied after that");
}
