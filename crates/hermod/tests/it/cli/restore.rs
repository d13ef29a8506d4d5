//! Commands on a gateway that is started with a backup.

use super::process::{self, Caller, command, path, run, start_demo};
use crate::real_time::wait_until;
use serde_json::json;

#[test]
fn started_backup_sends_nothing_until_its_messages_are_cancelled_and_it_is_released() {
    let folder = tempfile::tempdir().unwrap();
    let (data, copy) = (folder.path().join("data"), folder.path().join("copy"));
    let (demo, ready) = start_demo(&data);
    let customer = Caller::of(&ready);
    let before = customer.balance();
    command(&data, &["carrier", "drain", "demo", "--stay"]);
    let ids = ["first", "second"].map(|text| customer.send(text));
    command(&data, &["queue", "hold", "--all"]);
    command(&data, &["carrier", "resume", "demo"]);
    let (code, out, stderr) = run(&["backup", "--data-dir", path(&data), path(&copy)]);
    assert_eq!((code, out.contains("hermod restore review")), (0, true), "{out}{stderr}");
    command(&data, &["queue", "release", "--all"]);
    for id in &ids {
        customer.wait_for_status(id, "delivered");
    }
    assert_eq!(process::json(&data, &["restore", "review"])["held"], json!(false));
    assert_eq!(demo.terminate(), 0);

    let (demo, ready) = start_demo(&copy);
    let customer = Caller::of(&ready);
    let body = json!({"to": "+4915112345678", "text": "too early"}).to_string();
    let (status, answer) = customer.call("POST", "/sms", &body);
    assert_eq!((status, answer.to_string().contains("held for maintenance")), (503, true), "{answer}");
    let review = command(&copy, &["restore", "review"]);
    assert!(review.starts_with("The gateway is held: it was restored from the backup of 2"), "{review}");
    assert!(review.contains("(held)") && review.contains(&ids[0]), "{review}");
    wait_until("the alarm is raised", || {
        process::json(&copy, &["alarms"]).to_string().contains("gateway-held")
    });
    assert_eq!(
        command(&copy, &["restore", "cancel", "--before-backup", "--dry-run"]),
        "2 of 2 waiting messages would be cancelled or stopped.\n"
    );
    let (code, _, stderr) = run(&["restore", "cancel", "--data-dir", path(&copy)]);
    assert_eq!((code, stderr.contains("--before-backup")), (2, true), "{stderr}");
    assert_eq!(
        command(&copy, &["restore", "cancel", "--before-backup", "--reason", "a test"]),
        "Cancelled and refunded 2 of 2 waiting messages.\n\
         Released the gateway: carriers are bound, and what waits is sent.\n"
    );
    assert_eq!(customer.balance(), before);
    customer.wait_for_status(&ids[1], "rejected");
    let new = customer.send("after the release");
    customer.wait_for_status(&new, "delivered");
    assert_eq!(command(&copy, &["restore", "release"]), "The gateway is not held.\n");
    assert!(command(&copy, &["changes"]).contains("restore.release"));
    assert_eq!(demo.terminate(), 0);
    let (code, out, _) = run(&["audit", "--data-dir", path(&copy)]);
    assert_eq!(code, 0, "{out}");
}
