//! `hermod inbound`, and waiting for a message over a restart of the gateway.

use super::operator_fixture::OperatorFixture;
use super::process::{hermod, output_of};
use hermod_domain::ids::AccountId;
use hermod_store::{Inbound, OpenOptions, Store};
use std::process::Command;
use std::time::Duration;

/// Writes inbound messages to the store directly.
fn receive(fixture: &OperatorFixture, texts: &[&str]) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let now = crate::gateways::wall_time();
        let options = OpenOptions {
            folder: fixture.data(),
            server: None,
            low_water_bytes: 0,
            in_doubt_wait: Duration::ZERO,
            record: false,
            now,
        };
        let store = Store::open(&options).expect("the folder opens");
        let rows = store.setup().rows().await.expect("a catalogue");
        let shop = rows.iter().find(|row| row.kind == "account" && row.name == "shop").expect("a shop");
        for text in texts {
            let inbound = Inbound {
                account: AccountId::new(shop.id),
                from: "+4915112345678".to_owned(),
                to: "80808".to_owned(),
                text: (*text).to_owned(),
                received_at: now,
            };
            store.inbound().receive(inbound).await.expect("it is stored");
        }
        store.close().await.expect("it closes");
    });
}

fn customer(fixture: &OperatorFixture, secret: &str, args: &[&str]) -> Command {
    let mut command = hermod(args);
    let url = format!("http://{}", fixture.address);
    command.env("HERMOD_URL", url).env("HERMOD_API_KEY", "shop-key-1").env("HERMOD_API_SECRET", secret);
    command
}

/// Returns an operator fixture and the secret of its key.
fn shop() -> (OperatorFixture, String) {
    let fixture = OperatorFixture::without_gateway();
    fixture.apply(&[]);
    let made = fixture.json(&["key", "rotate", "shop-key-1"]);
    let secret = made["secrets"][0]["secret"].as_str().expect("a secret").to_owned();
    (fixture, secret)
}

#[test]
fn inbound_messages_are_listed_in_order_with_escaped_control_characters() {
    let (mut fixture, secret) = shop();
    receive(&fixture, &["yes please", "\u{1b}]0;owned\u{7}no", "ok"]);
    fixture.serve();
    let (code, out, stderr) = output_of(&mut customer(&fixture, &secret, &["inbound", "--limit", "2"]));
    assert_eq!((code, stderr.as_str()), (0, ""), "{out}");
    let lines: Vec<&str> = out.lines().collect();
    assert!(
        lines[0].starts_with("ID  RECEIVED") && lines[1].ends_with("+4915112345678  80808  yes please"),
        "{out}"
    );
    assert!(lines[2].ends_with("\\u{1b}]0;owned\\u{7}no"), "{out:?}");
    assert_eq!(lines[4], "Next page: hermod inbound --since 2");
    let (_, out, _) = output_of(&mut customer(&fixture, &secret, &["inbound", "--since", "2"]));
    assert!(out.contains("ok") && out.contains("--since 3"), "{out}");
}

#[test]
fn status_wait_survives_a_restart_of_the_gateway() {
    let (mut fixture, secret) = shop();
    fixture.serve();
    let sent = customer(&fixture, &secret, &["send", "--to", "+4915112345678", "--text", "Hello", "--json"])
        .output();
    let sent: serde_json::Value = serde_json::from_slice(&sent.unwrap().stdout).unwrap();
    let message = sent["message_id"].as_str().unwrap();
    // No carrier is connected, so the message stays queued.
    let waiting =
        customer(&fixture, &secret, &["status", message, "--wait", "--at-most", "10"]).spawn().unwrap();
    assert_eq!(fixture.serving.take().unwrap().terminate(), 0);
    fixture.serve();
    let output = waiting.wait_with_output().unwrap();
    let (out, stderr) =
        (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    assert_eq!(output.status.code(), Some(1));
    assert!(
        out.contains("status    queued") && stderr.contains("the message is still queued after 10 s"),
        "{out}{stderr}"
    );
}
