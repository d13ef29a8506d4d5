//! Link, alarm and carrier commands, with a running gateway and without.

use super::operator_fixture::OperatorFixture;
use super::process::{Caller, path, run, start_demo};
use crate::real_time::wait_until;
use serde_json::Value;

#[test]
fn link_alarm_trace_and_carrier_commands_show_a_running_gateway() {
    let folder = tempfile::tempdir().unwrap();
    let (demo, ready) = start_demo(folder.path());
    let here = ["--data-dir", path(folder.path())];
    let run_ok = |args: &[&str]| {
        let (code, out, stderr) = run(&[args, &here].concat());
        assert_eq!((code, stderr.as_str()), (0, ""), "{args:?}: {out}");
        out
    };
    wait_until("the link is bound", || run_ok(&["links"]).contains("bound"));
    let links: Value = serde_json::from_str(&run_ok(&["links", "--json"])).unwrap();
    let seen = &links["items"][0];
    assert_eq!((&seen["carrier"], &seen["links"][0]["state"]), (&"demo".into(), &"bound".into()), "{links}");
    assert!(run_ok(&["links", "--carrier", "demo"]).contains("demo"));
    assert!(run_ok(&["links", "--carrier", "other"]).starts_with("No carriers."));
    assert_eq!(run_ok(&["alarms"]), "There are no alarms.\n");
    assert_eq!(run_ok(&["alarms", "ack"]), "There are no alarms.\n");
    assert_eq!(run_ok(&["carrier", "resume", "demo"]), "demo was neither drained nor stopped.\n");
    let out = run_ok(&["route", "explain", "+4915112345678"]);
    assert!(out.contains("to carrier demo.") && out.contains("is used"), "{out}");

    let customer = Caller::of(&ready);
    let lines = std::thread::scope(|scope| {
        let traced = scope.spawn(|| run_ok(&["carrier", "trace", "demo", "--for", "3s"]));
        wait_until("the trace is active", || run_ok(&["links"]).contains("is traced until"));
        customer.send("A canary in a coal mine");
        traced.join().unwrap()
    });
    assert!(lines.contains("-> submit_sm") && lines.contains("<- submit_sm_resp"), "{lines}");
    assert!(!lines.contains("canary"), "{lines}");

    let out = run_ok(&["carrier", "test", "demo", "--to", "+4915112345678", "--text", "canary"]);
    for part in ["-> bind_transceiver", "-> submit_sm", "<- deliver_sm", "The test passed: "] {
        assert!(out.contains(part), "{part} in {out}");
    }
    assert!(!out.contains("canary"), "{out}");
    let loose = run_ok(&["carrier", "receipts", "demo"]);
    assert!(loose.starts_with("demo has no unmatched receipts"), "{loose}");
    wait_until("the delivery is counted", || run_ok(&["deliveries"]).contains("100.0%"));
    let out = run_ok(&["deliveries", "--days", "1", "--by", "country", "--carrier", "demo"]);
    assert!(out.starts_with("CARRIER  COUNTRY  SENT  DELIVERED"), "{out}");
    let (code, _, stderr) = run(&[&["carrier", "test", "demo", "--to", "0151"][..], &here].concat());
    assert_eq!((code, stderr.contains("INVALID_FIELD: number")), (1, true), "{stderr}");
    assert_eq!(demo.terminate(), 0);

    for args in [&["links"][..], &["alarms"], &["carrier", "resume", "demo"], &["carrier", "trace", "demo"]] {
        let (code, _, stderr) = run(&[args, &here].concat());
        assert_eq!(code, 1, "{args:?}: {stderr}");
        assert!(stderr.contains("NOT_RUNNING: this needs a running gateway"), "{args:?}: {stderr}");
    }
}

#[test]
fn unreachable_carrier_is_listed_with_its_last_error() {
    let fixture = OperatorFixture::with_gateway();
    fixture.apply(&[]);
    wait_until("the link has tried to connect", || fixture.run_ok(&["links"]).contains("tries again in"));
    let out = fixture.run_ok(&["links"]);
    assert!(out.contains("down"), "{out}");
    let (code, out, stderr) = fixture.run(&["carrier", "test", "acme", "--to", "+4915112345678"]);
    assert_eq!((code, stderr.as_str()), (1, ""), "{out}");
    assert!(out.contains("The test failed at the step \"connect\": "), "{out}");
}
