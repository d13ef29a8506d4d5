//! The webhook receivers of the documentation, each run by its own interpreter on a post of a real gateway.

use super::program;
use crate::gateways::{self, Served};
use crate::real_time::PATIENCE;
use crate::scenario::Customer;
use hermod_simulator::carrier::{CarrierOptions, Script, SimulatedCarrier};
use hermod_simulator::webhooks::{ReceivedPost, ReceiverBehaviour, WebhookReceiver};
use std::io::Write as _;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const SECRET: &str = "whsec-of-this-test";
const SETTINGS: &str = "[webhooks]\nallow_http = true\nallow = [\"127.0.0.0/8\"]\n[log]\nlevel = \"warn\"\n";

fn scripts() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/clients/webhooks")
}

/// Returns the four receivers with their interpreters.
fn receivers() -> [(&'static str, PathBuf); 4] {
    [
        ("verify.py", program("python")),
        ("verify.js", PathBuf::from("node")),
        ("verify.php", program("php")),
        ("verify.pl", program("perl")),
    ]
}

fn accepts_signature(script: &str, interpreter: &Path, body: &[u8], signature: &str, secret: &str) -> bool {
    let mut child = Command::new(interpreter)
        .arg(scripts().join(script))
        .args([secret, signature])
        .stdin(Stdio::piped())
        .spawn()
        .unwrap_or_else(|error| panic!("{} starts: {error}", interpreter.display()));
    child.stdin.take().expect("standard input was piped").write_all(body).expect("it reads the body");
    let status = child.wait().expect("it can be waited for");
    match status.code() {
        Some(0) => true,
        Some(1) => false,
        other => panic!("{script} ended with {other:?}"),
    }
}

/// Returns a posted delivery report.
async fn posted() -> ReceivedPost {
    let hooks = WebhookReceiver::start(
        SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
        ReceiverBehaviour::Status(200),
        None,
    );
    let hooks = hooks.expect("a free port on the loopback");
    let carrier = SimulatedCarrier::start(CarrierOptions::new(Script::new()))
        .await
        .expect("a free port on the loopback");
    let folder = tempfile::tempdir().expect("a temporary folder");
    let alice =
        format!("name = \"alice\"\ndlr_webhook = \"{}\"\nwebhook_secret = \"{SECRET}\"\n", hooks.url("dlr"));
    let provision = gateways::provision_text(carrier.addr(), "100").replacen("name = \"alice\"\n", &alice, 1);
    let gateway = Served::start_with(folder.path(), SETTINGS, &provision);
    Customer::new("alice", gateway.address()).send("+4915112345678", "Grüße").await;
    let caught = hooks.wait_for(1, PATIENCE).await;
    gateway.stop().await;
    carrier.stop().await;
    hooks.stop().await;
    caught.into_iter().next().expect("one report")
}

#[tokio::test]
async fn every_documented_receiver_verifies_a_posted_webhook() {
    let caught = posted().await;
    let signature = caught.header("x-svc-signature").expect("the post has a signature");
    let mut changed = caught.body.to_vec();
    changed.push(b' ');
    for (script, interpreter) in receivers() {
        let verifies = |body: &[u8], signature: &str, secret: &str| {
            accepts_signature(script, &interpreter, body, signature, secret)
        };
        assert!(verifies(&caught.body, signature, SECRET), "{script}: genuine");
        assert!(!verifies(&caught.body, signature, "another"), "{script}: another secret");
        assert!(!verifies(&changed, signature, SECRET), "{script}: one octet more");
        assert!(!verifies(&caught.body, &signature[1..], SECRET), "{script}: half a signature");
        assert!(!verifies(&caught.body, "", SECRET), "{script}: no signature");
    }
}

#[test]
fn documentation_contains_the_tested_receivers() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let page = std::fs::read_to_string(root.join("docs/webhook-receivers.md")).expect("the page is there");
    for (script, language) in
        [("verify.py", "python"), ("verify.js", "js"), ("verify.php", "php"), ("verify.pl", "perl")]
    {
        let shown = std::fs::read_to_string(scripts().join(script)).expect("the script is there");
        assert!(
            page.contains(&format!("```{language}\n{shown}```\n")),
            "{script} is not in docs/webhook-receivers.md"
        );
    }
}
