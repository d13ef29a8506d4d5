//! `hermod-sim` as a process: its output, and its end on SIGTERM.

use std::process::Stdio;

use hermod_simulator::load::report::HttpLoadReport;
use hermod_simulator::load::smpp;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::process::{Child, ChildStdout, Command};

use crate::esme::Esme;

fn hermod_sim(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hermod-sim"));
    command.args(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
    command
}

/// Starts a server. Returns it and its output.
fn start(arguments: &[&str]) -> (Child, Lines<BufReader<ChildStdout>>) {
    let mut child = hermod_sim(arguments).spawn().expect("the binary was built");
    let stdout = child.stdout.take().expect("stdout is piped");
    (child, BufReader::new(stdout).lines())
}

/// Runs a command to its end. Returns whether it succeeded, and its stdout and stderr.
async fn run(arguments: &[&str]) -> (bool, String, String) {
    let output = hermod_sim(arguments).output().await.expect("the binary was built");
    let text = |octets: Vec<u8>| String::from_utf8(octets).expect("output is text");
    (output.status.success(), text(output.stdout), text(output.stderr))
}

fn terminate(child: &Child) {
    let pid = child.id().and_then(|pid| i32::try_from(pid).ok()).and_then(Pid::from_raw);
    kill_process(pid.expect("it runs"), Signal::TERM).expect("it is ours to end");
}

#[tokio::test]
async fn load_on_the_empty_endpoint_is_reported_as_json_and_as_a_table() {
    let (mut server, mut printed) = start(&["empty-http", "--port", "0"]);
    let url = printed.next_line().await.unwrap().expect("the address comes first");

    let (ok, json, _) = run(&["http-load", "--url", &url, "--requests", "200", "--json"]).await;
    assert!(ok);
    let report: HttpLoadReport = serde_json::from_str(&json).expect("one JSON object");
    assert_eq!((report.requests, report.count(202), report.failed), (200, 200, 0));

    let log = std::env::temp_dir().join(format!("hermod-sim-test-{}.jsonl", std::process::id()));
    let log_path = log.to_str().expect("a plain path");
    let load = ["http-load", "--url", &url, "--requests", "5", "--idempotency", "k", "--log", log_path];
    let (ok, table, progress) = run(&load).await;
    assert!(ok && table.contains("closed loop, 32 connections"), "{table}");
    assert_eq!(progress, "", "no progress line without a terminal");
    let lines: Vec<Value> = std::fs::read_to_string(&log)
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str(line).expect("each line is JSON"))
        .collect();
    std::fs::remove_file(&log).unwrap();
    let mut keys: Vec<&str> = lines.iter().map(|line| line["key"].as_str().unwrap()).collect();
    keys.sort_unstable();
    assert_eq!(keys, ["k-0000000000", "k-0000000001", "k-0000000002", "k-0000000003", "k-0000000004"]);
    assert!(lines.iter().all(|line| line["status"] == 202 && line["message_id"] == "288230376151711743"));

    terminate(&server);
    assert!(server.wait().await.unwrap().success());
}

#[tokio::test]
async fn carrier_prints_its_address_and_its_counts() {
    let (mut carrier, mut printed) =
        start(&["carrier", "--listen", "127.0.0.1:0", "--no-receipts", "--json"]);
    let first = printed.next_line().await.unwrap().expect("the address comes first");
    let first: Value = serde_json::from_str(&first).expect("one JSON object");
    let address = first["listening"].as_str().unwrap().parse().expect("an address");

    let mut esme = Esme::bound(address).await;
    esme.submit("hello").await;
    assert!(esme.next().await.starts_with("hello: "));
    esme.unbind().await;
    assert_eq!(esme.next().await, "closed: we unbound");

    terminate(&carrier);
    let mut last = String::new();
    while let Some(line) = printed.next_line().await.unwrap() {
        last = line;
    }
    let counts: Value = serde_json::from_str(&last).expect("the last line is JSON");
    assert_eq!((&counts["submits"], &counts["binds"], &counts["unbinds"]), (&1.into(), &1.into(), &1.into()));
    assert!(carrier.wait().await.unwrap().success());
}

#[tokio::test]
async fn carrier_sends_messages_from_handsets_named_in_flags_and_in_lines() {
    let flags = ["carrier", "--listen", "127.0.0.1:0", "--mo", "+4915112345678:12345:at 10:30", "--mo-lines"];
    let mut carrier = hermod_sim(&flags).stdin(Stdio::piped()).spawn().expect("the binary was built");
    let mut printed = BufReader::new(carrier.stdout.take().expect("stdout is piped")).lines();
    let address = printed.next_line().await.unwrap().expect("the address comes first");
    let mut esme = Esme::bound(address.parse().expect("an address")).await;
    assert_eq!(esme.next().await, "said 4915112345678 > 12345: at 10:30");
    let mut typed = carrier.stdin.take().expect("stdin is piped");
    for line in ["nonsense\n", "4917:Hermod:STOP\n"] {
        typed.write_all(line.as_bytes()).await.unwrap();
    }
    assert_eq!(esme.next().await, "said 4917 > Hermod: STOP");
    terminate(&carrier);
    assert!(carrier.wait().await.unwrap().success());
}

#[tokio::test]
async fn carrier_script_is_read_from_a_file_and_mistakes_name_file_and_line() {
    let path = std::env::temp_dir().join(format!("hermod-sim-test-{}.toml", std::process::id()));
    let path_text = path.to_str().expect("a plain path");
    std::fs::write(&path, "ids = { response = \"hex\", receipt = \"hex\", prefix = \"from-file-\" }\n")
        .unwrap();
    let (mut carrier, mut printed) =
        start(&["carrier", "--listen", "127.0.0.1:0", "--no-receipts", "--script", path_text]);
    let address = printed.next_line().await.unwrap().expect("the address comes first");
    let mut esme = Esme::bound(address.parse().expect("an address")).await;
    esme.submit("hello").await;
    assert!(esme.next().await.starts_with("hello: from-file-"));
    terminate(&carrier);
    assert!(carrier.wait().await.unwrap().success());

    std::fs::write(&path, "# a comment\nreceipt_format.default.dates = \"days\"\n").unwrap();
    let (ok, _, stderr) = run(&["carrier", "--script", path_text]).await;
    std::fs::remove_file(&path).unwrap();
    for part in [path_text, "line 2", "unknown variant `days`", "`minutes`, `seconds`, `long-year`"] {
        assert!(!ok && stderr.contains(part), "{part}: {stderr}");
    }
}

#[tokio::test]
async fn load_and_idle_runs_are_reported_and_errors_fail_the_command() {
    let folder = std::env::temp_dir().join(format!("hermod-sim-test-tls-{}", std::process::id()));
    let folder_path = folder.to_str().expect("a plain path");
    let (ok, written, _) = run(&["certificate", folder_path]).await;
    let files: Vec<&str> = written.lines().collect();
    let [certificate, key] = files[..] else { panic!("{written}") };
    assert!(ok);
    let listen = ["smpp-echo", "--listen", "127.0.0.1:0", "--tls-certificate", certificate, "--tls-key", key];
    let (mut echo, mut printed) = start(&listen);
    let address = printed.next_line().await.unwrap().expect("the address comes first");
    let target = ["--address", &address, "--tls-ca", certificate];

    let load = [&["smpp-load", "--messages", "500", "--json"][..], &target].concat();
    let (ok, json, _) = run(&load).await;
    let report: smpp::SmppLoadReport = serde_json::from_str(&json).expect("one JSON object");
    assert!(ok);
    assert_eq!((report.accepted, report.receipts.received, report.errors()), (500, 500, 0));

    let idle = [&["smpp-idle", "--binds", "10", "--hold", "50ms", "--json"][..], &target].concat();
    let (ok, lines, _) = run(&idle).await;
    let lines: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert!(ok);
    assert_eq!((&lines[0]["bound"], &lines[1]["alive"]), (&10.into(), &10.into()));
    std::fs::remove_dir_all(&folder).unwrap();

    terminate(&echo);
    assert!(echo.wait().await.unwrap().success());

    let (mut carrier, mut printed) = start(&["carrier", "--listen", "127.0.0.1:0", "--no-receipts"]);
    let address = printed.next_line().await.unwrap().expect("the address comes first");
    let load = ["smpp-load", "--address", &address, "--messages", "3", "--receipt-wait", "50ms"];
    let (ok, table, stderr) = run(&load).await;
    assert!(!ok && table.contains("3  missing receipts") && stderr.contains("3 errors"), "{table}");
    terminate(&carrier);
    assert!(carrier.wait().await.unwrap().success());
}

#[tokio::test]
async fn invalid_arguments_are_rejected_with_their_reason() {
    for (arguments, sentence) in [
        (vec!["http-load"], "a run needs an end: give a number of requests, a duration, or both"),
        (vec!["http-load", "--requests", "1", "--url", "https://x/api/v1"], "only http:// is supported"),
        (vec!["http-load", "--requests", "1", "--to", "12"], "is not a recipient"),
        (vec!["http-load", "--duration", "10"], "expected a number and ms, s, m or h"),
        (vec!["smpp-load"], "a run needs an end"),
        (vec!["smpp-load", "--messages", "1", "--text-length", "300"], "send it in message_payload"),
        (vec!["smpp-load", "--messages", "1", "--long", "--smpp", "3.3"], "SMPP 3.3 has no message_payload"),
        (
            vec!["smpp-load", "--messages", "1", "--transceivers", "0"],
            "at least one transceiver or transmitter is needed",
        ),
        (vec!["smpp-load", "--messages", "1", "--address", "127.0.0.1:1"], "cannot connect"),
        (vec!["smpp-load", "--messages", "1", "--tls-ca", "/nowhere"], "cannot read /nowhere"),
        (vec!["smpp-idle", "--binds", "0"], "is not in"),
        (vec!["carrier", "--listen", "256.0.0.1:1"], "invalid"),
        (vec!["carrier", "--script", "/nowhere.toml"], "cannot read the script /nowhere.toml"),
        (vec!["carrier", "--mo", "STOP"], "an MO message is written FROM:TO:TEXT"),
    ] {
        let (ok, _, stderr) = run(&arguments).await;
        assert!(!ok && stderr.contains(sentence), "{arguments:?}: {stderr}");
    }
}
