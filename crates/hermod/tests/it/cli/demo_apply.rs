//! The demo with a provision file in place of its own entries.

use super::process::{Caller, Process, path, run};
use serde_json::Value;
use std::path::Path;

const FILE: &str = r#"
[[price]]
prefix = "49"
per_part = "0.02"

[[account]]
name = "bakery"
currency = "CHF"
opening_balance = "10"
verified = true
countries = "*"
senders = ["Bakery"]

[[connection]]
name = "bakery-http"
account = "bakery"
default_sender = "Bakery"
rate = 1000

[[key]]
key = "given"
secret = "a-secret-that-was-given-in-a-file"
connection = "bakery-http"

[[key]]
key = "made"
connection = "bakery-http"
"#;

fn start(data: &Path, file: &Path) -> (Process, Value) {
    let mut demo = Process::start(&[
        "demo",
        "--data-dir",
        path(data),
        "--http-port",
        "0",
        "--json",
        "--apply",
        path(file),
    ]);
    let line = demo.first_line();
    let ready = serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line:?}"));
    (demo, ready)
}

#[test]
fn demo_with_a_provision_file_delivers() {
    let folder = tempfile::tempdir().unwrap();
    let (data, file) = (folder.path().join("data"), folder.path().join("provision.toml"));
    std::fs::write(&file, FILE).unwrap();
    let (demo, ready) = start(&data, &file);
    let keys = ready["keys"].as_array().unwrap();
    assert_eq!(keys.len(), 2, "{ready}");
    assert_eq!(
        (&ready["api_key"], &ready["api_secret"]),
        (&Value::from("given"), &Value::from("a-secret-that-was-given-in-a-file"))
    );
    assert_eq!(keys[1]["api_key"], "made");
    for pair in keys {
        let text = |name: &str| pair[name].as_str().unwrap().to_owned();
        let customer = Caller { key: text("api_key"), secret: text("api_secret"), ..Caller::of(&ready) };
        let message = customer.send("Hello from a file");
        customer.wait_for_status(&message, "delivered");
    }
    assert_eq!(Caller::of(&ready).balance(), "9.96");
    let (code, out, _) = run(&["route", "list", "--data-dir", path(&data)]);
    assert_eq!((code, out.as_str()), (0, "NAME  CARRIERS\n*     demo\n"));
    assert_eq!(demo.terminate(), 0);

    let (demo, again) = start(&data, &file);
    assert_eq!(again["keys"], ready["keys"], "a generated secret is the same at every start");
    assert_eq!(Caller::of(&again).balance(), "9.96");
    assert_eq!(demo.terminate(), 0);
}

#[test]
fn demo_reports_the_errors_of_a_provision_file() {
    let folder = tempfile::tempdir().unwrap();
    let (data, file) = (folder.path().join("data"), folder.path().join("provision.toml"));
    for (text, expect) in [
        ("[[account]]\nname = 1\n", "provision.toml:2: account 1.name: "),
        (
            "[[key]]\nkey = \"k\"\nconnection = \"none\"\n",
            "provision.toml: key \"k\" refers to connection \"none\"",
        ),
    ] {
        std::fs::write(&file, text).unwrap();
        let (code, out, stderr) =
            run(&["demo", "--data-dir", path(&data), "--http-port", "0", "--apply", path(&file)]);
        assert_eq!((code, out.as_str(), stderr.contains(expect)), (2, "", true), "{stderr}");
    }
    let (code, _, stderr) = run(&["demo", "--data-dir", path(&data), "--apply", "/nonexistent.toml"]);
    assert_eq!((code, stderr.contains("/nonexistent.toml: cannot be read")), (2, true), "{stderr}");

    std::fs::write(&file, FILE).unwrap();
    let real = folder.path().join("real");
    assert_eq!(run(&["apply", path(&file), "--create", "--data-dir", path(&real)]).0, 0);
    let (code, _, stderr) =
        run(&["demo", "--data-dir", path(&real), "--http-port", "0", "--apply", path(&file)]);
    assert_eq!(
        (code, stderr.contains("was not created by the demo; choose another --data-dir")),
        (2, true),
        "{stderr}"
    );
}
