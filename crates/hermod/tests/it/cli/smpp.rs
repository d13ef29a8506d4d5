//! `hermod test-bind` against the demo, and the operator's bind commands.

use super::process::{Process, path, run, start_demo, wait_until_serving};
use crate::gateways::free_address;
use crate::real_time::wait_until;
use serde_json::Value;
use std::net::TcpStream;
use std::path::Path;

fn tries(port: &Value, password: &Path, more: &[&str]) -> (i32, String, String) {
    let port = port.to_string();
    let test =
        ["smpp", "test-bind", "--host", "127.0.0.1", "--port", &port, "--password-file", path(password)];
    run(&[&test[..], more].concat())
}

#[test]
fn test_bind_binds_sends_a_message_and_prints_its_receipt() {
    let folder = tempfile::tempdir().unwrap();
    let (demo, ready) = start_demo(&folder.path().join("data"));
    let (right, wrong) = (folder.path().join("right.txt"), folder.path().join("wrong.txt"));
    std::fs::write(&right, ready["password"].as_str().unwrap()).unwrap();
    std::fs::write(&wrong, "guess\n").unwrap();

    let sending = ["--system-id", "demo", "--to", "+4915112345678", "--text", "Grüße"];
    let (code, out, stderr) = tries(&ready["smpp_port"], &right, &sending);
    assert_eq!((code, stderr.as_str()), (0, ""), "{out}");
    for part in
        ["Bound in ", "as transceiver", "\"hermod\" and uses SMPP 3.4", "Accepted in ", "stat:DELIVRD"]
    {
        assert!(out.contains(part), "{part} in {out}");
    }
    let sealed = ["--system-id", "demo", "--tls", "--insecure", "--type", "tx"];
    let (code, out, stderr) = tries(&ready["smpp_tls_port"], &right, &sealed);
    assert_eq!((code, out.contains("over TLS")), (0, true), "{out}{stderr}");
    let (code, _, stderr) = tries(&ready["smpp_tls_port"], &right, &["--system-id", "demo", "--tls"]);
    assert_eq!(
        (code, stderr.contains("--insecure")),
        (1, true),
        "the demo's certificate is not trusted: {stderr}"
    );
    let (code, out, stderr) = tries(&ready["smpp_port"], &wrong, &["--system-id", "demo"]);
    assert_eq!((code, out.as_str()), (1, ""), "{stderr}");
    assert!(stderr.contains("ESME_RINVPASWD (0x0e)") && stderr.contains("password is wrong"), "{stderr}");
    assert!(!stderr.contains("guess"), "{stderr}");
    assert_eq!(demo.terminate(), 0);
}

#[test]
fn test_bind_names_the_other_protocol_at_the_port() {
    let folder = tempfile::tempdir().unwrap();
    let (demo, ready) = start_demo(&folder.path().join("data"));
    let password = folder.path().join("password.txt");
    std::fs::write(&password, ready["password"].as_str().unwrap()).unwrap();
    let base = ready["base_url"].as_str().unwrap();
    let http: u16 = base.trim_end_matches("/api/v1").rsplit(':').next().unwrap().parse().unwrap();
    let (code, out, stderr) = tries(&http.into(), &password, &["--system-id", "demo"]);
    assert_eq!((code, out.as_str()), (1, ""), "{stderr}");
    let expect = format!("no bind at 127.0.0.1:{http}: an HTTP server responded, not an SMPP server");
    assert!(stderr.contains(&expect), "{stderr}");
    let (code, _, stderr) = tries(&ready["smpp_tls_port"], &password, &["--system-id", "demo"]);
    assert_eq!((code, stderr.contains("the server uses TLS: try again with --tls")), (1, true), "{stderr}");
    assert_eq!(demo.terminate(), 0);
}

#[test]
fn binds_command_lists_and_unbinds_binds() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let (demo, ready) = start_demo(&data);
    let password = folder.path().join("password.txt");
    std::fs::write(&password, ready["password"].as_str().unwrap()).unwrap();
    let run_ok = |args: &[&str]| {
        let (code, out, stderr) = run(&[args, &["--data-dir", path(&data)]].concat());
        assert_eq!((code, stderr.as_str()), (0, ""), "{args:?}: {out}");
        out
    };
    assert!(run_ok(&["binds"]).starts_with("No customer is bound."));
    let waiting = ["--system-id", "demo", "--hold", "60"];
    std::thread::scope(|scope| {
        let held = scope.spawn(|| tries(&ready["smpp_port"], &password, &waiting));
        wait_until("the bind is listed", || run_ok(&["binds"]).contains("demo"));
        let seen: Value = serde_json::from_str(&run_ok(&["binds", "--system-id", "demo", "--json"])).unwrap();
        let bind = &seen["items"][0];
        assert_eq!((&bind["account"], &bind["type"]), (&"demo".into(), &"transceiver".into()), "{seen}");
        let number = bind["number"].to_string();
        assert_eq!(run_ok(&["binds", "--unbind", &number]), format!("Unbinding bind {number}.\n"));
        let (code, _, stderr) = held.join().unwrap();
        assert_eq!((code, stderr.contains("the peer unbound")), (1, true), "{stderr}");
    });
    wait_until("the bind is gone", || run_ok(&["binds"]).starts_with("No customer is bound."));
    assert!(run_ok(&["reports", "given-up"]).starts_with("No reports were given up."));
    assert_eq!(demo.terminate(), 0);
}

#[test]
fn plain_smpp_port_is_closed_if_allow_plain_is_false() {
    let folder = tempfile::tempdir().unwrap();
    let settings = folder.path().join("hermod.toml");
    for (allow_plain, is_open) in [(true, true), (false, false)] {
        let (http, smpp) = (free_address(), free_address());
        let text = format!(
            "[http]\nlisten = \"{http}\"\n[smpp]\nlisten = \"{smpp}\"\nallow_plain = {allow_plain}\n[log]\nlevel = \"error\"\n"
        );
        std::fs::write(&settings, text).unwrap();
        let serving = Process::start(&["serve", "--config", path(&settings)]);
        wait_until_serving(&http.to_string());
        assert_eq!(TcpStream::connect(smpp).is_ok(), is_open, "allow_plain = {allow_plain}");
        assert_eq!(serving.terminate(), 0);
    }
}
