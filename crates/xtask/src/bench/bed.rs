//! The processes of one run, and what every benchmark does with them: starts PostgreSQL, a carrier and the gateways, loads them,
//! waits until all messages are settled, measures what that took, audits the store, compares the carrier's record, and ends them.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::Programs;
use super::gateway::{Carrier, Gateway, Setup, free_address, fresh_folder};
use super::load::{Generator, Length, Load, Over, Report};
use super::process::{Usage, cpu_with_children};
use super::{failure, float, pause, stopwatch};
use crate::cluster::database::{self, Database};
use crate::cluster::files::make_certificates;
use crate::gateway_files::Customer;
use crate::shell::{Failure, Outcome};

/// Time for all accepted messages to be settled after the load.
const SETTLE_WAIT: Duration = Duration::from_secs(900);
const POLL: Duration = Duration::from_millis(100);
/// Between two looks whether the generators have ended.
const GENERATOR_POLL: Duration = Duration::from_millis(10);
/// Numbers of messages that one customer has for itself.
const NUMBERS: u64 = 100_000_000;
/// As in deploy/patroni/patroni.yml.
const POSTGRES_SETTINGS: &str = "max_wal_size=8GB";

pub(super) struct Bed<'a> {
    programs: &'a Programs,
    setup: Setup,
    database: Option<(PathBuf, Database)>,
    carrier_address: String,
    carrier: Option<Carrier>,
    gateways: Vec<Gateway>,
    /// Messages that were accepted, and those that earlier carriers have been compared with.
    accepted: u64,
    compared: u64,
    /// Messages that were settled by nodes that were killed.
    settled_by_killed: u64,
}

/// What a load did.
pub(super) struct Loaded {
    /// One for each customer.
    pub(super) reports: Vec<Report>,
    pub(super) accepted: u64,
    /// Full lifecycles: until the last receipt, or over HTTP as fast as it goes, until all messages were settled.
    pub(super) per_second: f64,
    pub(super) cost: Cost,
}

/// What the processes have used.
#[derive(Clone, Copy, Default)]
pub(super) struct Cost {
    /// Of all gateways together.
    pub(super) gateways: Usage,
    postgres: Duration,
    carrier: Duration,
    batches: u64,
}

impl<'a> Bed<'a> {
    pub(super) fn start(programs: &'a Programs, setup: Setup) -> Result<Bed<'a>, Failure> {
        let database = setup.on_postgres.then(|| start_database(programs, setup.standby)).transpose()?;
        let mut bed = Bed {
            programs,
            setup,
            database,
            carrier_address: free_address()?,
            carrier: None,
            gateways: Vec::new(),
            accepted: 0,
            compared: 0,
            settled_by_killed: 0,
        };
        bed.start_carrier()?;
        let url = bed.database.as_ref().map(|(_, database)| url_of(database));
        for index in 0..bed.setup.nodes {
            let node = (bed.setup.nodes > 1).then(|| format!("node-{index}"));
            let (store, node) = (url.as_deref(), node.as_deref());
            let gateway = Gateway::start_with(programs, &bed.setup, &bed.carrier_address, store, node)?;
            bed.gateways.push(gateway);
        }
        Ok(bed)
    }

    pub(super) fn start_carrier(&mut self) -> Outcome {
        let flags = ["--receipt-after", self.setup.receipt_after];
        self.carrier = Some(Carrier::start(self.programs, &self.carrier_address, &flags)?);
        Ok(())
    }

    /// Ends the carrier and compares its record with the messages that were accepted since the carrier before it.
    pub(super) fn end_carrier(&mut self) -> Outcome {
        let Some(carrier) = self.carrier.take() else { return Ok(()) };
        carrier.end_and_compare(self.accepted - self.compared)?;
        self.compared = self.accepted;
        Ok(())
    }

    /// Returns the gateway, the first of several.
    pub(super) fn gateway(&self) -> &Gateway {
        &self.gateways[0]
    }

    /// Sends for all customers and waits until all messages are settled.
    pub(super) fn load(&mut self, load: &Load) -> Result<Loaded, Failure> {
        self.load_while(load, rest)
    }

    /// As `load`; calls `meanwhile` again and again until all was sent.
    pub(super) fn load_while(
        &mut self,
        load: &Load,
        meanwhile: impl FnMut(&Bed<'_>) -> Outcome,
    ) -> Result<Loaded, Failure> {
        let customers = self.setup.customers.clone();
        self.load_for(&customers, load, meanwhile)
    }

    /// As `load_while`, for these customers, who are spread over the gateways. Fails if a generator did not reach its rate.
    pub(super) fn load_for(
        &mut self,
        customers: &[Customer],
        load: &Load,
        meanwhile: impl FnMut(&Bed<'_>) -> Outcome,
    ) -> Result<Loaded, Failure> {
        let loaded = self.offer(customers, load, meanwhile)?;
        check_all_sent(&loaded.reports)?;
        Ok(loaded)
    }

    /// As `load_for`, for a benchmark that judges itself whether the rate was reached.
    pub(super) fn offer(
        &mut self,
        customers: &[Customer],
        load: &Load,
        meanwhile: impl FnMut(&Bed<'_>) -> Outcome,
    ) -> Result<Loaded, Failure> {
        self.offer_each(&each(customers, load), meanwhile)
    }

    /// As `offer`, with a load of its own for each customer.
    pub(super) fn offer_each(
        &mut self,
        loads: &[(Customer, Load)],
        mut meanwhile: impl FnMut(&Bed<'_>) -> Outcome,
    ) -> Result<Loaded, Failure> {
        let (before, started) = (self.cost()?, stopwatch());
        let generators = self.start_loads(loads)?;
        let reports = std::thread::scope(|scope| {
            let running =
                scope.spawn(|| generators.into_iter().map(Generator::finish).collect::<Result<Vec<_>, _>>());
            while !running.is_finished() {
                meanwhile(self)?;
            }
            running.join().map_err(|_| failure("the load panicked"))?
        })?;
        let accepted = reports.iter().map(|report| report.accepted).sum();
        self.wait_until_settled(accepted)?;
        let as_fast_as_http = |load: &Load| matches!(load.over, Over::Http { .. }) && load.rate.is_none();
        let per_second = if loads.iter().all(|(_, load)| as_fast_as_http(load)) {
            float(accepted) / started.elapsed().as_secs_f64()
        } else {
            reports.iter().map(|report| report.per_second).sum()
        };
        Ok(Loaded { reports, accepted, per_second, cost: self.cost()?.since(before) })
    }

    /// Starts a generator for each customer.
    pub(super) fn start_loads(&self, loads: &[(Customer, Load)]) -> Result<Vec<Generator>, Failure> {
        let gateways = self.gateways.iter().cycle();
        let started = loads.iter().zip(0..).zip(gateways).map(|(((customer, load), number), gateway)| {
            load.start(self.programs, &gateway.listeners, customer, NUMBERS * number + self.accepted)
        });
        started.collect()
    }

    /// Sends for these customers and counts what was accepted, but does not wait until it is settled. Returns its number.
    pub(super) fn fill(&mut self, customers: &[Customer], load: &Load) -> Result<u64, Failure> {
        let generators = self.start_loads(&each(customers, load))?.into_iter();
        let reports: Vec<Report> = generators.map(Generator::finish).collect::<Result<_, _>>()?;
        let accepted = reports.iter().map(|report| report.accepted).sum();
        self.accepted += accepted;
        Ok(accepted)
    }

    /// Waits until these further messages are settled, and counts them.
    pub(super) fn wait_until_settled(&mut self, messages: u64) -> Outcome {
        self.accepted += messages;
        self.wait_until_in_all(self.accepted).map(|_| ())
    }

    /// Waits until this many messages are settled since the start. Returns their number.
    pub(super) fn wait_until_in_all(&self, messages: u64) -> Result<u64, Failure> {
        let started = stopwatch();
        loop {
            let settled = self.settled()?;
            if settled >= messages {
                return Ok(settled);
            }
            if started.elapsed() > SETTLE_WAIT {
                return Err(failure(format!(
                    "{settled} of {messages} messages were settled after {SETTLE_WAIT:?}"
                )));
            }
            eprint!("\r{settled} of {messages} settled ");
            pause(POLL);
        }
    }

    /// Returns how many messages have been settled. The node with the engine counts them.
    pub(super) fn settled(&self) -> Result<u64, Failure> {
        self.gateways
            .iter()
            .map(Gateway::settled)
            .sum::<Result<u64, Failure>>()
            .map(|sum| sum + self.settled_by_killed)
    }

    /// Kills the node with the engine, which is the first, and waits until the next one accepts a message of this customer. Returns
    /// how long that took.
    pub(super) fn kill_engine(&mut self, customer: &Customer) -> Result<Duration, Failure> {
        let engine = self.gateways.remove(0);
        self.settled_by_killed += engine.settled()?;
        engine.kill()?;
        let killed = stopwatch();
        // A message that is not accepted is an error of its load.
        while self.fill(std::slice::from_ref(customer), &Load::http(Length::Messages(1))).is_err() {
            if killed.elapsed() > SETTLE_WAIT {
                return Err(failure("no node took over"));
            }
            pause(POLL);
        }
        Ok(killed.elapsed())
    }

    /// Returns what the processes have used since their start.
    pub(super) fn cost(&self) -> Result<Cost, Failure> {
        let mut cost = Cost::default();
        for gateway in &self.gateways {
            cost.gateways = cost.gateways.plus(gateway.usage()?);
            cost.batches += gateway.batches()?;
        }
        if let Some(carrier) = &self.carrier {
            cost.carrier = carrier.usage()?.cpu;
        }
        if let Some((_, database)) = &self.database {
            let servers = std::iter::once(&database.primary).chain(&database.standby);
            cost.postgres = servers.map(|server| cpu_with_children(server.id())).sum();
        }
        Ok(cost)
    }

    /// Stops the only gateway, lets `change` work on its data folder, and starts it again.
    pub(super) fn change_data(&mut self, change: impl FnOnce(&Path) -> Outcome) -> Outcome {
        let gateway = self.gateways.pop().ok_or_else(|| failure("no gateway"))?;
        self.gateways.push(gateway.change_data(change)?);
        Ok(())
    }

    /// Ends the processes, audits the store and compares the carrier's record.
    pub(super) fn end(mut self) -> Outcome {
        let last = self.gateways.pop().ok_or_else(|| failure("no gateway"))?;
        self.gateways.drain(..).try_for_each(Gateway::end)?;
        last.end_and_audit(self.accepted)?;
        self.end_carrier()?;
        let Some((folder, database)) = self.database else { return Ok(()) };
        database.stop()?;
        std::fs::remove_dir_all(folder).map_err(failure)
    }
}

/// The same load for each customer.
pub(super) fn each(customers: &[Customer], load: &Load) -> Vec<(Customer, Load)> {
    customers.iter().map(|customer| (customer.clone(), *load)).collect()
}

/// Fails if messages were due and not sent: the figures would be those of a lower rate.
pub(super) fn check_all_sent(reports: &[Report]) -> Outcome {
    match reports.iter().map(|report| report.unsent).sum::<u64>() {
        0 => Ok(()),
        unsent => Err(failure(format!("the rate was not reached: {unsent} messages were due and not sent"))),
    }
}

/// For a load beside which nothing is done.
pub(super) fn rest(_: &Bed<'_>) -> Outcome {
    pause(GENERATOR_POLL);
    Ok(())
}

impl Cost {
    pub(super) fn since(self, earlier: Cost) -> Cost {
        Cost {
            gateways: self.gateways.since(earlier.gateways),
            postgres: self.postgres.saturating_sub(earlier.postgres),
            carrier: self.carrier.saturating_sub(earlier.carrier),
            batches: self.batches - earlier.batches,
        }
    }
}

impl Loaded {
    /// Returns the report of the only customer.
    pub(super) fn report(&self) -> &Report {
        &self.reports[0]
    }

    pub(super) fn print(&self) {
        let Cost { gateways, postgres, carrier, batches } = self.cost;
        println!("  hermod end to end  {:>9.0} /s   {} messages, no errors", self.per_second, self.accepted);
        for report in &self.reports {
            println!("    customer         {:>9.0} /s   {}", report.per_second, report.latencies());
        }
        let each = |amount: u128| amount / u128::from(self.accepted.max(1));
        let generators: Duration = self.reports.iter().map(|report| report.cpu).sum();
        let [gateway, postgres, carrier, generators] =
            [gateways.cpu, postgres, carrier, generators].map(|cpu| each(cpu.as_micros()));
        let postgres = if postgres > 0 { format!(", {postgres} us PostgreSQL") } else { String::new() };
        println!(
            "    CPU per message  {gateway:>9} us   gateway{postgres}, {carrier} us carrier, {generators} us generator"
        );
        println!("    written          {:>9} bytes per message", each(gateways.written_bytes.into()));
        println!("    in a batch       {:>9} messages", self.accepted / batches.max(1));
        println!("    memory           {:>9} MiB at most", gateways.resident_peak_bytes >> 20);
    }
}

/// Returns where gateways reach the store.
fn url_of(database: &Database) -> String {
    let (role, password, name) = (database::ROLE, database::PASSWORD, database::DATABASE);
    format!("postgres://{role}:{password}@127.0.0.1:{}/{name}", database.port)
}

fn start_database(programs: &Programs, standby: bool) -> Result<(PathBuf, Database), Failure> {
    let folder = fresh_folder()?;
    let certificates = folder.join("tls");
    make_certificates(&programs.simulator, &certificates, &["127.0.0.1", "127.0.0.2"])?;
    let mut database = Database::start(&folder, &certificates, POSTGRES_SETTINGS)?;
    if standby {
        database.add_standby()?;
    }
    Ok((folder, database))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn load_with_unsent_messages_fails() {
        let report = |unsent| Report { accepted: 10, unsent, ..Report::default() };
        assert!(check_all_sent(&[report(0), report(0)]).is_ok());
        let failed = check_all_sent(&[report(0), report(3)]).map_err(|failure| failure.to_string());
        assert_eq!(failed, Err("the rate was not reached: 3 messages were due and not sent".to_owned()));
    }
}
