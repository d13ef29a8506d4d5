//! Customer commands against the demo and against misbehaving gateways.

use super::process::{Process, hermod, output_of, path, run, start_demo};
use crate::gateways::free_address;
use serde_json::Value;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};

const TO: &str = "+4915112345678";

/// A demo with its customer's credentials.
struct Shop {
    folder: tempfile::TempDir,
    demo: Process,
    url: String,
    key: String,
    secret: String,
}

impl Shop {
    fn open() -> Shop {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let (demo, ready) = start_demo(&folder.path().join("data"));
        let text = |name: &str| ready[name].as_str().expect("a text").to_owned();
        Shop { demo, url: text("base_url"), key: text("api_key"), secret: text("api_secret"), folder }
    }

    /// Returns a command with the credentials in its environment.
    fn command(&self, args: &[&str]) -> Command {
        let mut command = hermod(args);
        command
            .env("HERMOD_URL", &self.url)
            .env("HERMOD_API_KEY", &self.key)
            .env("HERMOD_API_SECRET", &self.secret);
        command
    }

    fn run(&self, args: &[&str]) -> (i32, String, String) {
        output_of(&mut self.command(args))
    }

    fn file(&self, name: &str, mode: u32, text: &str) -> String {
        let file = self.folder.path().join(name);
        std::fs::write(&file, text).expect("a file");
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(mode)).expect("its mode");
        path(&file).to_owned()
    }
}

/// Returns the value of a field in a command's output.
#[track_caller]
fn field<'a>(out: &'a str, name: &str) -> &'a str {
    let value = out.lines().find_map(|line| line.trim_start().strip_prefix(name)?.strip_prefix("  "));
    value.unwrap_or_else(|| panic!("no {name} in {out}")).trim()
}

#[test]
fn send_status_and_balance_commands_follow_a_message() {
    let shop = Shop::open();
    let (code, out, stderr) = shop.run(&["send", "--to", TO, "--text", "Hello"]);
    assert_eq!((code, stderr.as_str()), (0, ""), "{out}");
    let (message, key) = (field(&out, "message"), field(&out, "key"));
    for (name, expect) in [
        ("status", "queued"),
        ("from", "Hermod"),
        ("parts", "1 (gsm7)"),
        ("cost", "0.05"),
        ("balance", "999999.95"),
    ] {
        assert_eq!(field(&out, name), expect);
    }

    let (code, out, _) = shop.run(&["status", message, "--wait", "--at-most", "30"]);
    assert_eq!((code, field(&out, "status"), field(&out, "receipt")), (0, "delivered", "DELIVRD"), "{out}");
    assert_eq!((field(&out, "to"), field(&out, "from")), (TO, "Hermod"));

    let (code, out, _) = shop.run(&["send", "--to", TO, "--text", "Hello", "--key", key]);
    assert_eq!(code, 0);
    assert_eq!(
        out,
        format!("Message {message} was sent with this key before: nothing was sent or charged now.\n")
    );
    let (code, out, _) = shop.run(&["send", "--to", TO, "--text", "Other", "--key", key]);
    assert_eq!((code, out.contains("a new message needs a new key")), (0, true), "{out}");

    let (code, out, _) = shop.run(&["balance"]);
    assert_eq!(
        (code, field(&out, "available"), field(&out, "terms")),
        (0, "999999.95 EUR", "prepaid"),
        "{out}"
    );
    assert_eq!(shop.run(&["inbound"]), (0, "No new messages.\n".to_owned(), String::new()));
    assert_eq!(shop.demo.terminate(), 0);
}

#[test]
fn json_output_is_the_api_response() {
    let shop = Shop::open();
    let (code, out, stderr) = shop.run(&["send", "--to", TO, "--text", "Hello", "--json"]);
    let sent: Value = serde_json::from_str(&out).unwrap();
    assert_eq!((code, &sent["status"], &sent["charged"]), (0, &Value::from("queued"), &Value::from(true)));
    assert!(stderr.starts_with("hermod: idempotency key "), "{stderr}");
    let message = sent["message_id"].as_str().unwrap();
    let (code, out, _) = shop.run(&["status", message, "--json"]);
    let status: Value = serde_json::from_str(&out).unwrap();
    assert_eq!((code, &status["message_id"]), (0, &Value::from(message)));
    let (code, out, _) = shop.run(&["balance", "--json"]);
    assert_eq!((code, out.contains("\"available\":999999.95")), (0, true), "{out}");
    let (code, out, _) = shop.run(&["inbound", "--since", "7", "--json"]);
    assert_eq!((code, out.contains("\"next_since\":7")), (0, true), "{out}");

    let (code, out, stderr) = shop.run(&["status", "1", "--json"]);
    let refused: Value = serde_json::from_str(&out).unwrap();
    let sentence = refused["error"].as_str().unwrap();
    assert_eq!((code, stderr), (1, format!("hermod: {sentence}\n")));
}

#[test]
fn text_is_read_from_standard_input() {
    let shop = Shop::open();
    let mut sending =
        shop.command(&["send", "--to", TO, "--text", "-"]).stdin(Stdio::piped()).spawn().unwrap();
    let letter = format!("{}\n", "a".repeat(161));
    sending.stdin.take().unwrap().write_all(letter.as_bytes()).unwrap();
    let out = String::from_utf8(sending.wait_with_output().unwrap().stdout).unwrap();
    assert_eq!(field(&out, "parts"), "2 (gsm7)", "{out}");
    let mut sending =
        shop.command(&["send", "--to", TO, "--text", "-"]).stdin(Stdio::piped()).spawn().unwrap();
    sending.stdin.take().unwrap().write_all("a".repeat(160).as_bytes()).unwrap();
    let out = String::from_utf8(sending.wait_with_output().unwrap().stdout).unwrap();
    assert_eq!(field(&out, "parts"), "1 (gsm7)", "{out}");
}

#[test]
fn rejected_request_prints_the_gateways_error_and_invalid_arguments_exit_with_2() {
    let shop = Shop::open();
    for (args, expect) in [
        (&["send", "--to", "4915112345678", "--text", "x"][..], "INVALID_NUMBER: "),
        (&["send", "--to", TO, "--from", "Nobody", "--text", "x"], "SENDER_NOT_APPROVED: "),
        (&["status", "123"], "NOT_FOUND: "),
        (&["status", "../balance"], "NOT_FOUND: "),
        (&["balance", "--api-key", "nobody"], "INVALID_API_KEY: "),
    ] {
        let (code, out, stderr) = shop.run(args);
        assert_eq!((code, out.as_str(), stderr.contains(expect)), (1, "", true), "{args:?}: {stderr}");
    }
    for (args, expect) in [
        (&["send", "--to", TO][..], "--text <TEXT>"),
        (&["send", "--to", TO, "--text", "x", "--key", ""], "a key has 1 to 255"),
        (&["balance", "--url", "sms.example.com"], "it must begin with https:// or http://"),
        (&["balance", "--url", "http://sms.example.com"], "allow it with --plain-http"),
        (&["balance", "--url", "https://k:s@sms.example.com"], "must not contain a user name"),
        (&["balance", "--url", "https://localhost", "--ca", "/nonexistent"], "/nonexistent: "),
        (&["status", "1", "--at-most", "5"], "--wait"),
        (&["inbound", "--limit", "501"], "501 is not in 1..=500"),
    ] {
        let (code, out, stderr) = shop.run(args);
        assert_eq!((code, out.as_str(), stderr.contains(expect)), (2, "", true), "{args:?}: {stderr}");
    }
    let nobody = format!("http://{}", free_address());
    let (code, _, stderr) = shop.run(&["balance", "--url", &nobody]);
    assert_eq!((code, stderr.contains("is the gateway running?")), (1, true), "{stderr}");
}

#[test]
fn credentials_come_from_options_a_file_or_the_environment() {
    let shop = Shop::open();
    let Shop { url, key, secret, .. } = &shop;
    let all = format!("url = \"{url}\"\napi_key = \"{key}\"\napi_secret = \"{secret}\"\n");
    let kept = shop.file("credentials.toml", 0o600, &all);
    let line = shop.file("secret", 0o644, &format!("{secret}\n"));
    for args in [
        &["balance", "--url", url, "--api-key", key, "--api-secret-file", &line][..],
        &["balance", "--url", url, "--api-key", key, "--api-secret", secret],
        &["balance", "--credentials", &kept],
        &["balance", "--credentials", &kept, "--api-key", key],
    ] {
        let (code, _, stderr) = run(args);
        assert_eq!((code, stderr.as_str()), (0, ""), "{args:?}");
    }

    // At its default path.
    let home = shop.folder.path().join("home");
    std::fs::create_dir_all(home.join(".config/hermod")).unwrap();
    std::fs::copy(&kept, home.join(".config/hermod/credentials.toml")).unwrap();
    assert_eq!(output_of(hermod(&["balance"]).env("HOME", &home)).0, 0);

    let open = shop.file("open.toml", 0o640, &all);
    let odd = shop.file("odd.toml", 0o600, "url = \"https://a.example\"\npassword = \"x\"\n");
    for (args, expect) in [
        (
            &["balance"][..],
            "no address: give --url or HERMOD_URL, or write it to ~/.config/hermod/credentials.toml",
        ),
        (&["balance", "--url", url], "no API key: give --api-key"),
        (&["balance", "--url", url, "--api-key", key], "no API secret: give --api-secret-file"),
        (&["balance", "--credentials", &kept, "--api-key", "another"], "no API secret"),
        (&["balance", "--credentials", &open], "is readable by others (mode 0640)"),
        (&["balance", "--credentials", &odd], "odd.toml:2: password: unknown field"),
        (&["balance", "--credentials", "/nonexistent"], "/nonexistent: "),
    ] {
        let (code, out, stderr) = run(args);
        assert_eq!((code, out.as_str(), stderr.contains(expect)), (2, "", true), "{args:?}: {stderr}");
        assert!(!stderr.contains(secret), "{stderr}");
    }
    let (_, help, _) = shop.run(&["balance", "--help"]);
    assert!(help.contains("visible to every user") && !help.contains(secret), "{help}");
}

/// Reads one request, head and body.
fn read_request(stream: &mut impl Read) -> String {
    let mut request = String::new();
    let mut bytes = [0; 4096];
    loop {
        let read = stream.read(&mut bytes).expect("a request");
        request.push_str(std::str::from_utf8(&bytes[..read]).expect("text"));
        let Some((head, body)) = request.split_once("\r\n\r\n") else { continue };
        let length = head
            .to_lowercase()
            .split("content-length: ")
            .nth(1)
            .map_or(0, |rest| rest.lines().next().expect("a line").parse().expect("a length"));
        if body.len() >= length {
            return request;
        }
    }
}

fn key_of(request: &str) -> String {
    let lower = request.to_lowercase();
    lower.split("idempotency-key: ").nth(1).expect("a key").lines().next().expect("a line").to_owned()
}

fn send_to(address: SocketAddr) -> Command {
    let url = format!("http://{address}");
    let mut command = hermod(&["send", "--to", TO, "--text", "Hello", "--url", &url, "--api-key", "k"]);
    command.env("HERMOD_API_SECRET", "s");
    command
}

#[test]
fn lost_response_is_retried_once_with_the_same_key() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let sending = send_to(listener.local_addr().unwrap()).spawn().unwrap();
    let (mut first, _) = listener.accept().unwrap();
    let lost = read_request(&mut first);
    drop(first);
    let (mut second, _) = listener.accept().unwrap();
    let again = read_request(&mut second);
    assert_eq!(key_of(&lost), key_of(&again));
    let body = r#"{"message_id":"77","status":"duplicate","duplicate":true,"charged":false,"cost":0}"#;
    write!(second, "HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len()).unwrap();
    let output = sending.wait_with_output().unwrap();
    assert!(output.status.success());
    assert!(
        String::from_utf8(output.stdout).unwrap().starts_with("Message 77 was sent with this key before")
    );
    assert!(String::from_utf8(output.stderr).unwrap().contains("retrying with the same key"));
}

#[test]
fn response_lost_twice_prints_the_key_for_another_try() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let sending = send_to(listener.local_addr().unwrap()).spawn().unwrap();
    let keys: Vec<String> =
        (0..2).map(|_| key_of(&read_request(&mut listener.accept().unwrap().0))).collect();
    let output = sending.wait_with_output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{stderr}");
    assert!(
        stderr.contains(&format!("Retry with --key {}: it is never sent or charged twice", keys[0])),
        "{stderr}"
    );
}

#[test]
fn self_signed_certificate_is_trusted_with_ca_and_matching_name() {
    let folder = tempfile::tempdir().unwrap();
    let (http, https) = (free_address(), free_address());
    crate::https::write_pair(folder.path());
    let _server = crate::https::Server::start(folder.path(), http, https);
    super::process::wait_until_serving(&http.to_string());
    let balance = |url: String, ca: Option<&Path>| {
        let mut command = hermod(&["balance", "--url", &url, "--api-key", "alice-key"]);
        if let Some(ca) = ca {
            command.arg("--ca").arg(ca);
        }
        output_of(command.env("HERMOD_API_SECRET", "alice-secret-of-many-characters"))
    };
    let url = format!("https://localhost:{}", https.port());
    let chain = folder.path().join("chain.pem");
    let (code, out, stderr) = balance(url.clone(), Some(&chain));
    assert_eq!((code, field(&out, "balance")), (0, "100"), "{stderr}");
    let (code, _, stderr) = balance(url, None);
    assert_eq!(code, if stderr.contains("trusts no certificate authority") { 2 } else { 1 }, "{stderr}");
    assert!(stderr.contains("--ca FILE"), "{stderr}");
    let (code, _, stderr) = balance(format!("https://127.0.0.1:{}", https.port()), Some(&chain));
    assert_eq!((code, stderr.contains("certificate not valid for name")), (1, true), "{stderr}");
}
