//! The processes of a benchmark: a simulated carrier, and a gateway with one funded customer and a route to it.

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use serde_json::Value;

use super::Programs;
use super::load::Listeners;
use super::metrics::Metrics;
use super::process::{Process, Usage};
use super::{failure, stopwatch};
use crate::gateway_files::{Customer, NO_RECORD, NODE, PEPPER, SETTINGS, compare_counts, provision, write};
use crate::shell::{self, Failure, Outcome};

/// Time for a gateway to start on an empty folder.
const READY_WAIT: Duration = Duration::from_secs(30);
const POLL: Duration = Duration::from_millis(100);
/// A gateway without work uses at most `IDLE_CPU` in each `POLL`, for this long.
const IDLE: Duration = Duration::from_secs(1);
const IDLE_CPU: Duration = Duration::from_millis(10);
/// A gateway that always has work is not waited for.
const IDLE_WAIT: Duration = Duration::from_secs(20);
const SETTLED: &str = "hermod_messages_settled_total";
const BATCHES: &str = "hermod_store_batches_total";
/// Open files besides the sockets of customers.
const FILES_BESIDE: u64 = 1_000;

/// A simulated carrier process.
pub(super) struct Carrier(Process);

impl Carrier {
    pub(super) fn start(programs: &Programs, listen: &str, flags: &[&str]) -> Result<Carrier, Failure> {
        let args = [&["carrier", "--listen", listen], flags].concat();
        let mut process = Process::start(&programs.simulator, &args)?;
        // The line with its address says that it listens.
        process.line()?;
        Ok(Carrier(process))
    }

    pub(super) fn usage(&self) -> Result<Usage, Failure> {
        self.0.usage()
    }

    /// Ends the carrier and compares its counts with the accepted messages: each submitted once, with its receipt accepted.
    pub(super) fn end_and_compare(self, messages: u64) -> Outcome {
        let counts = self.0.end_and_read()?;
        compare_counts(&counts, messages)
    }
}

/// What a gateway is started with.
pub(super) struct Setup {
    pub(super) customers: Vec<Customer>,
    pub(super) on_postgres: bool,
    /// With a synchronous standby of PostgreSQL.
    pub(super) standby: bool,
    pub(super) nodes: usize,
    /// Links to the carrier.
    pub(super) links: u32,
    /// Open sockets of customers, at most.
    pub(super) sockets: u64,
    /// When the carrier sends a receipt.
    pub(super) receipt_after: &'static str,
}

impl Default for Setup {
    /// One customer, `bench`, on the embedded store.
    fn default() -> Setup {
        Setup {
            customers: vec![Customer::new("bench")],
            on_postgres: false,
            standby: false,
            nodes: 1,
            links: 1,
            sockets: 100,
            receipt_after: "1ms",
        }
    }
}

/// A gateway on a fresh data folder.
pub(super) struct Gateway {
    process: Process,
    /// The program that runs.
    hermod: PathBuf,
    folder: PathBuf,
    address: String,
    pub(super) listeners: Listeners,
}

impl Gateway {
    /// Starts a gateway with a route to the carrier at this address: on the embedded store or on that with this URL, alone or as
    /// the node with this name.
    pub(super) fn start_with(
        programs: &Programs,
        setup: &Setup,
        carrier: &str,
        store: Option<&str>,
        node: Option<&str>,
    ) -> Result<Gateway, Failure> {
        let folder = fresh_folder()?;
        make_certificate(programs, &folder.join("tls"))?;
        let address = free_address()?;
        let listeners = Listeners {
            smpp: free_address()?,
            smpp_tls: free_address()?,
            certificate: folder.join("tls/certificate.pem"),
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
        if programs.without_record {
            settings.push_str(NO_RECORD);
        }
        let provision = provision(carrier, setup.links, &setup.customers);
        for (name, text) in
            [("pepper.key", PEPPER), ("provision.toml", &provision), ("hermod.toml", &settings)]
        {
            write(&folder.join(name), text)?;
        }
        let config = folder.join("hermod.toml");
        let serve = ["serve", "--config", &config.to_string_lossy()];
        let hermod = programs.hermod.clone();
        let process = Process::start_with_files(&hermod, &serve, setup.sockets + FILES_BESIDE)?;
        let gateway = Gateway { process, hermod, folder, address, listeners };
        gateway.wait_until_ready()?;
        Ok(gateway)
    }

    fn wait_until_ready(&self) -> Outcome {
        shell::wait_until("the gateway", READY_WAIT, || Ok(shell::is_ready(&self.address)))
    }

    /// Returns the address of the operator API, and its token.
    pub(super) fn operator(&self) -> Result<(String, String), Failure> {
        let token = std::fs::read_to_string(self.folder.join("data/operator.token")).map_err(failure)?;
        Ok((self.address.clone(), token.trim().to_owned()))
    }

    /// Stops the gateway, lets `change` work on its data folder, and starts it again.
    pub(super) fn change_data(self, change: impl FnOnce(&Path) -> Outcome) -> Result<Gateway, Failure> {
        let Gateway { process, hermod, folder, address, listeners } = self;
        process.end()?;
        change(&folder.join("data"))?;
        let config = folder.join("hermod.toml");
        let process = Process::start(&hermod, &["serve", "--config", &config.to_string_lossy()])?;
        let gateway = Gateway { process, hermod, folder, address, listeners };
        gateway.wait_until_ready()?;
        Ok(gateway)
    }

    /// Returns the address of its HTTP listener.
    pub(super) fn address(&self) -> &str {
        &self.address
    }

    /// Runs a command of the operator on this gateway, and returns its output.
    pub(super) fn hermod(&self, words: &[&str]) -> Result<String, Failure> {
        let data = self.folder.join("data");
        let data = data.to_string_lossy();
        let words = [words, &["--data-dir", &*data]].concat();
        shell::output_of(&self.hermod.to_string_lossy(), &words)
            .ok_or_else(|| failure(format!("`hermod {}` failed", words.join(" "))))
    }

    pub(super) fn usage(&self) -> Result<Usage, Failure> {
        self.process.usage()
    }

    /// Returns how many batches this process has written.
    pub(super) fn batches(&self) -> Result<u64, Failure> {
        Ok(self.metrics()?.count(BATCHES))
    }

    /// Returns how many messages have been settled by this process.
    pub(super) fn settled(&self) -> Result<u64, Failure> {
        Ok(self.metrics()?.count(SETTLED))
    }

    pub(super) fn metrics(&self) -> Result<Metrics, Failure> {
        shell::http_get(&self.address, "/metrics").map(Metrics::new)
    }

    /// Waits until the gateway has done what it does later, such as checkpoints: until it hardly uses the CPU for a second.
    pub(super) fn wait_until_idle(&self) -> Outcome {
        let started = stopwatch();
        let mut idle_for = Duration::ZERO;
        let mut before = self.usage()?.cpu;
        while idle_for < IDLE && started.elapsed() < IDLE_WAIT {
            super::pause(POLL);
            let now = self.usage()?.cpu;
            idle_for = if now - before <= IDLE_CPU { idle_for + POLL } else { Duration::ZERO };
            before = now;
        }
        Ok(())
    }

    /// Kills a node and removes its folder.
    pub(super) fn kill(self) -> Outcome {
        let Gateway { process, folder, .. } = self;
        drop(process);
        std::fs::remove_dir_all(folder).map_err(failure)
    }

    /// Ends a node and removes its folder.
    pub(super) fn end(self) -> Outcome {
        self.process.end()?;
        std::fs::remove_dir_all(&self.folder).map_err(failure)
    }

    /// Ends the gateway, audits its store and compares the number of messages in it.
    pub(super) fn end_and_audit(self, messages: u64) -> Outcome {
        let Gateway { process, hermod, folder, .. } = self;
        process.end()?;
        let config = folder.join("hermod.toml");
        let config = config.to_str().ok_or_else(|| failure("the temporary folder's name is not UTF-8"))?;
        let report = shell::output_of(&hermod.to_string_lossy(), &["audit", "--config", config, "--json"])
            .ok_or_else(|| failure("the audit failed"))?;
        let report: Value = serde_json::from_str(&report).map_err(failure)?;
        if report["messages"].as_u64() != Some(messages) {
            return Err(failure(format!(
                "{messages} messages were accepted and the store has {}",
                report["messages"]
            )));
        }
        if report["open_parts"].as_u64() != Some(0) {
            return Err(failure(format!("{} parts are still open", report["open_parts"])));
        }
        std::fs::remove_dir_all(&folder).map_err(failure)
    }
}

/// Writes `certificate.pem` and `key.pem` for localhost to this folder.
pub(super) fn make_certificate(programs: &Programs, folder: &Path) -> Outcome {
    let sim = &programs.simulator;
    let folder = folder.to_string_lossy();
    shell::output_of(&sim.to_string_lossy(), &["certificate", &folder])
        .map(|_| ())
        .ok_or_else(|| failure(format!("cannot make a certificate in {folder}")))
}

/// Returns an address with a free port.
pub(super) fn free_address() -> Result<String, Failure> {
    let listener = TcpListener::bind("127.0.0.1:0").map_err(failure)?;
    Ok(listener.local_addr().map_err(failure)?.to_string())
}

/// Makes a folder that no other gateway of this benchmark has.
pub(super) fn fresh_folder() -> Result<PathBuf, Failure> {
    static FOLDERS: AtomicU32 = AtomicU32::new(0);
    let number = FOLDERS.fetch_add(1, Ordering::Relaxed);
    let folder = std::env::temp_dir().join(format!("hermod-bench-{}-{number}", std::process::id()));
    if folder.exists() {
        std::fs::remove_dir_all(&folder).map_err(failure)?;
    }
    std::fs::create_dir_all(&folder).map_err(failure)?;
    Ok(folder)
}
