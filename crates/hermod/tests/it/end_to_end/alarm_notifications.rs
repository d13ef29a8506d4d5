//! Alarms are sent: a customer runs out of credit, the operator's receiver and command are told, and told again when it is over.

use crate::real_time::{PATIENCE, now, pause};
use crate::scenario::{GatewaySetup, Scenario};
use hermod_domain::webhook::signature::{SignatureHeader, valid_signatures};
use hermod_gateway::config::{NotifySection, Period};
use hermod_gateway::live_status::Severity;
use hermod_simulator::carrier::Script;
use hermod_simulator::webhooks::{ReceivedPost, ReceiverBehaviour, WebhookReceiver};
use serde_json::Value;
use std::collections::BTreeSet;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::time::Duration;

const TO: &str = "+4915112345678";
const SECRET: &str = "the-operators-own-secret";
const SECOND: Duration = Duration::from_secs(1);

/// Writes the secret, and returns settings with the receiver and a command that appends what it gets to the file `seen`.
fn notify(hooks: &WebhookReceiver, folder: &Path) -> NotifySection {
    let secret_file = folder.join("alarms.secret");
    std::fs::write(&secret_file, format!("{SECRET}\n")).expect("a written file");
    let seen = folder.join("seen");
    let script = format!(
        "cat > /dev/null; echo \"$0: $HERMOD_ALARM_EVENT $HERMOD_ALARM $HERMOD_ALARM_ACCOUNT\" >> {}",
        seen.display()
    );
    let command = ["/bin/sh", "-c", &script, "told"];
    NotifySection {
        mail: Vec::new(),
        webhook: Some(hooks.url("alarms")),
        secret_file: Some(secret_file),
        command: command.map(str::to_owned).to_vec(),
        quiet: Period::from_secs(900),
        least: Severity::Warning,
    }
}

fn body(post: &ReceivedPost) -> Value {
    serde_json::from_slice(&post.body).expect("JSON")
}

/// Returns the notifications about the customer: the machine may have alarms of its own. A post that a slow machine repeats
/// counts once.
fn told(hooks: &WebhookReceiver) -> Vec<ReceivedPost> {
    let mut ids = BTreeSet::new();
    let mut is_new = |post: &ReceivedPost| ids.insert(post.header("webhook-id").map(str::to_owned));
    let posts = hooks.posts().into_iter();
    posts.filter(|post| body(post)["alarm"] == "out-of-credit" && is_new(post)).collect()
}

/// Waits until there are this many notifications about the customer, and returns the last.
async fn wait_for_told(hooks: &WebhookReceiver, count: usize) -> ReceivedPost {
    let started = now();
    loop {
        if let Some(post) = told(hooks).get(count - 1) {
            return post.clone();
        }
        assert!(started.elapsed() < PATIENCE, "no notification {count}");
        pause(Duration::from_millis(20)).await;
    }
}

#[tokio::test]
async fn customer_out_of_credit_is_told_to_receiver_and_command_once_and_when_it_is_over() {
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let hooks = WebhookReceiver::start(address, ReceiverBehaviour::Status(200), None).expect("a free port");
    let folder = tempfile::tempdir().expect("a temporary folder");
    // The rules for customers' webhooks forbid the receiver's address, and do not apply to the operator's.
    let setup = GatewaySetup {
        webhooks_to: Vec::new(),
        notify: Some(notify(&hooks, folder.path())),
        ..GatewaySetup::with("")
    };
    let s = Scenario::with_setup(Script::new(), setup).await;
    for _ in 0..10 {
        s.carol.send(TO, "spend").await.accepted();
    }
    assert_eq!(s.carol.send(TO, "too much").await.status, 402);
    let raised = s.advance_until(SECOND, || wait_for_told(&hooks, 1)).await;
    let told_first = body(&raised);
    assert_eq!(
        (&told_first["event"], &told_first["account"]),
        (&"raised".into(), &"carol".into()),
        "{told_first}"
    );
    assert_eq!(told_first["severity"], "warning", "{told_first}");
    let valid = valid_signatures(SECRET, &raised.body, |name| raised.header(name));
    assert_eq!(valid, [SignatureHeader::Current, SignatureHeader::Standard]);

    assert_eq!(s.carol.send(TO, "still too much").await.status, 402);
    s.provision(
        "[[account]]\nname = \"carol\"\ncurrency = \"EUR\"\nverified = true\ncountries = \"*\"\ncredit_limit = \"10\"\n",
    )
    .await;
    let over = body(&s.advance_until(SECOND, || wait_for_told(&hooks, 2)).await);
    assert_eq!((&over["event"], &over["first_at"]), (&"over".into(), &told_first["first_at"]), "{over}");
    assert_eq!(told(&hooks).len(), 2, "the second rejection is the same alarm");
    s.carol.send(TO, "with credit").await.accepted();

    let seen = folder.path().join("seen");
    let lines = || -> Vec<String> {
        let text = std::fs::read_to_string(&seen).unwrap_or_default();
        text.lines().filter(|line| line.ends_with(" carol")).map(str::to_owned).collect()
    };
    s.wait_until("the command ran twice", || lines().len() == 2).await;
    assert_eq!(lines(), ["told: raised out-of-credit carol", "told: over out-of-credit carol"]);
    hooks.stop().await;
    s.wait_until_no_open_parts().await;
    s.end().await;
}
