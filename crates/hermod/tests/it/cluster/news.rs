//! What happened on one node is known on the others: rejected requests, exceeded controls, traced PDUs and wrong passwords.

use super::rig::Cluster;
use crate::cli::process::{command, json, path};
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
const WRONG_BINDS: usize = 15;

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
    // All nodes know the control after that.
    pause(Duration::from_secs(2)).await;

    let traced = std::thread::scope(|scope| {
        let traces = [0, 1].map(|asked| {
            let data = cluster.data(asked);
            scope.spawn(move || command(&data, &["carrier", "trace", "acme", "--for", "4s"]))
        });
        wait_until("the trace has begun", || {
            json(&cluster.data(2), &["links"])["items"][0]["tracing_until"].is_string()
        });
        // On the other nodes it begins a moment later.
        block(Duration::from_millis(500));
        for index in 0..3 {
            let caller = cluster.caller(index);
            (0..MESSAGES).for_each(|_| drop(caller.send("over the limit, and allowed")));
            let (status, answer) = caller.call("POST", "/sms", r#"{"to": "nonsense", "text": "x"}"#);
            assert_eq!(status, 400, "{answer}");
        }
        traces.map(|trace| trace.join().expect("no panic"))
    });
    // Both traces have every submit, also those over links of other nodes.
    for traced in traced {
        let sent = traced.lines().filter(|line| line.contains(" -> submit_sm ")).count();
        assert_eq!(sent, 3 * usize::try_from(MESSAGES).unwrap(), "{traced}");
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
    // The nodes tell each other ten times a second.
    pause(Duration::from_millis(500)).await;
    assert_eq!(try_bind(&cluster, 0).await, CommandStatus::BINDFAIL, "without a check of the password");
}

/// Tries to bind with a wrong password.
async fn try_bind(cluster: &Cluster, index: usize) -> CommandStatus {
    let mut esme = Esme::connect(cluster.node(index).smpp_address()).await;
    esme.try_bind(BindType::Transmitter, "nobody", "wrong", VERSION_3_4).await
}
