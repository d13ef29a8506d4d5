//! The demo: every command that it prints works as it is, phones can send MO messages, and magic numbers do what
//! is documented.

use super::process::{Caller, Process, output_of, path, run, start_demo};
use crate::real_time::wait_until;
use serde_json::json;
use std::process::{Command, Stdio};

/// Reads the demo's welcome text.
fn welcome_of(demo: &mut Process) -> String {
    let mut welcome = String::new();
    while !welcome.contains("Ctrl-C stops it") {
        let line = demo.first_line();
        assert!(!line.is_empty(), "the output ended after {welcome}");
        welcome.push_str(&line);
    }
    welcome
}

#[test]
fn every_command_printed_by_the_demo_works_in_another_shell() {
    let folder = tempfile::tempdir().unwrap();
    // A folder name with a space.
    let data = folder.path().join("my data");
    let mut demo = Process::start(&["demo", "--data-dir", path(&data), "--http-port", "0"]);
    let welcome = welcome_of(&mut demo);
    let pasted = welcome.lines().skip_while(|line| !line.contains("paste this line first"));
    let commands: Vec<&str> =
        pasted.filter_map(|line| line.strip_prefix("  ")).filter(|line| !line.starts_with(' ')).collect();
    assert!(commands.len() >= 11, "{commands:#?}");
    assert!(commands[0].starts_with("export HERMOD_DATA_DIR='"), "{commands:#?}");
    for command in &commands[1..] {
        // Another working directory than the demo's.
        let script = format!("set -e\n{}\n{command}\n", commands[0]);
        let mut shell = Command::new("sh");
        shell.args(["-c", &script]).current_dir("/").env("HOME", "/nonexistent");
        shell.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let (code, out, stderr) = output_of(&mut shell);
        assert_eq!((code, stderr.as_str()), (0, ""), "{command}: {out}");
        assert!(!out.contains("\"error\""), "{command}: {out}");
    }
    assert_eq!(demo.terminate(), 0);
    assert!(!data.join("demo.sock").exists(), "the socket is removed with the demo");
}

#[test]
fn showcase_accounts_have_three_days_of_traffic_and_the_demo_account_has_none() {
    let folder = tempfile::tempdir().unwrap();
    let data = path(folder.path());
    let elsewhere = tempfile::tempdir().unwrap();
    let errors = elsewhere.path().join("errors.log");
    let log = std::fs::File::create(&errors).unwrap();
    let args = ["demo", "--data-dir", data, "--http-port", "0", "--json"];
    let mut demo = Process::start_with_errors_to(&args, log);
    let ready: serde_json::Value = serde_json::from_str(&demo.first_line()).unwrap();
    assert_eq!(Caller::of(&ready).balance(), "1000000");
    assert_eq!(ready["keys"].as_array().map(Vec::len), Some(1), "{ready}");
    let json = |words: &[&str]| -> serde_json::Value {
        let (code, out, stderr) = run(&[words, &["--json", "--data-dir", data]].concat());
        assert_eq!(code, 0, "{words:?}: {stderr}");
        serde_json::from_str(&out).unwrap()
    };
    let count = |account: &str, state: &str| {
        let words = ["messages", "--account", account, "--since", "3d", "--state", state, "--limit", "500"];
        json(&words)["items"].as_array().map_or(0, Vec::len)
    };
    assert_eq!(count("aurora", "delivered"), 500);
    assert!(count("aurora", "undeliverable") > 10 && count("aurora", "expired") > 2);
    assert!(count("kite", "delivered") > 200);
    assert_eq!(count("demo", "delivered"), 0);
    assert_eq!(json(&["review", "list"])["items"].as_array().map(Vec::len), Some(1));
    wait_until("the made-up case is found", || json(&["alarms"]).to_string().contains("reviews-open"));
    assert_eq!(demo.terminate(), 0);
    let errors = std::fs::read_to_string(&errors).unwrap();
    assert!(!errors.contains("Alarm"), "the demo's own state is no error: {errors}");
    let (code, out, _) = run(&["audit", "--data-dir", data]);
    assert_eq!((code, out.contains("No violations.")), (0, true), "{out}");
    let (code, _, stderr) = run(&["demo", "--data-dir", data, "--without-showcase", "--apply", "x.toml"]);
    assert_eq!((code, stderr.contains("cannot be used with")), (2, true), "{stderr}");
}

#[test]
fn demo_phone_sends_mo_messages_and_opts_out_with_stop() {
    let folder = tempfile::tempdir().unwrap();
    let (demo, ready) = start_demo(folder.path());
    let customer = Caller::of(&ready);
    let says = |text: &str| {
        let data = path(folder.path());
        run(&["demo", "mo", "--data-dir", data, "--from", "+4915112345678", "--text", text])
    };
    let inbound = || customer.call("GET", "/inbound", "").1["messages"].clone();
    let stored =
        "The message from +4915112345678 to +4915700000000 was sent and the gateway stored it.\n".to_owned();
    // The same text twice makes two messages.
    for _ in 0..2 {
        assert_eq!(says("Hello?"), (0, stored.clone(), String::new()));
    }
    let messages = inbound();
    assert_eq!(messages.as_array().map(Vec::len), Some(2), "{messages}");
    assert_eq!(
        (&messages[0]["from"], &messages[0]["to"], &messages[0]["text"]),
        (&json!("+4915112345678"), &json!("+4915700000000"), &json!("Hello?"))
    );
    let (code, out, _) = says(&"x".repeat(300));
    assert!(code == 0 && out.contains(" was sent in 2 parts "), "{out}");

    customer.send("before the stop");
    assert_eq!(says("stop").0, 0);
    let body = json!({ "to": "+4915112345678", "text": "after the stop" }).to_string();
    let (status, answer) = customer.call("POST", "/sms", &body);
    assert_eq!(status, 403, "{answer}");
    assert!(answer["error"].as_str().unwrap().starts_with("RECIPIENT_OPTED_OUT: "), "{answer}");
    assert_eq!(says("START").0, 0);
    customer.send("after the start");
    assert_eq!(demo.terminate(), 0);

    let (code, _, stderr) = says("Hello?");
    assert_eq!((code, stderr.contains("no demo runs on this folder")), (1, true), "{stderr}");
    for (args, expect) in [
        (["--from", "Shop", "--text", "x"], "--from must be a number"),
        (["--from", "+49151", "--text", ""], "--text must have 1 to 1600 characters"),
    ] {
        let (code, _, stderr) = run(&[&["demo", "mo"], &args[..]].concat());
        assert_eq!((code, stderr.contains(expect)), (2, true), "{stderr}");
    }
}

#[test]
fn magic_numbers_of_the_demo_do_what_is_documented() {
    let folder = tempfile::tempdir().unwrap();
    let (demo, ready) = start_demo(folder.path());
    let customer = Caller::of(&ready);
    let send = |ending: &str| {
        let body = json!({ "to": format!("+49151{ending}"), "text": "Hello" }).to_string();
        let (status, answer) = customer.call("POST", "/sms", &body);
        assert_eq!(status, 202, "{answer}");
        (ending.to_owned(), answer["message_id"].as_str().unwrap().to_owned())
    };
    let endings = ["01", "02", "03", "04", "05", "06", "07", "08", "09"];
    let sent: Vec<(String, String)> = endings.iter().map(|end| send(&format!("55501{end}"))).collect();
    let found = |message: &str| customer.call("GET", &format!("/sms/{message}"), "").1;
    for ((ending, message), (status, dlr)) in sent.iter().zip([
        ("undeliverable", "UNDELIV"),
        ("undeliverable", "UNDELIV"),
        ("delivered", "DELIVRD"),
        ("delivered", "DELIVRD"),
        ("delivered", "DELIVRD"),
        ("expired", "EXPIRED"),
        ("submitted", "UNKNOWN"),
        ("delivered", "DELIVRD"),
        ("delivered", "DELIVRD"),
    ]) {
        wait_until(&format!("{ending} is {status}"), || found(message)["status"] == status);
        assert_eq!(found(message)["dlr"], dlr, "{ending}");
    }
    wait_until("both phones have replied", || {
        customer.call("GET", "/inbound", "").1["messages"].as_array().map(Vec::len) == Some(2)
    });
    let (_, page) = customer.call("GET", "/inbound", "");
    let mut replies: Vec<String> = page["messages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|said| {
            format!(
                "{} {} {}",
                said["from"].as_str().unwrap(),
                said["to"].as_str().unwrap(),
                said["text"].as_str().unwrap()
            )
        })
        .collect();
    replies.sort();
    assert_eq!(replies, ["+491515550108 +4915700000000 Yes", "+491515550109 +4915700000000 STOP"]);
    let body = r#"{"to": "+491515550109", "text": "again"}"#;
    assert_eq!(customer.call("POST", "/sms", body).0, 403, "the phone has opted out");
    assert_eq!(demo.terminate(), 0);
}
