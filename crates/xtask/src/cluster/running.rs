//! The processes of a cluster: starting them in order, watching them, and stopping them.

use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use super::child::{Child, Program};
use super::database::Database;
use super::files::{Files, NODES, Ports};
use super::{haproxy, make_folder, text};
use crate::programs::Binaries;
use crate::shell::{self, Failure, Outcome, pause, stopwatch};
use crate::tools;

/// It only bounds a hang.
const READY_WAIT: Duration = Duration::from_secs(300);
const POLL: Duration = Duration::from_millis(100);
/// As `RestartSec` in deploy/systemd/hermod.service.
const RESTART_WAIT: Duration = Duration::from_secs(1);
/// A node that ends sooner after a restart is not started again.
const LIFE_MIN: Duration = Duration::from_secs(5);

pub(super) struct Cluster {
    pub(super) files: Files,
    hermod: PathBuf,
    // In this order they are stopped where a command fails.
    haproxy: Child,
    nodes: Vec<Child>,
    carrier: Child,
    database: Database,
}

impl Cluster {
    /// Starts everything, and waits until HAProxy has found all nodes healthy.
    pub(super) fn start(binaries: &Binaries) -> Result<Cluster, Failure> {
        let haproxy = tools::HAPROXY.ensure()?;
        let files = Files { folder: make_folder()?, ports: free_ports()? };
        let certificates = files.make_certificates(&binaries.simulator)?;
        println!("Starting PostgreSQL with a synchronous standby ...");
        let mut database = Database::start(&files.folder, &certificates, "")?;
        database.add_standby()?;
        files.write_all(database.port)?;
        let carrier = start_carrier(binaries, &files)?;
        let mut nodes = Vec::new();
        // One after the other: the first one makes the tables.
        for (index, name) in NODES.iter().enumerate() {
            println!("Starting node {name} ...");
            let mut node = start_node(&binaries.hermod, &files, index)?;
            wait_until("the node", || {
                node.require_running()?;
                Ok(shell::is_ready(&files.node_http(index)))
            })?;
            nodes.push(node);
        }
        println!("Starting HAProxy ...");
        let settings = text(&files.haproxy());
        let program = Program {
            name: "haproxy",
            file: haproxy.as_ref(),
            args: &["-db", "-f", &settings],
            user: None,
            stop: "TERM",
            end: "TERM",
        };
        let haproxy = Child::start(&program, &files.folder)?;
        let mut cluster =
            Cluster { files, hermod: binaries.hermod.clone(), haproxy, nodes, carrier, database };
        cluster.wait_until_all_up()?;
        Ok(cluster)
    }

    /// Waits until every node is healthy for HAProxy, for HTTP and for SMPP.
    pub(super) fn wait_until_all_up(&mut self) -> Outcome {
        let socket = self.files.haproxy_socket();
        wait_until("a node behind HAProxy", || {
            self.haproxy.require_running()?;
            let Ok(servers) = haproxy::servers(&socket) else { return Ok(false) };
            Ok(servers.len() == 2 * NODES.len() && servers.iter().all(|server| server.is_up))
        })
    }

    /// Whether HAProxy gives this node connections for HTTP.
    pub(super) fn is_up(&self, index: usize) -> Result<bool, Failure> {
        let servers = haproxy::servers(&self.files.haproxy_socket())?;
        let mut own = servers.iter().filter(|server| server.backend == "api" && server.name == NODES[index]);
        Ok(own.any(|server| server.is_up))
    }

    /// Watches the processes until the time is over. Fails if a process ends that is not a node.
    pub(super) fn watch(&mut self, time: Option<Duration>) -> Outcome {
        let started = stopwatch();
        let mut restarts = [None::<Instant>; NODES.len()];
        while time.is_none_or(|time| started.elapsed() < time) {
            self.database.require_running()?;
            self.carrier.require_running()?;
            self.haproxy.require_running()?;
            for (index, name) in NODES.iter().enumerate() {
                let Some(status) = self.nodes[index].ended() else { continue };
                if restarts[index].is_some_and(|restart| restart.elapsed() < LIFE_MIN) {
                    return self.nodes[index].require_running();
                }
                println!("Node {name} ended ({status}); it starts again.");
                pause(RESTART_WAIT);
                self.start_node(index)?;
                restarts[index] = Some(stopwatch());
            }
            pause(POLL);
        }
        Ok(())
    }

    /// Sends SIGTERM to a node and waits for its end.
    pub(super) fn stop_node(&mut self, index: usize) -> Outcome {
        self.nodes[index].signal("TERM")?;
        let node = &mut self.nodes[index];
        wait_until("the end of the node", || Ok(node.ended().is_some()))?;
        self.nodes[index].require_end()
    }

    pub(super) fn start_node(&mut self, index: usize) -> Outcome {
        self.nodes[index] = start_node(&self.hermod, &self.files, index)?;
        Ok(())
    }

    /// Returns the process of a node.
    pub(super) fn node_id(&self, index: usize) -> u32 {
        self.nodes[index].id()
    }

    /// Runs a command of the operator on the first node. Returns its output.
    pub(super) fn operator(&self, words: &[&str]) -> Result<String, Failure> {
        let mut command = Command::new(&self.hermod);
        command.args(words).arg("--config").arg(self.files.settings(0));
        let output = command.output().map_err(|cause| Failure(format!("cannot start hermod: {cause}")))?;
        if output.status.success() {
            return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
        }
        let error = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        Err(Failure(format!("`hermod {}`: {error}", words.join(" "))))
    }

    /// Stops everything in order, and removes the folder. Returns what the carrier counted.
    pub(super) fn stop_and_count(self) -> Result<String, Failure> {
        let Cluster { files, database, carrier, nodes, haproxy, .. } = self;
        // It ends by the signal, not with a code.
        drop(haproxy);
        nodes.into_iter().try_for_each(Child::stop)?;
        let log = carrier.log.clone();
        carrier.stop()?;
        database.stop()?;
        let counts = std::fs::read_to_string(&log).map_err(|cause| Failure(cause.to_string()))?;
        let _ = std::fs::remove_dir_all(&files.folder);
        Ok(counts)
    }

    pub(super) fn stop(self) -> Outcome {
        self.stop_and_count().map(drop)
    }
}

fn start_carrier(binaries: &Binaries, files: &Files) -> Result<Child, Failure> {
    let listen = format!("127.0.0.1:{}", files.ports.carrier);
    let program = Program {
        name: "carrier",
        file: &binaries.simulator,
        args: &["carrier", "--listen", &listen, "--receipt-after", "200ms", "--magic-numbers"],
        user: None,
        stop: "TERM",
        end: "KILL",
    };
    Child::start(&program, &files.folder)
}

fn start_node(hermod: &Path, files: &Files, index: usize) -> Result<Child, Failure> {
    let settings = text(&files.settings(index));
    let program = Program {
        name: &format!("node-{}", NODES[index]),
        file: hermod,
        args: &["serve", "--config", &settings],
        user: None,
        stop: "TERM",
        end: "KILL",
    };
    Child::start(&program, &files.folder)
}

/// Waits until `done`, which fails where waiting is in vain.
pub(super) fn wait_until(what: &str, done: impl FnMut() -> Result<bool, Failure>) -> Outcome {
    shell::wait_until(what, READY_WAIT, done)
}

/// Finds ports that are free at every address of this machine.
fn free_ports() -> Result<Ports, Failure> {
    let cannot = |cause: std::io::Error| Failure(format!("no free port: {cause}"));
    let mut held = Vec::new();
    let mut port = || {
        let listener = TcpListener::bind((Ipv4Addr::UNSPECIFIED, 0)).map_err(cannot)?;
        let port = listener.local_addr().map_err(cannot)?.port();
        held.push(listener);
        Ok(port)
    };
    Ok(Ports {
        https: port()?,
        smpp: port()?,
        node_http: port()?,
        node_smpp: port()?,
        node_listen: port()?,
        carrier: port()?,
    })
}
