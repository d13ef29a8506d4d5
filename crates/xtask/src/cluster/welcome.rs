//! Tells how to use the cluster: commands to paste.

use super::files::{Files, NODES, customer};
use super::running::Cluster;
use super::text;
use crate::gateway_files::PASSWORD;
use crate::programs::Binaries;
use crate::shell::Failure;

/// The user of the portal.
const EMAIL: &str = "demo@example.com";

pub(super) fn print(cluster: &Cluster, binaries: &Binaries) -> Result<(), Failure> {
    let invited = cluster.operator(&["user", "invite", EMAIL, "--account", "demo"])?;
    let link = invited.split_whitespace().find(|word| word.starts_with("https://")).unwrap_or_default();
    let (files, customer) = (&cluster.files, customer());
    let (key, secret, system_id) = (customer.key(), customer.secret(), &customer.name);
    let (hermod, simulator) = (text(&binaries.hermod), text(&binaries.simulator));
    let (authority, settings) = (text(&files.authority()), text(&files.settings(0)));
    let nodes: Vec<String> = NODES
        .iter()
        .enumerate()
        .map(|(index, name)| format!("{name} {} (process {})", Files::host(index), cluster.node_id(index)))
        .collect();
    println!(
        "
Three nodes are running behind HAProxy: {nodes}.
All files and logs are in {folder}.

Send a message over HTTPS:
  curl --cacert {authority} -u {key}:{secret} {url}/api/v1/sms \\
       -H 'Content-Type: application/json' -d '{{\"to\": \"+4915112345678\", \"text\": \"Hello\"}}'
Send ten over SMPP, on one bind to each node (system_id {system_id}, password {PASSWORD}):
  {simulator} smpp-load --address 127.0.0.1:{smpp} --system-id {system_id} --password {PASSWORD} \\
       --transceivers 3 --messages 10
See the nodes, and which one runs the engine:
  {hermod} nodes --config {settings}
Choose a password for the portal (its certificate is self-signed):
  {link}
Kill a node, and see it come back:
  kill -9 {victim}

Ctrl-C stops everything.
",
        nodes = nodes.join(", "),
        folder = files.folder.display(),
        url = files.base_url(),
        smpp = files.ports.smpp,
        victim = cluster.node_id(0),
    );
    Ok(())
}
