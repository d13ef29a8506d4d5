//! Carriers built with third-party SMPP libraries, because our simulator shares our reading of the specification. The
//! scripts are in `tests/smsc`; each is a process that prints a line for everything its library received.

mod messages;
mod profiles;

use crate::real_time::{PATIENCE, now, pause, wait_until};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader};
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

/// A destination that the scripts reject.
pub(crate) const REFUSED: &str = "4915112340000";

#[derive(Clone, Copy, Debug)]
pub(crate) enum Library {
    /// The package `smpp` of npm: ids are hexadecimal, receipts are text alone.
    Node,
    /// The package `smpp.twisted3` of PyPI: ids are decimal, receipts are text and parameters.
    Twisted,
}

impl Library {
    pub(crate) const ALL: [Library; 2] = [Library::Node, Library::Twisted];

    fn command(self) -> Command {
        let scripts = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/smsc");
        match self {
            Library::Node => {
                let mut command = Command::new("node");
                command.env("NODE_PATH", self.place()).arg(scripts.join("node/server.js"));
                command
            }
            Library::Twisted => {
                let mut command = Command::new(self.place());
                // Do not write compiled files beside the script.
                command.arg("-B").arg(scripts.join("python/server.py"));
                command
            }
        }
    }

    /// Returns the path that `cargo xtask test` names, or where `cargo xtask smsc` installs it for a test run alone.
    pub(crate) fn place(self) -> PathBuf {
        static NODE: OnceLock<PathBuf> = OnceLock::new();
        static TWISTED: OnceLock<PathBuf> = OnceLock::new();
        let (known, variable, name) = match self {
            Library::Node => (&NODE, "HERMOD_SMSC_NODE", "node"),
            Library::Twisted => (&TWISTED, "HERMOD_SMSC_TWISTED", "twisted"),
        };
        known
            .get_or_init(|| std::env::var_os(variable).map_or_else(|| installed(name), PathBuf::from))
            .clone()
    }
}

fn installed(library: &str) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let output = Command::new("cargo").args(["xtask", "smsc", library]).current_dir(root).output();
    let output = output.expect("cargo can be started");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success(),
        "the library is not installed; run `cargo xtask smsc {library}`: {errors}"
    );
    let said = String::from_utf8(output.stdout).expect("a UTF-8 path");
    said.lines().last().expect("xtask prints the path").into()
}

/// A running carrier process, killed on drop.
pub(crate) struct Smsc {
    child: Child,
    pub(crate) address: SocketAddr,
    seen: Seen,
}

#[derive(Clone, Default)]
struct Seen(Arc<Mutex<Vec<Value>>>);

impl Seen {
    fn all(&self) -> Vec<Value> {
        self.0.lock().expect("the lock is not poisoned").clone()
    }

    fn push(&self, value: Value) {
        self.0.lock().expect("the lock is not poisoned").push(value);
    }
}

impl Smsc {
    pub(crate) fn start(library: Library) -> Smsc {
        Smsc::start_with(library, json!({}))
    }

    /// Starts with options of the scripts: `receipt_ids` is `"converted"` for receipts with ids in the other base, `tls` names
    /// a key and a certificate.
    pub(crate) fn start_with(library: Library, more: Value) -> Smsc {
        let mut options = json!({ "system_id": "hermod", "password": "secret", "refused": REFUSED });
        for (name, value) in more.as_object().expect("options are an object") {
            options[name] = value.clone();
        }
        let mut command = library.command();
        command.arg(options.to_string()).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child =
            command.spawn().unwrap_or_else(|error| panic!("{library:?}: {command:?} starts: {error}"));
        let output = BufReader::new(child.stdout.take().expect("standard output was piped"));
        let seen = Seen::default();
        let reader = seen.clone();
        std::thread::spawn(move || {
            for line in output.lines().map_while(Result::ok) {
                reader.push(serde_json::from_str(&line).unwrap_or(Value::String(line)));
            }
        });
        let mut smsc = Smsc { child, address: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)), seen };
        wait_until("the script listens", || !smsc.seen("listening").is_empty() || smsc.has_ended());
        let listening = smsc.seen("listening").into_iter().next();
        let listening = listening.unwrap_or_else(|| panic!("{library:?} listens; see its errors above"));
        let port = listening["port"].as_u64().and_then(|port| u16::try_from(port).ok());
        smsc.address.set_port(port.expect("a port"));
        smsc
    }

    fn has_ended(&mut self) -> bool {
        self.child.try_wait().expect("a child can be asked").is_some()
    }

    /// Returns all events of this kind so far.
    pub(crate) fn seen(&self, what: &str) -> Vec<Value> {
        self.seen.all().into_iter().filter(|seen| seen["saw"] == what).collect()
    }

    /// Waits for `count` events of this kind.
    pub(crate) async fn wait_for(&self, count: usize, what: &str) -> Vec<Value> {
        let started = now();
        loop {
            let seen = self.seen(what);
            if seen.len() >= count {
                return seen;
            }
            let all = Value::from(self.seen.all());
            assert!(started.elapsed() < PATIENCE, "not {count} of {what} after {PATIENCE:?} but {all}");
            pause(Duration::from_millis(10)).await;
        }
    }

    /// Ends the script by closing its input. It must succeed without an error event.
    pub(crate) fn stop(mut self) {
        drop(self.child.stdin.take());
        wait_until("the script ends with its input", || self.has_ended());
        assert!(self.child.wait().expect("it has ended").success());
        for complaint in ["error", "unknown", "nobody_for_receipt"] {
            assert_eq!(self.seen(complaint), Vec::<Value>::new(), "{complaint}");
        }
    }
}

impl Drop for Smsc {
    fn drop(&mut self) {
        // An error means that the process has already ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
