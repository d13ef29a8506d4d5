//! What happened on one node is known on the others: rejected requests, exceeded controls, traced PDUs and wrong passwords.

use super::rig::Cluster;
use crate::cli::process::{Process, command, json, path};
use crate::real_time::{block, pause, wait_until};
use crate::scenario::Esme;
use hermod_smpp::{BindType, CommandStatus, VERSION_3_4};
use serde_json::{Value, json as value};
use std::time::Duration;

const CONTROL: &str =
    "[[control]]\nname = \"one-recipient\"\nmode = \"watch\"\nper_recipient = { most = 1, per = \"1h\" }\n";
/// Messages to one number over each node.
const MESSAGES: u64 = 10;
/// On each of two nodes: together `bind_attempts`, 30 by default.
const WRONG_BINDS: u32 = 15;

/// Returns the ids of rejected requests, as this node has them.
fn rejected(cluster: &Cluster, asked: usize) -> Vec<String> {
    let listed = json(&cluster.data(asked), &["requests", "--rejected", "--account", "alice"]);
    let items = listed["items"].as_array().expect("a list").iter();
    let mut rejected: Vec<String> =
        items.map(|item| item["request"].as_str().expect("an id").to_owned()).collect();
    rejected.sort_unstable();
    rejected
}

fn exceeded(cluster: &Cluster, asked: usize) -> Value {
    json(&cluster.data(asked), &["account", "traffic", "alice"])["controls"][0]["would_have_refused"].clone()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rejected_requests_exceeded_controls_and_traces_of_each_node_are_on_all() {
    let Some(cluster) = Cluster::start(3).await else { return };
    let file = cluster.path().join("control.toml");
    std::fs::write(&file, CONTROL).unwrap();
    command(&cluster.data(0), &["apply", path(&file)]);
    cluster.wait_for_a_link_on_each_node();
    wait_until("all nodes know the control", || (0..3).all(|asked| !exceeded(&cluster, asked).is_null()));

    let traces = [0, 1].map(|asked| {
        let data = cluster.data(asked);
        Process::start(&["carrier", "trace", "acme", "--for", "10m", "--data-dir", path(&data)])
    });
    wait_until("the trace has begun", || {
        (0..3).all(|asked| json(&cluster.data(asked), &["links"])["items"][0]["tracing_until"].is_string())
    });
    // On the other nodes it begins a moment later.
    block(Duration::from_secs(1));
    for index in 0..3 {
        let caller = cluster.caller(index);
        (0..MESSAGES).for_each(|_| drop(caller.send("over the limit, and allowed")));
        let (status, answer) = caller.call("POST", "/sms", r#"{"to": "nonsense", "text": "x"}"#);
        assert_eq!(status, 400, "{answer}");
    }
    // Both traces have every submit, also those over links of other nodes.
    for mut trace in traces {
        let mut sent = 0;
        while sent < 3 * MESSAGES {
            let line = trace.first_line();
            assert!(!line.is_empty(), "the trace has ended with {sent} submits");
            sent += u64::from(line.contains(" -> submit_sm "));
        }
    }

    for asked in 0..3 {
        wait_until("a node has the rejected requests of all", || rejected(&cluster, asked).len() == 3);
        wait_until("a node has the exceeded controls of all", || {
            exceeded(&cluster, asked) == value!(3 * MESSAGES - 1)
        });
    }
    assert!((1..3).all(|asked| rejected(&cluster, asked) == rejected(&cluster, 0)));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn wrong_passwords_on_two_nodes_use_up_the_attempts_on_the_third() {
    let Some(cluster) = Cluster::start(3).await else { return };
    for index in [1, 2] {
        for _ in 0..WRONG_BINDS {
            assert_eq!(try_bind(&cluster, index).await, CommandStatus::INVPASWD);
        }
    }
    // The nodes tell each other ten times a second. Until then an attempt here counts as well, so there can be few of them: the pauses
    // between them become longer, a minute and more together.
    let mut tries = 1;
    while try_bind(&cluster, 0).await != CommandStatus::BINDFAIL {
        tries += 1;
        assert!(tries < WRONG_BINDS, "passwords are still checked here");
        pause(Duration::from_millis(100) * tries * tries).await;
    }
}

/// Tries to bind with a wrong password.
async fn try_bind(cluster: &Cluster, index: usize) -> CommandStatus {
    let mut esme = Esme::connect(cluster.node(index).smpp_address()).await;
    esme.try_bind(BindType::Transmitter, "nobody", "wrong", VERSION_3_4).await
}
