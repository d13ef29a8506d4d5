//! The servers that are loaded: a gateway with funded customers and a route to a carrier, and one that stores nothing.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use serde_json::Value;

use super::figures::{CPU, Figures};
use super::load::{Listeners, Load, Over};
use super::process::Process;
use super::{failure, stopwatch};
use crate::cluster::files::make_certificates;
use crate::gateway_files::{Customer, NO_RECORD, NODE, PEPPER, SETTINGS, provision, write};
use crate::postgres::free_port;
use crate::programs::Binaries;
use crate::shell::{self, Failure, Outcome};

/// Time for a gateway to start on an empty folder.
const READY_WAIT: Duration = Duration::from_secs(30);
const POLL: Duration = Duration::from_millis(100);
/// A gateway without work uses at most `IDLE_CPU_US` in each `POLL`, for this long.
const IDLE: Duration = Duration::from_secs(1);
const IDLE_CPU_US: f64 = 10_000.0;
const SETTLED: &str = "hermod_messages_settled_total";
/// Open files besides the sockets of customers.
const FILES_BESIDE: u64 = 1_000;
/// The name in certificates.
const SERVER: &str = "localhost";

/// Measures a server that stores nothing: an SMPP echo, or an empty HTTP endpoint.
pub(super) fn measure_reference(binaries: &Binaries, load: &Load) -> Result<Figures, Failure> {
    let folder = fresh_folder()?;
    make_certificates(&binaries.simulator, &folder, &[SERVER])?;
    let [certificate, key] = ["certificate.pem", "key.pem"].map(|file| folder.join(SERVER).join(file));
    let words = match load.over {
        Over::Smpp { tls: true, .. } => format!(
            "smpp-echo --listen 127.0.0.1:0 --tls-certificate {} --tls-key {}",
            certificate.display(),
            key.display()
        ),
        Over::Smpp { .. } => "smpp-echo --listen 127.0.0.1:0".to_owned(),
        Over::Http { .. } => "empty-http --port 0".to_owned(),
    };
    let mut server = Process::start(&binaries.simulator, &words)?;
    let address = server.line()?;
    let (smpp, smpp_tls, url) = (address.clone(), address.clone(), address);
    let listeners = Listeners { smpp, smpp_tls, url, certificate };
    let figures = load.start(binaries, &listeners, &Customer::new("bench"), 0)?.finish()?;
    server.end()?;
    remove(&folder)?;
    Ok(figures)
}

/// What gateways are started with.
#[derive(Clone)]
pub(super) struct Setup {
    /// Another build of the gateway.
    pub(super) hermod: Option<PathBuf>,
    pub(super) without_record: bool,
    /// A customer's webhook is the behaviour of its receiver here, or `gone` for one that is not there.
    pub(super) customers: Vec<Customer>,
    pub(super) on_postgres: bool,
    /// With a synchronous standby of PostgreSQL.
    pub(super) standby: bool,
    /// None for a reference alone.
    pub(super) nodes: usize,
    /// Links to the carrier.
    pub(super) links: u32,
    /// Open sockets of customers, at most.
    pub(super) sockets: u64,
    /// When the carrier sends a receipt.
    pub(super) receipt_after: &'static str,
    /// How long it is waited after a load, at most, until the gateways have done what they do later, such as checkpoints.
    pub(super) rest: Duration,
}

impl Default for Setup {
    /// One customer, `bench`, on the embedded store.
    fn default() -> Setup {
        Setup {
            hermod: None,
            without_record: false,
            customers: vec![Customer::new("bench")],
            on_postgres: false,
            standby: false,
            nodes: 1,
            links: 1,
            sockets: 100,
            receipt_after: "1ms",
            rest: Duration::from_secs(20),
        }
    }
}

/// A gateway on a data folder of its own.
pub(super) struct Gateway {
    process: Process,
    /// The program that runs.
    hermod: PathBuf,
    folder: PathBuf,
    pub(super) address: String,
    pub(super) listeners: Listeners,
}

impl Gateway {
    /// Starts a gateway with a route to the carrier at this address: on the embedded store or on that with this URL, alone or as
    /// the node with this name.
    pub(super) fn start(
        binaries: &Binaries,
        setup: &Setup,
        carrier: &str,
        store: Option<&str>,
        node: Option<&str>,
    ) -> Result<Gateway, Failure> {
        let folder = fresh_folder()?;
        make_certificates(&binaries.simulator, &folder.join("tls"), &[SERVER])?;
        let address = free_address()?;
        let listeners = Listeners {
            smpp: free_address()?,
            smpp_tls: free_address()?,
            certificate: folder.join("tls").join(SERVER).join("certificate.pem"),
            url: format!("http://{address}/api/v1"),
        };
        let mut settings = SETTINGS
            .replace("STORE", &store.map_or(String::new(), |url| format!("store = \"{url}\"")))
            .replace("ADDRESS", &address)
            .replace("SMPP_PLAIN", &listeners.smpp)
            .replace("SMPP_TLS", &listeners.smpp_tls);
        if let Some(name) = node {
            settings.push_str(&NODE.replace("NAME", name).replace("LISTEN", &free_address()?));
        }
        if setup.without_record {
            settings.push_str(NO_RECORD);
        }
        let provision = provision(carrier, setup.links, &setup.customers);
        for (name, text) in
            [("pepper.key", PEPPER), ("provision.toml", &provision), ("hermod.toml", &settings)]
        {
            write(&folder.join(name), text)?;
        }
        let hermod = setup.hermod.as_ref().unwrap_or(&binaries.hermod).clone();
        let process = serve(&hermod, &folder, setup.sockets)?;
        let gateway = Gateway { process, hermod, folder, address, listeners };
        gateway.wait_until_ready()?;
        Ok(gateway)
    }

    fn wait_until_ready(&self) -> Outcome {
        shell::wait_until("the gateway", READY_WAIT, || Ok(shell::is_ready(&self.address)))
    }

    /// Returns the token of the operator API.
    pub(super) fn token(&self) -> Result<String, Failure> {
        let token = std::fs::read_to_string(self.folder.join("data/operator.token")).map_err(failure)?;
        Ok(token.trim().to_owned())
    }

    /// Stops the gateway, lets `change` work on its data folder, and starts it again.
    pub(super) fn change_data(self, change: impl FnOnce(&Path) -> Outcome) -> Result<Gateway, Failure> {
        self.process.end()?;
        change(&self.folder.join("data"))?;
        let process = serve(&self.hermod, &self.folder, 0)?;
        let gateway = Gateway { process, ..self };
        gateway.wait_until_ready()?;
        Ok(gateway)
    }

    /// Runs a command of the operator on this gateway, and returns its output.
    pub(super) fn hermod(&self, words: &[&str]) -> Result<String, Failure> {
        let data = self.folder.join("data");
        run(&self.hermod, &[words, &["--data-dir", &*data.to_string_lossy()]].concat())
    }

    /// Returns what the process has used since its start, and its memory.
    pub(super) fn usage(&self) -> Result<Figures, Failure> {
        self.process.usage()
    }

    pub(super) fn metrics(&self) -> Result<Metrics, Failure> {
        shell::http_get(&self.address, "/metrics").map(Metrics)
    }

    /// Returns how many messages have been settled by this process.
    pub(super) fn settled(&self) -> Result<u64, Failure> {
        Ok(self.metrics()?.total(SETTLED).unwrap_or_default() as u64)
    }

    /// Waits until the gateway hardly uses the CPU for a second, at most this long.
    pub(super) fn wait_until_idle(&self, most: Duration) -> Outcome {
        let (started, mut idle_for) = (stopwatch(), Duration::ZERO);
        let mut before = self.usage()?.value(CPU);
        while idle_for < IDLE && started.elapsed() < most {
            super::pause(POLL);
            let now = self.usage()?.value(CPU);
            idle_for = if now - before <= IDLE_CPU_US { idle_for + POLL } else { Duration::ZERO };
            before = now;
        }
        Ok(())
    }

    /// Kills a node and removes its folder.
    pub(super) fn kill(self) -> Outcome {
        drop(self.process);
        remove(&self.folder)
    }

    /// Ends a node and removes its folder.
    pub(super) fn end(self) -> Outcome {
        self.process.end()?;
        remove(&self.folder)
    }

    /// Ends the gateway, audits its store and compares the number of messages in it.
    pub(super) fn end_and_audit(self, messages: u64) -> Outcome {
        self.process.end()?;
        let config = self.folder.join("hermod.toml");
        let report = run(&self.hermod, &["audit", "--config", &config.to_string_lossy(), "--json"])?;
        let report: Value = serde_json::from_str(&report).map_err(failure)?;
        let (stored, open) = (&report["messages"], &report["open_parts"]);
        if stored.as_u64() != Some(messages) {
            return Err(failure(format!("{messages} messages were accepted and the store has {stored}")));
        }
        if open.as_u64() != Some(0) {
            return Err(failure(format!("{open} parts are still open")));
        }
        remove(&self.folder)
    }
}

fn serve(hermod: &Path, folder: &Path, sockets: u64) -> Result<Process, Failure> {
    let words = format!("serve --config {}", folder.join("hermod.toml").display());
    Process::start_with_files(hermod, &words, sockets + FILES_BESIDE)
}

fn run(hermod: &Path, words: &[&str]) -> Result<String, Failure> {
    shell::output_of(&hermod.to_string_lossy(), words)
        .ok_or_else(|| failure(format!("`hermod {}` failed", words.join(" "))))
}

/// The response of `/metrics`.
pub(super) struct Metrics(String);

impl Metrics {
    /// Returns the sum over all labels; none if the gateway has no such metric, or has not counted yet.
    pub(super) fn total(&self, name: &str) -> Option<f64> {
        let rests = self.0.lines().filter_map(|line| line.strip_prefix(name));
        let values = rests.filter(|rest| rest.starts_with([' ', '{']));
        let values = values.filter_map(|rest| rest.rsplit(' ').next()?.parse::<f64>().ok());
        values.fold(None, |sum, value| Some(sum.unwrap_or_default() + value))
    }
}

/// Returns an address with a free port.
pub(super) fn free_address() -> Result<String, Failure> {
    Ok(format!("127.0.0.1:{}", free_port()?))
}

/// Makes a folder that no other process of this benchmark has.
pub(super) fn fresh_folder() -> Result<PathBuf, Failure> {
    static FOLDERS: AtomicU32 = AtomicU32::new(0);
    let number = FOLDERS.fetch_add(1, Ordering::Relaxed);
    let folder = std::env::temp_dir().join(format!("hermod-bench-{}-{number}", std::process::id()));
    if folder.exists() {
        remove(&folder)?;
    }
    std::fs::create_dir_all(&folder).map_err(failure)?;
    Ok(folder)
}

pub(super) fn remove(folder: &Path) -> Outcome {
    std::fs::remove_dir_all(folder).map_err(failure)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metric_is_summed_over_its_labels() {
        let response = "HTTP/1.1 200 OK\r\n\r\n# TYPE hermod_batches_total counter\nhermod_batches_total 12\n\
                        hermod_batches 7\nhermod_syncs_total{file=\"a b\"} 3\nhermod_syncs_total{file=\"c\"} 4.5\n";
        let total = |name| Metrics(response.to_owned()).total(name);
        assert_eq!([total("hermod_batches_total"), total("hermod_batches")], [Some(12.0), Some(7.0)]);
        assert_eq!([total("hermod_syncs_total"), total("hermod_sync")], [Some(7.5), None]);
    }
}
