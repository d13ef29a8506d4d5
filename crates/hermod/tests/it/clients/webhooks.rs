//! The receivers of webhooks that the documentation shows, each run by its own interpreter on what a real gateway posted.

use super::program;
use crate::assembly::{self, Served};
use crate::real_time::PATIENCE;
use crate::scenario::Customer;
use hermod_simulator::carrier::{Carrier, CarrierOptions, Script};
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

/// The four, with what runs them.
fn receivers() -> [(&'static str, PathBuf); 4] {
    [
        ("verify.py", program("python")),
        ("verify.js", PathBuf::from("node")),
        ("verify.php", program("php")),
        ("verify.pl", program("perl")),
    ]
}

fn says_genuine(script: &str, interpreter: &Path, body: &[u8], signature: &str, secret: &str) -> bool {
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

/// A delivery report as a receiver gets it.
async fn posted() -> ReceivedPost {
    let hooks = WebhookReceiver::start(
        SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
        ReceiverBehaviour::Status(200),
        None,
    );
    let hooks = hooks.expect("a free port on the loopback");
    let carrier =
        Carrier::start(CarrierOptions::new(Script::new())).await.expect("a free port on the loopback");
    let folder = tempfile::tempdir().expect("a temporary folder");
    let alice =
        format!("name = \"alice\"\ndlr_webhook = \"{}\"\nwebhook_secret = \"{SECRET}\"\n", hooks.url("dlr"));
    let provision = assembly::provision_text(carrier.addr(), "100").replacen("name = \"alice\"\n", &alice, 1);
    let gateway = Served::start_with(folder.path(), SETTINGS, &provision);
    Customer::new("alice", gateway.address()).sends("+4915112345678", "Grüße").await;
    let caught = hooks.wait_for(1, PATIENCE).await;
    gateway.stop().await;
    carrier.stop().await;
    hooks.stop().await;
    caught.into_iter().next().expect("one report")
}

#[tokio::test]
async fn every_receiver_in_the_documentation_knows_a_webhook_of_ours() {
    let caught = posted().await;
    let signature = caught.header("x-svc-signature").expect("it is signed");
    let mut changed = caught.body.to_vec();
    changed.push(b' ');
    for (script, interpreter) in receivers() {
        let says = |body: &[u8], signature: &str, secret: &str| {
            says_genuine(script, &interpreter, body, signature, secret)
        };
        assert!(says(&caught.body, signature, SECRET), "{script}: genuine");
        assert!(!says(&caught.body, signature, "another"), "{script}: another secret");
        assert!(!says(&changed, signature, SECRET), "{script}: one octet more");
        assert!(!says(&caught.body, &signature[1..], SECRET), "{script}: half a signature");
        assert!(!says(&caught.body, "", SECRET), "{script}: no signature");
    }
}

#[test]
fn the_documentation_shows_the_receivers_that_were_tried() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let page = std::fs::read_to_string(root.join("docs/webhook-receivers.md")).expect("the page is there");
    for (script, language) in
        [("verify.py", "python"), ("verify.js", "js"), ("verify.php", "php"), ("verify.pl", "perl")]
    {
        let shown = std::fs::read_to_string(scripts().join(script)).expect("the script is there");
        assert!(
            page.contains(&format!("```{language}\n{shown}```\n")),
            "{script} is not in docs/webhook-receivers.md as it is"
        );
    }
}
