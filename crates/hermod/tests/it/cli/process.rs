//! The real binary as a process, and an HTTP client of a customer.

use crate::real_time::wait_until;
use serde_json::Value;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Output, Stdio};

pub(crate) fn hermod(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hermod"));
    command.args(args).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    // Credentials in the environment of the test run must not be used.
    for name in [
        "COLUMNS",
        "HERMOD_URL",
        "HERMOD_API_KEY",
        "HERMOD_API_SECRET",
        "HERMOD_CREDENTIALS",
        "HERMOD_CONFIG",
        "HERMOD_DATA_DIR",
        "HERMOD_OPERATOR_URL",
        "HERMOD_OPERATOR_TOKEN",
        "HERMOD_OPERATOR_TOKEN_FILE",
        "HERMOD_OPERATOR_CA",
        "HERMOD_PEPPER",
    ] {
        command.env_remove(name);
    }
    command.env("HOME", "/nonexistent");
    command
}

/// Runs a command to its end. Returns exit code, standard output and standard error.
pub(crate) fn run(args: &[&str]) -> (i32, String, String) {
    output_of(&mut hermod(args))
}

/// Runs a command on the gateway of a folder. Returns its output.
pub(crate) fn command(data: &Path, args: &[&str]) -> String {
    let (code, out, error) = run(&[args, &["--data-dir", path(data)]].concat());
    assert_eq!(code, 0, "{args:?}: {out}{error}");
    out
}

/// Does the same with `--json`.
pub(crate) fn json(data: &Path, args: &[&str]) -> Value {
    let out = command(data, &[args, &["--json"]].concat());
    serde_json::from_str(&out).unwrap_or_else(|error| panic!("{args:?}: {error}: {out}"))
}

pub(crate) fn output_of(command: &mut Command) -> (i32, String, String) {
    let Output { status, stdout, stderr } = command.output().expect("the binary runs");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
    (status.code().expect("it was not killed"), text(stdout), text(stderr))
}

pub(crate) fn path(path: &Path) -> &str {
    path.to_str().expect("a temporary folder's name is UTF-8")
}

/// A process that is killed on drop.
pub(crate) struct Process {
    pub(crate) child: Child,
    out: BufReader<ChildStdout>,
}

impl Process {
    pub(crate) fn start(args: &[&str]) -> Process {
        Process::start_with_errors_to(args, Stdio::inherit())
    }

    /// Starts the binary with standard error going there.
    pub(crate) fn start_with_errors_to(args: &[&str], errors: impl Into<Stdio>) -> Process {
        let mut child = hermod(args).stderr(errors).spawn().expect("the binary starts");
        let out = BufReader::new(child.stdout.take().expect("it was piped"));
        Process { child, out }
    }

    pub(crate) fn first_line(&mut self) -> String {
        let mut line = String::new();
        self.out.read_line(&mut line).expect("a line");
        line
    }

    pub(crate) fn signal(&self, name: &str) {
        let sent = Command::new("kill").args([name, &self.child.id().to_string()]).status();
        assert!(sent.expect("kill is everywhere").success());
    }

    /// Sends SIGTERM and returns the exit code.
    pub(crate) fn terminate(mut self) -> i32 {
        self.signal("-TERM");
        let mut ended = None;
        wait_until("it ends after SIGTERM", || {
            ended = self.child.try_wait().expect("a child can be asked");
            ended.is_some()
        });
        ended.and_then(|status| status.code()).expect("it ended without a signal")
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // An error means that the process has already ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A customer with these credentials.
pub(crate) struct Caller {
    pub(crate) address: String,
    pub(crate) key: String,
    pub(crate) secret: String,
}

impl Caller {
    pub(crate) fn of(ready: &Value) -> Caller {
        let text = |name: &str| ready[name].as_str().expect("a text").to_owned();
        let base = text("base_url");
        let address = base.strip_prefix("http://").and_then(|rest| rest.strip_suffix("/api/v1"));
        Caller {
            address: address.expect("base_url").to_owned(),
            key: text("api_key"),
            secret: text("api_secret"),
        }
    }

    pub(crate) fn call(&self, method: &str, path: &str, body: &str) -> (u16, Value) {
        let Caller { address, key, secret } = self;
        let mut stream = TcpStream::connect(address).expect("it listens");
        let request = format!(
            "{method} /api/v1{path} HTTP/1.1\r\nHost: {address}\r\nX-API-Key: {key}\r\nX-API-Secret: {secret}\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
            body.len()
        );
        stream.write_all(request.as_bytes()).expect("it reads");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("it answers");
        let status = answer.split(' ').nth(1).expect("a status line").parse().expect("a number");
        let body = answer.split_once("\r\n\r\n").expect("a body").1;
        (status, serde_json::from_str(body).unwrap_or_else(|error| panic!("{error}: {answer}")))
    }

    pub(crate) fn send(&self, text: &str) -> String {
        let body = serde_json::json!({ "to": "+4915112345678", "text": text }).to_string();
        let (status, answer) = self.call("POST", "/sms", &body);
        assert_eq!(status, 202, "{answer}");
        answer["message_id"].as_str().expect("a message id").to_owned()
    }

    pub(crate) fn wait_for_status(&self, message: &str, wanted: &str) {
        wait_until(&format!("message {message} is {wanted}"), || {
            let (status, answer) = self.call("GET", &format!("/sms/{message}"), "");
            assert_eq!(status, 200, "{answer}");
            answer["status"] == wanted
        });
    }

    pub(crate) fn balance(&self) -> String {
        let (status, answer) = self.call("GET", "/balance", "");
        assert_eq!(status, 200, "{answer}");
        answer["balance"].to_string()
    }
}

pub(crate) fn start_demo(data: &Path) -> (Process, Value) {
    let words = ["demo", "--data-dir", path(data), "--http-port", "0", "--json", "--without-showcase"];
    let mut demo = Process::start(&words);
    let line = demo.first_line();
    let ready = serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line:?}"));
    (demo, ready)
}

/// Waits until a gateway serves at an address. It listens before it locks its data folder; a command in between
/// would open the folder itself.
pub(crate) fn wait_until_serving(address: &str) {
    let address = address.parse().expect("an address with a port");
    wait_until("it serves", || crate::gateways::is_ready(address));
}
