//! The command line of the real binary: output, effects and exit codes.

mod alarms;
mod customer;
mod demo;
mod demo_apply;
mod files;
mod help;
mod inbound;
mod journal;
mod links;
mod lookup;
mod on_postgresql;
mod operations_tls;
mod operator;
mod operator_fixture;
mod operator_walkthrough;
pub(crate) mod process;
mod provisioning;
mod queue;
mod record;
mod restore;
mod runbook;
mod secrets;
mod set_aside;
mod smpp;
mod users;
mod webhook;
mod webhooks;

use crate::gateways::free_address;
use crate::real_time::wait_until;
use hermod_simulator::carrier::{CarrierOptions, Script, SimulatedCarrier};
use operator_fixture::OperatorFixture;
use process::{Caller, Process, hermod, path, run, start_demo, wait_until_serving};
use serde_json::Value;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;

#[test]
fn demo_delivers_charges_drains_and_can_be_audited_backed_up_and_restarted() {
    let folder = tempfile::tempdir().unwrap();
    let (data, copy) = (folder.path().join("data"), folder.path().join("copy"));
    let (demo, ready) = start_demo(&data);
    assert_eq!((&ready["smpp_host"], &ready["system_id"]), (&"127.0.0.1".into(), &"demo".into()), "{ready}");
    for port in ["smpp_port", "smpp_tls_port"] {
        let port = u16::try_from(ready[port].as_u64().unwrap()).unwrap();
        assert!(TcpStream::connect(("127.0.0.1", port)).is_ok(), "{port}");
    }
    assert_eq!(ready["password"].as_str().map(str::len), Some(8), "{ready}");
    assert_eq!(ready["smpp_tls_fingerprint"].as_str().map(str::len), Some(64), "{ready}");
    let token = std::fs::read_to_string(data.join("operator.token")).unwrap();
    assert_eq!(ready["operator_token"], token.trim());
    assert_eq!(ready["keys"][0]["api_key"], ready["api_key"]);
    assert_eq!(ready["data_dir"], std::fs::canonicalize(&data).unwrap().to_str().unwrap());

    let customer = Caller::of(&ready);
    assert_eq!(customer.balance(), "1000000");
    let message = customer.send("Hello from a test");
    customer.wait_for_status(&message, "delivered");
    assert_eq!(customer.balance(), "999999.95");
    // Its receipt is outstanding when the demo stops.
    let last = customer.send("Hello in the last moment");

    let (code, out, _) = run(&["audit", "--data-dir", path(&data)]);
    assert_eq!((code, out.contains("No violations.")), (0, true), "beside the running gateway: {out}");
    let (code, out, _) = run(&["backup", "--data-dir", path(&data), path(&copy)]);
    assert_eq!((code, out.contains("To restore it:")), (0, true), "{out}");
    let (code, _, stderr) = run(&["backup", "--data-dir", path(&data), path(&copy)]);
    assert_eq!((code, stderr.contains("already exists; give a new folder")), (2, true), "{stderr}");
    assert_eq!(demo.terminate(), 0);

    let (code, out, _) = run(&["audit", "--data-dir", path(&data), "--json"]);
    let report: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(
        (code, &report["clean"], &report["messages"]),
        (0, &Value::Bool(true), &Value::from(2)),
        "{out}"
    );
    assert_eq!(report["open_parts"], 0, "all parts ended before the demo stopped");
    let (restored, known) = start_demo(&copy);
    assert_eq!(known["api_secret"], ready["api_secret"], "the backup is a complete data folder");
    assert_eq!(Caller::of(&known).balance(), "999999.9");
    assert_eq!(restored.terminate(), 0);
    assert_eq!(run(&["audit", "--data-dir", path(&copy)]).0, 0, "the backup passes the audit");
    let secrets = std::fs::metadata(data.join("demo-credentials.json")).unwrap();
    assert_eq!(secrets.permissions().mode() & 0o777, 0o600);

    let (demo, again) = start_demo(&data);
    assert_eq!((&again["api_key"], &again["api_secret"]), (&ready["api_key"], &ready["api_secret"]));
    let customer = Caller::of(&again);
    assert_eq!(customer.balance(), "999999.9");
    customer.wait_for_status(&message, "delivered");
    customer.wait_for_status(&last, "delivered");
    assert_eq!(demo.terminate(), 0);
}

#[test]
fn demo_prints_commands_and_rejects_other_data_folders() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let mut demo = Process::start(&["demo", "--data-dir", path(&data), "--http-port", "0"]);
    let mut welcome = String::new();
    while !welcome.contains("Ctrl-C stops it") {
        let line = demo.first_line();
        assert!(!line.is_empty(), "the output ended after {welcome}");
        welcome.push_str(&line);
    }
    assert!(welcome.contains("/hermod' send ") || welcome.contains("/hermod send "), "{welcome}");
    let (code, _, stderr) = run(&["demo", "--data-dir", path(&data), "--http-port", "0"]);
    assert_eq!((code, stderr.contains("is in use by another hermod process")), (1, true), "{stderr}");
    assert_eq!(demo.terminate(), 0);

    std::fs::remove_file(data.join("demo-credentials.json")).unwrap();
    let (code, _, stderr) = run(&["demo", "--data-dir", path(&data), "--http-port", "0"]);
    assert_eq!(
        (code, stderr.contains("was not created by the demo; choose another --data-dir")),
        (2, true),
        "{stderr}"
    );
}

#[test]
fn second_gateway_on_a_folder_says_whom_it_waits_for_and_holds_no_port() {
    let mut fixture = OperatorFixture::with_gateway();
    let first = fixture.serving.take().expect("a gateway");
    let second = free_address();
    let settings = fixture.file("second.toml");
    let text = format!(
        "[data]\nfolder = \"data\"\n[smpp]\nlisten = \"127.0.0.1:0\"\n[http]\nlisten = \"{second}\"\n"
    );
    std::fs::write(&settings, text).unwrap();
    let start = |file: &str| {
        let log = std::fs::File::create(fixture.file(file)).unwrap();
        let mut command = hermod(&["serve", "--config", path(&settings)]);
        command.stdout(log.try_clone().unwrap()).stderr(log).spawn().unwrap()
    };
    let said =
        |file: &str, sentence: &str| std::fs::read_to_string(fixture.file(file)).unwrap().contains(sentence);
    let mut waiting = start("log");
    let sentence = format!("waiting for process {} on ", first.child.id());
    wait_until("it says whom it waits for", || said("log", &sentence));
    assert!(std::net::TcpStream::connect(second).is_err(), "it holds no port");
    let mut ended = None;
    wait_until("it gives up", || {
        ended = waiting.try_wait().unwrap();
        ended.is_some()
    });
    assert_eq!(ended.and_then(|status| status.code()), Some(1));
    assert!(said("log", &format!("(it is used by process {} on ", first.child.id())));

    let mut waiting = start("other.log");
    wait_until("it waits", || said("other.log", &sentence));
    drop(first);
    wait_until_serving(&second.to_string());
    waiting.kill().unwrap();
    waiting.wait().unwrap();
}

#[test]
fn audit_reports_a_changed_balance() {
    let folder = tempfile::tempdir().unwrap();
    let (demo, _) = start_demo(folder.path());
    assert_eq!(demo.terminate(), 0);
    let database = rusqlite::Connection::open(folder.path().join("hermod.db")).unwrap();
    database.execute("UPDATE balance SET balance = balance + 1", []).unwrap();
    drop(database);
    let (code, out, _) = run(&["audit", "--data-dir", path(folder.path())]);
    assert_eq!((code, out.contains("violated: balance = ledger - costs: account 1")), (1, true), "{out}");
    let (code, _, stderr) = run(&["audit", "--data-dir", path(&folder.path().join("nowhere"))]);
    assert_eq!((code, stderr.contains("is not a data folder of Hermod")), (2, true), "{stderr}");
}

#[test]
fn config_commands_print_and_check_settings() {
    let folder = tempfile::tempdir().unwrap();
    let (settings, seed) = (folder.path().join("hermod.toml"), folder.path().join("provision.toml"));
    let (code, defaults, _) = run(&["config", "default"]);
    assert_eq!(code, 0);
    std::fs::write(&settings, defaults).unwrap();
    let (code, out, _) = run(&["config", "check", "--config", path(&settings)]);
    assert_eq!((code, out.contains("listen = \"127.0.0.1:8080\"")), (0, true), "{out}");

    let (code, example, _) = run(&["config", "provision"]);
    assert_eq!(code, 0);
    std::fs::write(&seed, example).unwrap();
    std::fs::write(&settings, "[provision]\nfile = \"provision.toml\"\n").unwrap();
    let (code, out, _) = run(&["config", "check", "--config", path(&settings)]);
    assert_eq!((code, out.contains("password = \"(hidden)\"")), (0, true), "{out}");
    assert!(!out.contains("secret08") && !out.contains("change-me"), "{out}");

    for (text, expect) in [
        ("[http]\nlisten = \"0.0.0.0:80\"\n", "hermod.toml:2: http.listen: 0.0.0.0:80 can be reached from"),
        ("[http]\nport = 80\n", "hermod.toml:2: http.port: unknown field `port`, expected one of `listen`"),
        (
            "[messages]\n\nvalidity = \"96h\"\n",
            "hermod.toml:3: messages.validity: 4d is not between 1m and 3d",
        ),
        ("[provision]\nfile = \"gone.toml\"\n", "gone.toml: cannot be read: No such file"),
    ] {
        std::fs::write(&settings, text).unwrap();
        for command in [["config", "check"].as_slice(), &["serve"]] {
            let (code, _, stderr) = run(&[command, &["--config", path(&settings)]].concat());
            assert_eq!((code, stderr.contains(expect)), (2, true), "{text}: {stderr}");
        }
    }
}

#[test]
fn serve_applies_a_provision_file_and_reports_its_errors() {
    let folder = tempfile::tempdir().unwrap();
    let (settings, seed) = (folder.path().join("hermod.toml"), folder.path().join("provision.toml"));
    let address = free_address();
    let operations = free_address();
    let text = format!(
        "[data]\nfolder = \"data\"\n[smpp]\nlisten = \"127.0.0.1:0\"\n[http]\nlisten = \"{address}\"\n[operations]\nlisten = \"{operations}\"\n\
         [log]\nformat = \"json\"\nlevel = \"warn\"\n[provision]\nfile = \"provision.toml\"\n"
    );
    std::fs::write(&settings, text).unwrap();
    let (_, example, _) = run(&["config", "provision"]);
    std::fs::write(&seed, example.replace("carriers = [\"acme\", \"beta\"]", "carriers = [\"acne\"]"))
        .unwrap();
    let (code, _, stderr) = run(&["serve", "--config", path(&settings)]);
    let expect = "route \"*\" refers to carrier \"acne\", which does not exist here or in the store";
    assert_eq!((code, stderr.contains(expect)), (2, true), "{stderr}");

    // No carrier listens at this address, so messages stay queued.
    let nobody =
        example.replace("smsc.example:2775", "127.0.0.1:9").replace("smpp.beta.example:3550", "127.0.0.1:9");
    std::fs::write(&seed, nobody).unwrap();
    let serving = Process::start(&["serve", "--config", path(&settings)]);
    wait_until_serving(&operations.to_string());
    let customer = Caller {
        address: address.to_string(),
        key: "shop-key-1".to_owned(),
        secret: "change-me-to-a-long-random-text".to_owned(),
    };
    assert_eq!(customer.balance(), "100");
    let message = customer.send("Hello");
    customer.wait_for_status(&message, "queued");
    assert_eq!(customer.balance(), "99.9625");
    let figures = page(&operations.to_string(), "/metrics");
    assert!(figures.contains("hermod_messages_accepted_total 1"), "{figures}");
    assert!(
        page(&address.to_string(), "/metrics").starts_with("HTTP/1.1 404"),
        "metrics are not on the customers' listener"
    );
    assert_eq!(serving.terminate(), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn second_signal_stops_without_waiting_for_a_silent_carrier() {
    let folder = tempfile::tempdir().unwrap();
    let silent = CarrierOptions::new(Script::new().ignore_first(u64::MAX));
    let carrier = SimulatedCarrier::start(silent).await.expect("a free port");
    let address = free_address();
    let settings = folder.path().join("hermod.toml");
    let text = format!(
        "[smpp]\nlisten = \"127.0.0.1:0\"\n[http]\nlisten = \"{address}\"\n[log]\nlevel = \"error\"\n[provision]\nfile = \"seed.toml\"\n"
    );
    std::fs::write(&settings, text).unwrap();
    let (_, example, _) = run(&["config", "provision"]);
    let seed = example.replace("smsc.example:2775", &carrier.addr().to_string());
    std::fs::write(folder.path().join("seed.toml"), seed).unwrap();

    let serving = Process::start(&["serve", "--config", path(&settings)]);
    wait_until_serving(&address.to_string());
    let customer = Caller {
        address: address.to_string(),
        key: "shop-key-1".to_owned(),
        secret: "change-me-to-a-long-random-text".to_owned(),
    };
    customer.send("Never answered");
    wait_until("the carrier sees the message", || !carrier.record().received_texts().is_empty());
    serving.signal("-TERM");
    wait_until("the listener is closed", || TcpStream::connect(address).is_err());
    assert_eq!(serving.terminate(), 130);
    let (code, out, _) = run(&["audit", "--data-dir", path(&folder.path().join("hermod-data"))]);
    assert_eq!(code, 0, "{out}");
    carrier.stop().await;
}

fn page(address: &str, path: &str) -> String {
    let mut stream = TcpStream::connect(address).expect("it listens");
    let request = format!("GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).expect("it reads");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("it answers");
    answer
}
