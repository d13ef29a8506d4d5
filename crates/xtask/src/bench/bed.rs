//! The processes of one run, and what every benchmark does with them: starts PostgreSQL, a carrier, receivers of webhooks and the
//! gateways, loads them, waits until all messages are settled, measures what that took, audits the store, compares the carrier's
//! record, and ends them.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::Value;

use super::figures::{ACCEPTED, CARRIER, COMMITS, CPU, Column, FSYNCS, Figures, OFFERED, POSTGRES, REACHED};
use super::gateway::{Gateway, Metrics, Setup, free_address, fresh_folder, remove};
use super::load::{Generator, Load, Loads, Over};
use super::process::{Process, cpu_with_children};
use super::{failure, pause, stopwatch};
use crate::cluster::database::{self, Database};
use crate::cluster::files::make_certificates;
use crate::gateway_files::compare_counts;
use crate::programs::Binaries;
use crate::shell::{Failure, Outcome};

/// Time for all accepted messages to be settled after the load.
const SETTLE_WAIT: Duration = Duration::from_secs(900);
const POLL: Duration = Duration::from_millis(100);
/// Between two looks whether the generators have ended.
const GENERATOR_POLL: Duration = Duration::from_millis(10);
/// Numbers of messages that one customer has for itself.
const NUMBERS: u64 = 100_000_000;
/// As in deploy/patroni/patroni.yml.
const POSTGRES_SETTINGS: &str = "max_wal_size=8GB min_wal_size=4GB";
/// How a receiver of webhooks behaves that counts them, and the word for one that does not exist.
pub(super) const HEALTHY: &str = "200";
pub(super) const GONE: &str = "gone";
/// Counters of the store.
const COUNTERS: [(&str, &str); 2] =
    [(COMMITS, "hermod_store_batches_total"), (FSYNCS, "hermod_store_fsyncs_total")];

pub(super) struct Bed<'a> {
    pub(super) binaries: &'a Binaries,
    setup: Setup,
    database: Option<(PathBuf, Database)>,
    /// How each behaves, and its URL.
    receivers: Vec<(String, String, Process)>,
    carrier_address: String,
    carrier: Option<Process>,
    gateways: Vec<Gateway>,
    /// Messages that were accepted, and those that earlier carriers have been compared with.
    accepted: u64,
    compared: u64,
    /// Messages that were accepted before those that queue for the carrier, and the number of those.
    queued: (u64, u64),
    /// Messages that were settled by nodes that were killed.
    settled_by_killed: u64,
}

/// What a load did.
pub(super) struct Loaded {
    /// Full lifecycles: until the last receipt, or over HTTP as fast as it goes, until all messages were settled.
    pub(super) all: Figures,
    /// Those of each customer, without usage.
    pub(super) customers: Vec<(String, Figures)>,
}

/// A figure with its name and unit.
type Single = (&'static str, f64, Column);

impl<'a> Bed<'a> {
    pub(super) fn start(binaries: &'a Binaries, setup: Setup) -> Result<Bed<'a>, Failure> {
        let database = setup.on_postgres.then(|| start_database(binaries, setup.standby)).transpose()?;
        let mut bed = Bed {
            binaries,
            setup,
            database,
            receivers: Vec::new(),
            carrier_address: free_address()?,
            carrier: None,
            gateways: Vec::new(),
            accepted: 0,
            compared: 0,
            queued: (0, 0),
            settled_by_killed: 0,
        };
        bed.start_carrier()?;
        bed.start_receivers()?;
        let url = bed.database.as_ref().map(|(_, database)| url_of(database));
        for index in 0..bed.setup.nodes {
            let node = (bed.setup.nodes > 1).then(|| format!("node-{index}"));
            let (store, node) = (url.as_deref(), node.as_deref());
            bed.gateways.push(Gateway::start(binaries, &bed.setup, &bed.carrier_address, store, node)?);
        }
        Ok(bed)
    }

    /// Starts a receiver for each behaviour and gives the customers its URL.
    fn start_receivers(&mut self) -> Outcome {
        for customer in &mut self.setup.customers {
            let Some(behaviour) = customer.webhook.take() else { continue };
            let started = self.receivers.iter().find(|(other, ..)| *other == behaviour);
            let url = match started {
                Some((_, url, _)) => url.clone(),
                None if behaviour == GONE => format!("http://{}/", free_address()?),
                None => {
                    let words = format!("webhooks --listen 127.0.0.1:0 --behaviour {behaviour}");
                    let mut process = Process::start(&self.binaries.simulator, &words)?;
                    let url = process.line()?;
                    self.receivers.push((behaviour.clone(), url.clone(), process));
                    url
                }
            };
            // The healthy ones have a path each.
            let path = if behaviour == HEALTHY { &*customer.name } else { "" };
            customer.webhook = Some(url + path);
        }
        Ok(())
    }

    /// Ends the receiver that counts webhooks. Returns its report.
    pub(super) fn caught(&mut self) -> Result<Value, Failure> {
        let healthy = self.receivers.iter().position(|(behaviour, ..)| behaviour == HEALTHY);
        let healthy = healthy.ok_or_else(|| failure("no receiver counts webhooks"))?;
        serde_json::from_str(self.receivers.swap_remove(healthy).2.end()?.trim()).map_err(failure)
    }

    pub(super) fn start_carrier(&mut self) -> Outcome {
        let (address, after) = (&self.carrier_address, self.setup.receipt_after);
        let words = format!("carrier --listen {address} --receipt-after {after}");
        let mut process = Process::start(&self.binaries.simulator, &words)?;
        // The line with its address says that it listens.
        process.line()?;
        self.carrier = Some(process);
        Ok(())
    }

    /// Ends the carrier and compares its record with the messages that were accepted since the carrier before it: each submitted once,
    /// with its receipt accepted.
    pub(super) fn end_carrier(&mut self) -> Outcome {
        let Some(carrier) = self.carrier.take() else { return Ok(()) };
        compare_counts(&carrier.end()?, self.accepted - self.compared)?;
        self.compared = self.accepted;
        Ok(())
    }

    /// Returns the carrier, which is then compared by the caller.
    pub(super) fn take_carrier(&mut self) -> Result<Process, Failure> {
        self.carrier.take().ok_or_else(|| failure("the carrier was ended already"))
    }

    /// Returns the gateway, the first of several.
    pub(super) fn gateway(&self) -> &Gateway {
        &self.gateways[0]
    }

    /// Sends for customers, who are spread over the gateways; calls `meanwhile` again and again until all was sent; waits until all
    /// messages are settled and the gateways are idle.
    pub(super) fn load(
        &mut self,
        loads: &Loads,
        mut meanwhile: impl FnMut(&Bed<'_>) -> Outcome,
    ) -> Result<Loaded, Failure> {
        let (before, started) = (self.usage()?, stopwatch());
        let generators = self.start_loads(loads)?;
        let reports = std::thread::scope(|scope| {
            let running = scope.spawn(|| finish(generators));
            while !running.is_finished() {
                meanwhile(self)?;
            }
            running.join().map_err(|_| failure("the load panicked"))?
        })?;
        let mut all = Figures::sum(&reports);
        self.accepted += all.value(ACCEPTED) as u64;
        self.settle()?;
        let as_fast_as_http = |load: &Load| matches!(load.over, Over::Http { .. }) && load.rate.is_none();
        if loads.iter().all(|(_, load)| as_fast_as_http(load)) {
            all.set(REACHED, all.value(ACCEPTED) / started.elapsed().as_secs_f64());
        }
        if let Some(rate) = loads.iter().map(|(_, load)| load.rate).sum::<Option<u64>>() {
            all.set(OFFERED, rate as f64);
        }
        // What is done later belongs to the cost of a message.
        self.gateways.iter().try_for_each(|gateway| gateway.wait_until_idle(self.setup.rest))?;
        all.extend(self.usage()?.since(&before, all.value(ACCEPTED)));
        let names = loads.iter().map(|(customer, _)| customer.name.clone());
        Ok(Loaded { all, customers: names.zip(reports).collect() })
    }

    /// Starts a generator for each customer.
    fn start_loads(&self, loads: &Loads) -> Result<Vec<Generator>, Failure> {
        let gateways = self.gateways.iter().cycle();
        let started = loads.iter().zip(0..).zip(gateways).map(|(((customer, load), number), gateway)| {
            load.start(self.binaries, &gateway.listeners, customer, NUMBERS * number + self.accepted)
        });
        started.collect()
    }

    /// Makes a checkpoint. From then on PostgreSQL writes to files that it had before, as on a server that has run for a while: a new
    /// one is filled with zeros first, and nothing is committed meanwhile.
    pub(super) fn checkpoint(&self) -> Outcome {
        self.database.iter().try_for_each(|(_, database)| database.query("CHECKPOINT").map(drop))
    }

    /// Sends and counts what was accepted, but does not wait until it is settled. Returns its number.
    pub(super) fn queue(&mut self, loads: &Loads) -> Result<u64, Failure> {
        let before = self.accepted;
        let accepted = Figures::sum(&finish(self.start_loads(loads)?)?).value(ACCEPTED) as u64;
        self.accepted += accepted;
        self.queued = (before, accepted);
        Ok(accepted)
    }

    /// Waits until as many messages are settled as were queued, the few of the load among them, which starts with the first. Returns
    /// how long that took, and the figures of the load.
    pub(super) fn drain(&mut self, loads: &Loads) -> Result<([Single; 4], Figures), Failure> {
        let (returned, (before, queued)) = (stopwatch(), self.queued);
        let batches_before = self.usage()?.value(COMMITS);
        // The links reconnect by their own schedule, which is not part of the drain.
        let settled = self.wait_until_settled(before + 1)?;
        let (first, started) = (returned.elapsed().as_secs_f64(), stopwatch());
        let generators = self.start_loads(loads)?;
        let drained = (self.wait_until_settled(before + queued)? - settled) as f64;
        let (took, batches) =
            (started.elapsed().as_secs_f64(), self.usage()?.value(COMMITS) - batches_before);
        let beside = Figures::sum(&finish(generators)?);
        self.accepted += beside.value(ACCEPTED) as u64;
        self.settle()?;
        let singles = [
            ("first settled after the carrier returned", first, "s"),
            ("drained from then on in", took, "s"),
            ("batches since the carrier returned", batches, "batches"),
            ("drained", drained / took, "/s"),
        ];
        Ok((singles, beside))
    }

    /// Cancels what was queued of a customer while a load runs. Returns how long that took, and the figures of the load.
    pub(super) fn cancel(
        &mut self,
        customer: &str,
        loads: &Loads,
    ) -> Result<([Single; 3], Figures), Failure> {
        let generators = self.start_loads(loads)?;
        let started = stopwatch();
        let result = self.gateway().hermod(&["queue", "cancel", "--account", customer, "--json"])?;
        let took = started.elapsed().as_secs_f64();
        let result: serde_json::Value = serde_json::from_str(&result).map_err(failure)?;
        let cancelled = result["done"].as_f64().unwrap_or_default();
        // No carrier gets them.
        self.compared += cancelled as u64;
        let beside = Figures::sum(&finish(generators)?);
        self.accepted += beside.value(ACCEPTED) as u64;
        let singles = [
            ("cancelled", cancelled, "messages"),
            ("cancelled in", took, "s"),
            ("drained", cancelled / took, "/s"),
        ];
        Ok((singles, beside))
    }

    /// Waits until all messages are settled.
    pub(super) fn settle(&self) -> Outcome {
        self.wait_until_settled(self.accepted).map(drop)
    }

    /// Waits until this many messages are settled since the start. Returns their number.
    fn wait_until_settled(&self, messages: u64) -> Result<u64, Failure> {
        let started = stopwatch();
        loop {
            let settled = self.settled()?;
            if settled >= messages {
                return Ok(settled);
            }
            if started.elapsed() > SETTLE_WAIT {
                let what = format!("{settled} of {messages} messages were settled after {SETTLE_WAIT:?}");
                return Err(failure(what));
            }
            eprint!("\r{settled} of {messages} settled ");
            pause(POLL);
        }
    }

    /// Returns how many messages have been settled. The node with the engine counts them.
    pub(super) fn settled(&self) -> Result<u64, Failure> {
        let settled = self.gateways.iter().map(Gateway::settled).sum::<Result<u64, Failure>>()?;
        Ok(settled + self.settled_by_killed)
    }

    /// Kills the node with the engine, which is the first, and waits until the next one accepts a message of this load. Returns how
    /// long that took.
    pub(super) fn kill_engine(&mut self, load: &Loads) -> Result<Duration, Failure> {
        let (engine, queued) = (self.gateways.remove(0), self.queued);
        self.settled_by_killed += engine.settled()?;
        engine.kill()?;
        let killed = stopwatch();
        // A message that is not accepted is an error of its load.
        while self.queue(load).is_err() {
            if killed.elapsed() > SETTLE_WAIT {
                return Err(failure("no node took over"));
            }
            pause(POLL);
        }
        self.queued = queued;
        Ok(killed.elapsed())
    }

    /// Returns what the processes have used since their start.
    fn usage(&self) -> Result<Figures, Failure> {
        let mut nodes = Vec::new();
        for gateway in &self.gateways {
            let (mut usage, metrics): (Figures, Metrics) = (gateway.usage()?, gateway.metrics()?);
            for (column, name) in COUNTERS {
                metrics.total(name).into_iter().for_each(|count| usage.set(column, count));
            }
            nodes.push(usage);
        }
        let mut usage = Figures::sum(&nodes);
        if let Some(carrier) = &self.carrier {
            usage.set(CARRIER, carrier.usage()?.value(CPU));
        }
        if let Some((_, database)) = &self.database {
            let servers = std::iter::once(&database.primary).chain(&database.standby);
            usage.set(POSTGRES, servers.map(|server| cpu_with_children(server.id())).sum());
        }
        Ok(usage)
    }

    /// Stops the only gateway, lets `change` work on its data folder, and starts it again.
    pub(super) fn change_data(&mut self, change: impl FnOnce(&Path) -> Outcome) -> Outcome {
        let gateway = self.gateways.pop().ok_or_else(|| failure("no gateway"))?;
        self.gateways.push(gateway.change_data(change)?);
        Ok(())
    }

    /// Ends the processes, audits the store and compares the carrier's record.
    pub(super) fn end(mut self) -> Outcome {
        if let Some(last) = self.gateways.pop() {
            self.gateways.drain(..).try_for_each(Gateway::end)?;
            last.end_and_audit(self.accepted)?;
        }
        self.end_carrier()?;
        let Some((folder, database)) = self.database else { return Ok(()) };
        database.stop()?;
        remove(&folder)
    }
}

/// For a load beside which nothing is done.
pub(super) fn rest(_: &Bed<'_>) -> Outcome {
    pause(GENERATOR_POLL);
    Ok(())
}

fn finish(generators: Vec<Generator>) -> Result<Vec<Figures>, Failure> {
    generators.into_iter().map(Generator::finish).collect()
}

/// Returns where gateways reach the store.
fn url_of(database: &Database) -> String {
    let (role, password, name) = (database::ROLE, database::PASSWORD, database::DATABASE);
    format!("postgres://{role}:{password}@127.0.0.1:{}/{name}", database.port)
}

fn start_database(binaries: &Binaries, standby: bool) -> Result<(PathBuf, Database), Failure> {
    let folder = fresh_folder()?;
    let certificates = folder.join("tls");
    make_certificates(&binaries.simulator, &certificates, &["127.0.0.1", "127.0.0.2"])?;
    let mut database = Database::start(&folder, &certificates, POSTGRES_SETTINGS)?;
    if standby {
        database.add_standby()?;
    }
    Ok((folder, database))
}
