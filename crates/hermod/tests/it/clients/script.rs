//! A script of `tests/clients`: a customer in another language that prints a line for everything its library received.

use super::fixture::{PASSWORD, SENDER, SYSTEM_ID, Stage};
use super::program;
use crate::real_time::{PATIENCE, pause};
use crate::smsc;
use serde_json::{Value, json};
use std::path::Path;
use std::process::{Command, Stdio};
use tokio::io::{AsyncBufReadExt, BufReader};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Library {
    /// The package `smpplib` of PyPI.
    Python,
    /// The package `smpp` of npm.
    Node,
    /// Net::SMPP over IO::Socket::SSL of the script.
    Perl,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Binds {
    /// One transceiver.
    Transceiver,
    /// A receiver, then a transmitter.
    Pair,
}

/// The options of a customer that sends one message of every kind.
#[derive(Clone, Copy, Debug)]
pub(super) struct Customer {
    pub(super) library: Library,
    pub(super) binds: Binds,
    pub(super) over_tls: bool,
    pub(super) password: &'static str,
}

impl Customer {
    pub(super) fn new(library: Library, binds: Binds, over_tls: bool) -> Customer {
        Customer { library, binds, over_tls, password: PASSWORD }
    }

    /// Runs the script, which must succeed, and returns its output.
    pub(super) async fn run(self, stage: &Stage, messages: &Value) -> Saw {
        let address = if self.over_tls { stage.secure } else { stage.plain };
        let mut options = json!({
            "host": address.ip(),
            "port": address.port(),
            "ca": self.over_tls.then(|| stage.certificate()),
            "system_id": SYSTEM_ID,
            "password": self.password,
            "source": SENDER,
            "binds": match self.binds { Binds::Transceiver => "transceiver", Binds::Pair => "pair" },
        });
        for (name, value) in messages.as_object().expect("messages are an object") {
            options[name] = value.clone();
        }
        let said = run(self.library.command(), options.to_string()).await;
        let lines = said.lines().map(|line| serde_json::from_str(line).expect("a line of JSON"));
        Saw { lines: lines.collect() }
    }
}

impl Library {
    fn command(self) -> Command {
        let scripts = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/clients");
        match self {
            Library::Python => {
                let mut command = Command::new(program("python"));
                // Do not write compiled files beside the script.
                command.arg("-B").arg(scripts.join("python/client.py"));
                command
            }
            Library::Node => {
                let mut command = Command::new("node");
                let packages = smsc::Library::Node.place();
                command.env("NODE_PATH", packages).arg(scripts.join("node/client.js"));
                command
            }
            Library::Perl => {
                let mut command = Command::new(program("perl"));
                command.arg(scripts.join("perl/client.pl"));
                command
            }
        }
    }
}

/// The output of a script.
pub(super) struct Saw {
    lines: Vec<Value>,
}

impl Saw {
    /// Returns all events of this kind.
    pub(super) fn all(&self, what: &str) -> Vec<&Value> {
        self.lines.iter().filter(|line| line["saw"] == what).collect()
    }
}

async fn run(command: Command, options: String) -> String {
    let mut command = tokio::process::Command::from(command);
    command.arg(options).stdin(Stdio::null()).stdout(Stdio::piped()).kill_on_drop(true);
    let mut child = command.spawn().unwrap_or_else(|error| panic!("{command:?} starts: {error}"));
    let mut lines = BufReader::new(child.stdout.take().expect("standard output was piped")).lines();
    let (patience, mut said) = (pause(PATIENCE), String::new());
    tokio::pin!(patience);
    loop {
        let line = tokio::select! {
            line = lines.next_line() => line.expect("lines of UTF-8"),
            () = &mut patience => panic!("the script did not end within {PATIENCE:?} and printed:
        {said}"),
        };
        let Some(line) = line else { break };
        said.push_str(&line);
        said.push('\n');
    }
    let status = child.wait().await.expect("it can be waited for");
    assert!(
        status.success(),
        "the script ended with {status} and printed:
{said}"
    );
    said
}
