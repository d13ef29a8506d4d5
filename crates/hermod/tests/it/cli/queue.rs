//! Commands that hold, release and cancel what waits, and that drain a carrier.

use super::process::{self, Caller, command, path, run, start_demo};
use crate::real_time::wait_until;
use serde_json::{Value, json};
use std::path::Path;

/// Drains the carrier of the demo, and waits until its links take nothing more.
fn drain(data: &Path) -> String {
    let drained = command(data, &["carrier", "drain", "demo", "--stay"]);
    wait_until("the carrier is drained", || command(data, &["links"]).contains("stopped"));
    drained
}

#[test]
fn waiting_messages_are_held_released_and_cancelled_while_their_carrier_is_drained() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path();
    let (demo, ready) = start_demo(data);
    let customer = Caller::of(&ready);
    let before = customer.balance();
    let drained = drain(data);
    assert!(drained.contains("draining") && drained.contains("0 parts wait"), "{drained}");
    let ids = ["to be sent", "Sale ends today", "Sale ends soon"].map(|text| customer.send(text));

    let listed = command(data, &["queue", "list"]);
    assert!(listed.starts_with("CARRIER") && listed.contains("demo "), "{listed}");
    assert_eq!(
        command(data, &["queue", "hold", "--text", "Sale", "--dry-run"]),
        "2 of 3 waiting messages would be changed by this hold.\n"
    );
    assert_eq!(
        command(data, &["queue", "hold", "--text", "Sale", "--reason", "fraud?"]),
        "Held 2 of 3 waiting messages.\n"
    );
    assert!(command(data, &["queue", "list"]).contains("(held)"));
    wait_until("the record has the hold", || command(data, &["message", &ids[1]]).contains("held"));
    assert_eq!(command(data, &["queue", "cancel", "--id", &ids[2]]), "Cancelled 1 of 1 waiting messages.\n");
    customer.wait_for_status(&ids[2], "rejected");
    let released: Value =
        serde_json::from_str(&command(data, &["queue", "release", "--all", "--json"])).unwrap();
    assert_eq!(released, json!({"looked_at": 1, "done": 1, "left": 0, "next": null}));

    assert_eq!(
        command(data, &["carrier", "resume", "demo"]),
        "~ carrier demo\n    draining: stay -> nothing\n"
    );
    for id in &ids[..2] {
        customer.wait_for_status(id, "delivered");
    }
    assert_ne!(customer.balance(), before, "two messages are charged");
    let disabled = command(data, &["carrier", "disable", "demo"]);
    assert!(disabled.contains("disabled") && disabled.contains("0 wait for a receipt"), "{disabled}");
    let (code, _, stderr) = run(&["queue", "cancel", "--data-dir", path(data)]);
    assert_eq!((code, stderr.contains("must name at least one")), (1, true), "{stderr}");
    assert_eq!(demo.terminate(), 0);
    let (code, out, _) = run(&["audit", "--data-dir", path(data)]);
    assert_eq!(code, 0, "{out}");
}

#[test]
fn waiting_messages_of_a_suspended_account_are_held_and_released_and_of_a_closed_one_cancelled() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path();
    let (demo, ready) = start_demo(data);
    let customer = Caller::of(&ready);
    drain(data);
    let id = customer.send("before the suspension");
    let accounts = process::json(data, &["account", "list"]);
    let account = accounts["items"][0]["name"].as_str().unwrap().to_owned();
    let suspended =
        command(data, &["account", "suspend", &account, "--reason", "unpaid invoice", "--waiting", "hold"]);
    assert!(suspended.ends_with("Held 1 of 1 waiting messages.\n"), "{suspended}");
    let body = json!({"to": "+4915112345678", "text": "refused"}).to_string();
    let (status, answer) = customer.call("POST", "/sms", &body);
    assert_eq!(status, 403, "{answer}");
    assert!(answer["error"].as_str().unwrap().starts_with("ACCOUNT_SUSPENDED: "), "{answer}");

    command(data, &["carrier", "resume", "demo"]);
    let resumed = command(data, &["account", "resume", &account]);
    assert!(resumed.ends_with("Released 1 of 1 waiting messages.\n"), "{resumed}");
    customer.wait_for_status(&id, "delivered");

    drain(data);
    let before = customer.balance();
    customer.send("before the end");
    let closed = command(data, &["account", "close", &account, "--waiting", "cancel"]);
    assert!(closed.ends_with("Cancelled 1 of 1 waiting messages.\n"), "{closed}");
    command(data, &["account", "set", &account, "closed=false"]);
    assert_eq!(customer.balance(), before, "the message was refunded");
    assert_eq!(demo.terminate(), 0);
}
