//! Link, alarm and carrier commands, with a running gateway and without.

use super::operator_fixture::Office;
use super::process::{Caller, path, ran, start_demo};
use crate::real_time::wait_until;
use serde_json::Value;

#[test]
fn link_alarm_trace_and_carrier_commands_show_a_running_gateway() {
    let folder = tempfile::tempdir().unwrap();
    let (demo, ready) = start_demo(folder.path());
    let here = ["--data-dir", path(folder.path())];
    let does = |args: &[&str]| {
        let (code, out, told) = ran(&[args, &here].concat());
        assert_eq!((code, told.as_str()), (0, ""), "{args:?}: {out}");
        out
    };
    wait_until("the link is bound", || does(&["links"]).contains("bound"));
    let links: Value = serde_json::from_str(&does(&["links", "--json"])).unwrap();
    let seen = &links["items"][0];
    assert_eq!((&seen["carrier"], &seen["links"][0]["state"]), (&"demo".into(), &"bound".into()), "{links}");
    assert!(does(&["links", "--carrier", "demo"]).contains("demo"));
    assert!(does(&["links", "--carrier", "other"]).starts_with("There are no carriers yet."));
    assert_eq!(does(&["alarms"]), "There are no alarms.\n");
    assert_eq!(does(&["alarms", "--acknowledge"]), "There are no alarms.\n");
    assert_eq!(does(&["carrier", "resume", "demo"]), "demo was not stopped.\n");
    let told = does(&["route", "explain", "+4915112345678"]);
    assert!(told.contains("to carrier demo.") && told.contains("gets it"), "{told}");

    let customer = Caller::of(&ready);
    let lines = std::thread::scope(|scope| {
        let traced = scope.spawn(|| does(&["carrier", "trace", "demo", "--for", "3s"]));
        wait_until("the trace is active", || does(&["links"]).contains("is traced until"));
        customer.send("A canary in a coal mine");
        traced.join().unwrap()
    });
    assert!(lines.contains("-> submit_sm") && lines.contains("<- submit_sm_resp"), "{lines}");
    assert!(!lines.contains("canary"), "{lines}");

    let told = does(&["carrier", "test", "demo", "--to", "+4915112345678", "--text", "canary"]);
    for part in ["-> bind_transceiver", "-> submit_sm", "<- deliver_sm", "The test passed: "] {
        assert!(told.contains(part), "{part} in {told}");
    }
    assert!(!told.contains("canary"), "{told}");
    let loose = does(&["carrier", "receipts", "demo"]);
    assert!(loose.starts_with("demo has no unmatched receipts"), "{loose}");
    wait_until("the delivery is counted", || does(&["deliveries"]).contains("100.0%"));
    let told = does(&["deliveries", "--days", "1", "--by", "country", "--carrier", "demo"]);
    assert!(told.starts_with("CARRIER  COUNTRY  SENT  DELIVERED"), "{told}");
    let (code, _, told) = ran(&[&["carrier", "test", "demo", "--to", "0151"][..], &here].concat());
    assert_eq!((code, told.contains("INVALID_FIELD: number")), (1, true), "{told}");
    assert_eq!(demo.terminate(), 0);

    for args in [&["links"][..], &["alarms"], &["carrier", "resume", "demo"], &["carrier", "trace", "demo"]] {
        let (code, _, told) = ran(&[args, &here].concat());
        assert_eq!(code, 1, "{args:?}: {told}");
        assert!(told.contains("NOT_RUNNING: this needs a running gateway"), "{args:?}: {told}");
    }
}

#[test]
fn unreachable_carrier_is_listed_with_its_last_error() {
    let office = Office::open();
    office.apply(&[]);
    wait_until("the link has tried to connect", || office.does(&["links"]).contains("tries again in"));
    let told = office.does(&["links"]);
    assert!(told.contains("down"), "{told}");
    let (code, out, told) = office.ran(&["carrier", "test", "acme", "--to", "+4915112345678"]);
    assert_eq!((code, told.as_str()), (1, ""), "{out}");
    assert!(out.contains("The test failed at the step \"connect\": "), "{out}");
}
