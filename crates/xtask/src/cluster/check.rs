//! `cargo xtask cluster check`: a cluster as customers see it. Messages go through HAProxy over HTTPS and SMPP before, during
//! and after a restart of the node with the engine; at the end the carrier must have received each of them once.

use std::path::Path;
use std::process::{Command, Stdio};

use super::files::{NODES, customer};
use super::running::{Cluster, wait_until};
use super::text;
use crate::gateway_files::{PASSWORD, compare_counts};
use crate::programs::Binaries;
use crate::shell::{Failure, Outcome, stopwatch};

/// Messages over SMPP in each step, on one bind per node.
const SMPP_MESSAGES: u64 = 30;
/// The first node runs the engine.
const RESTARTED: usize = 0;

pub(super) fn run(binaries: &Binaries) -> Outcome {
    let started = stopwatch();
    let mut cluster = Cluster::start(binaries)?;
    println!("All nodes are healthy behind HAProxy after {:.1} s.", started.elapsed().as_secs_f64());
    let mut sent = send_some(&cluster, binaries, 0)?;
    println!("Restarting the node with the engine ...");
    cluster.stop_node(RESTARTED)?;
    // HAProxy may not have noticed yet: its first attempt is at the node that is gone.
    for _ in 0..NODES.len() {
        send_over_http(&cluster, &binaries.hermod, sent)?;
        sent += 1;
    }
    wait_until("HAProxy to notice", || Ok(!cluster.is_up(RESTARTED)?))?;
    sent += send_some(&cluster, binaries, sent)?;
    cluster.start_node(RESTARTED)?;
    cluster.wait_until_all_up()?;
    sent += send_some(&cluster, binaries, sent)?;
    require_nodes(&cluster.operator(&["nodes"])?)?;
    let counts = cluster.stop_and_count()?;
    compare_counts(&counts, sent)?;
    println!(
        "Cluster check passed: {sent} messages over HTTPS and SMPP, each at the carrier once, in {:.1} s.",
        started.elapsed().as_secs_f64()
    );
    Ok(())
}

/// Sends over HTTPS and SMPP, and waits until all is delivered. No two messages of a cluster are the same: `first` is the number
/// of the first one. Returns how many there were.
fn send_some(cluster: &Cluster, binaries: &Binaries, first: u64) -> Result<u64, Failure> {
    send_over_http(cluster, &binaries.hermod, first)?;
    send_over_smpp(cluster, &binaries.simulator, first + 1)?;
    Ok(1 + SMPP_MESSAGES)
}

/// Sends one message as a customer, and waits until it is delivered. Only the customer's address may use the key.
fn send_over_http(cluster: &Cluster, hermod: &Path, number: u64) -> Outcome {
    let words = format!("Hello {number} through HAProxy");
    let mut command = Command::new(hermod);
    command.args(["send", "--to", "+4915112345678", "--text", &words, "--wait"]);
    command.args(["--url", &cluster.files.base_url(), "--ca", &text(&cluster.files.authority())]);
    command.env("HERMOD_API_KEY", customer().key()).env("HERMOD_API_SECRET", customer().secret());
    must_succeed(command, "a message over HTTPS")
}

/// Sends over SMPP with a bind for each node. The program fails if a receipt is missing.
fn send_over_smpp(cluster: &Cluster, simulator: &Path, first: u64) -> Outcome {
    let address = format!("127.0.0.1:{}", cluster.files.ports.smpp);
    let (binds, messages) = (NODES.len().to_string(), SMPP_MESSAGES.to_string());
    let mut command = Command::new(simulator);
    command.args(["smpp-load", "--address", &address, "--system-id", &customer().name]);
    command.args(["--password", PASSWORD]);
    command.args(["--transceivers", &binds, "--messages", &messages, "--window", "5"]);
    command.args(["--first", &first.to_string()]);
    must_succeed(command, "messages over SMPP")
}

fn must_succeed(mut command: Command, what: &str) -> Outcome {
    let output = command.stdin(Stdio::null()).output();
    let output = output.map_err(|cause| Failure(format!("cannot send {what}: {cause}")))?;
    if output.status.success() {
        return Ok(());
    }
    let said = [output.stdout, output.stderr].concat();
    Err(Failure(format!("cannot send {what}: {}", String::from_utf8_lossy(&said).trim())))
}

/// Checks that `hermod nodes` lists all nodes.
fn require_nodes(listed: &str) -> Outcome {
    for name in NODES {
        if !listed.lines().any(|line| line.split_whitespace().next() == Some(name)) {
            return Err(Failure(format!("`hermod nodes` does not list {name}:\n{listed}")));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_node_is_named() {
        assert!(require_nodes("NAME ADDRESS\na 127.0.0.1\nb 127.0.0.2\nc 127.0.0.3\n").is_ok());
        let missing = require_nodes("a 127.0.0.1\nc 127.0.0.3\n").unwrap_err();
        assert!(missing.to_string().starts_with("`hermod nodes` does not list b"), "{missing}");
    }
}
