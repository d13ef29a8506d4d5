//! `cargo xtask bench nodes`: messages per second end to end on the embedded store, on PostgreSQL, and with three nodes on
//! PostgreSQL, with the same load in the same run.

use std::time::Duration;

use clap::Args;

use super::gateway::{Carrier, Gateway, fresh_folder};
use super::nodes_load::{CustomerLoad, CustomerReport, Over};
use super::process::cpu_with_children;
use super::programs::Programs;
use super::{failure, load_average, median, pause, start_watch};
use crate::cluster::database::{self, Database};
use crate::cluster::files::make_certificates;
use crate::shell::{Failure, Outcome};

const CUSTOMERS: usize = 3;
/// Time for all accepted messages to be settled after the load.
const SETTLE_WAIT: Duration = Duration::from_secs(120);
const POLL: Duration = Duration::from_millis(100);
/// As in deploy/patroni/patroni.yml.
const POSTGRES_SETTINGS: &str = "max_wal_size=8GB";

#[derive(Args)]
pub(crate) struct Options {
    /// Seconds of each run
    #[arg(long, default_value_t = 30)]
    seconds: u64,
    /// Two seconds per run, to test the benchmark
    #[arg(long)]
    short: bool,
    /// How often one node and three nodes are measured, in turn: the speed of a machine changes while it is measured
    #[arg(long, default_value_t = 1)]
    rounds: usize,
    /// How the customers submit
    #[arg(long, value_enum, default_value = "smpp")]
    over: Over,
    /// Messages without a response per customer: the window of its bind, or its HTTP connections
    #[arg(long, default_value_t = 100)]
    window: u32,
    /// Run PostgreSQL with a synchronous standby
    #[arg(long)]
    standby: bool,
    /// Keep no record, on one node or three: each node has its own, which all share the processors here
    #[arg(long)]
    without_record: bool,
    /// Fail below this many messages per second with one node on PostgreSQL, or if three nodes are slower than one
    #[arg(long, default_value_t = 8_000.0)]
    floor: f64,
}

/// One run.
#[derive(Clone, Copy)]
struct Setup {
    name: &'static str,
    nodes: usize,
    on_postgres: bool,
}

const EMBEDDED: Setup = Setup { name: "embedded store, one gateway", nodes: 1, on_postgres: false };
const ONE_NODE: Setup = Setup { name: "PostgreSQL, one node", nodes: 1, on_postgres: true };
const THREE_NODES: Setup = Setup { name: "PostgreSQL, three nodes", nodes: 3, on_postgres: true };

pub(crate) fn run(programs: &Programs, options: &Options) -> Outcome {
    let without_record = options.without_record.then(|| programs.without_record());
    let programs = without_record.as_ref().unwrap_or(programs);
    let measure_and_print = |setup| -> Result<f64, Failure> {
        let measured = measure(programs, options, setup)?;
        measured.print(setup);
        Ok(measured.per_second())
    };
    println!("load average before: {}", load_average());
    measure_and_print(EMBEDDED)?;
    let (mut one, mut three) = (Vec::new(), Vec::new());
    for round in 0..options.rounds.max(1) {
        // Every other round the other way round, so that a machine that gets slower does not favour one of them.
        if round % 2 == 0 {
            one.push(measure_and_print(ONE_NODE)?);
            three.push(measure_and_print(THREE_NODES)?);
        } else {
            three.push(measure_and_print(THREE_NODES)?);
            one.push(measure_and_print(ONE_NODE)?);
        }
    }
    println!("load average after:  {}", load_average());
    let ratios: Vec<f64> = three.iter().zip(&one).map(|(three, one)| three / one.max(1e-9)).collect();
    let listed: Vec<String> = ratios.iter().map(|ratio| format!("{ratio:.2}")).collect();
    let of = |values| median(values).unwrap_or_default();
    let (one, three, ratio) = (of(one), of(three), of(ratios));
    println!("medians: one node {one:.0} /s, three nodes {three:.0} /s");
    println!("three nodes / one node on PostgreSQL: {ratio:.2} (rounds: {})", listed.join(", "));
    if options.short {
        return Ok(());
    }
    if one < options.floor {
        return Err(failure(format!(
            "one node on PostgreSQL: {one:.0} messages per second are below {:.0}",
            options.floor
        )));
    }
    if ratio < 1.0 {
        return Err(failure(format!("three nodes carried {ratio:.2} of what one did")));
    }
    Ok(())
}

/// CPU times at one moment.
#[derive(Clone, Copy, Default)]
struct Cpu {
    gateways: Duration,
    postgres: Duration,
    carrier: Duration,
}

struct Measured {
    loads: Vec<CustomerReport>,
    /// From the first message until all were settled.
    took: Duration,
    over: Over,
    cpu: Cpu,
    batches: u64,
    memory_bytes: u64,
}

/// The processes of one run.
struct Run {
    carrier: Carrier,
    database: Option<Database>,
    gateways: Vec<Gateway>,
}

impl Run {
    fn cpu(&self) -> Result<Cpu, Failure> {
        let mut cpu = Cpu { carrier: self.carrier.usage()?.cpu, ..Cpu::default() };
        for gateway in &self.gateways {
            cpu.gateways += gateway.usage()?.cpu;
        }
        if let Some(database) = &self.database {
            let servers = std::iter::once(&database.primary).chain(&database.standby);
            cpu.postgres = servers.map(|server| cpu_with_children(server.id())).sum();
        }
        Ok(cpu)
    }
}

fn measure(programs: &Programs, options: &Options, setup: Setup) -> Result<Measured, Failure> {
    let seconds = if options.short { 2 } else { options.seconds };
    let customers: Vec<String> = (1..=CUSTOMERS).map(|number| format!("bench-{number}")).collect();
    let carrier = Carrier::start(programs, &["--receipt-after", "1ms"])?;
    let database = setup.on_postgres.then(|| start_database(programs, options.standby)).transpose()?;
    let url = database.as_ref().map(|(_, database)| url_of(database));
    let (mut gateways, mut nodes) = (Vec::new(), Vec::new());
    for index in 0..setup.nodes {
        let name = format!("node-{index}");
        let node = (setup.nodes > 1).then_some(name.as_str());
        let (gateway, address) =
            Gateway::start_for_customers(programs, &carrier.address, &customers, url.as_deref(), node)?;
        nodes.push((address, gateway.base_url.clone()));
        gateways.push(gateway);
    }
    let (folder, database) = database.unzip();
    let run = Run { carrier, database, gateways };
    let measured = run.load(programs, options, seconds, &customers, &nodes)?;
    run.end(&measured)?;
    folder.map_or(Ok(()), |folder| std::fs::remove_dir_all(folder).map_err(failure))?;
    Ok(measured)
}

/// Returns where gateways reach the store.
pub(super) fn url_of(database: &Database) -> String {
    let (role, password, name) = (database::ROLE, database::PASSWORD, database::DATABASE);
    format!("postgres://{role}:{password}@127.0.0.1:{}/{name}", database.port)
}

pub(super) fn start_database(
    programs: &Programs,
    standby: bool,
) -> Result<(std::path::PathBuf, Database), Failure> {
    let folder = fresh_folder()?;
    let certificates = folder.join("tls");
    make_certificates(&programs.simulator, &certificates, &["127.0.0.1", "127.0.0.2"])?;
    let mut database = Database::start(&folder, &certificates, POSTGRES_SETTINGS)?;
    if standby {
        database.add_standby()?;
    }
    Ok((folder, database))
}

impl Run {
    /// Runs the generators, and waits until all messages are settled.
    fn load(
        &self,
        programs: &Programs,
        options: &Options,
        seconds: u64,
        customers: &[String],
        nodes: &[(String, String)],
    ) -> Result<Measured, Failure> {
        let (before, started) = (self.cpu()?, start_watch());
        let mut running = Vec::new();
        for ((customer, number), node) in customers.iter().zip(0..).zip(nodes.iter().cycle()) {
            let (over, at_once) = (options.over, options.window);
            let load = CustomerLoad { over, customer, number, node, at_once, seconds };
            running.push(load.start(programs)?);
        }
        let loads = running.into_iter().map(|load| load.finish()).collect::<Result<Vec<_>, _>>()?;
        self.wait_until_settled(loads.iter().map(|load| load.accepted).sum())?;
        let (took, cpu) = (started.elapsed(), self.cpu()?.since(before));
        let memory = |sum, gateway: &Gateway| gateway.usage().map(|usage| sum + usage.resident_peak_bytes);
        let memory_bytes = self.gateways.iter().try_fold(0, memory)?;
        let batches =
            self.gateways.iter().try_fold(0, |sum, gateway| gateway.batches().map(|own| sum + own))?;
        Ok(Measured { loads, took, over: options.over, cpu, batches, memory_bytes })
    }

    /// The node with the engine counts the messages.
    fn wait_until_settled(&self, messages: u64) -> Outcome {
        let started = start_watch();
        loop {
            let settled =
                self.gateways.iter().try_fold(0, |sum, gateway| gateway.settled().map(|own| sum + own))?;
            if settled >= messages {
                return Ok(());
            }
            if started.elapsed() > SETTLE_WAIT {
                return Err(failure(format!(
                    "{settled} of {messages} messages were settled after {SETTLE_WAIT:?}"
                )));
            }
            pause(POLL);
        }
    }

    /// Ends the processes, audits the store and compares the carrier's record.
    fn end(self, measured: &Measured) -> Outcome {
        let Run { carrier, database, gateways } = self;
        let mut gateways = gateways.into_iter();
        let last = gateways.next_back().ok_or_else(|| failure("no gateway"))?;
        gateways.try_for_each(Gateway::end)?;
        last.end_and_audit(measured.accepted())?;
        carrier.end_and_compare(measured.accepted())?;
        database.map_or(Ok(()), Database::stop)
    }
}

impl Cpu {
    fn since(self, earlier: Cpu) -> Cpu {
        Cpu {
            gateways: self.gateways.saturating_sub(earlier.gateways),
            postgres: self.postgres.saturating_sub(earlier.postgres),
            carrier: self.carrier.saturating_sub(earlier.carrier),
        }
    }
}

impl Measured {
    fn accepted(&self) -> u64 {
        self.loads.iter().map(|load| load.accepted).sum()
    }

    /// Returns the rate of the full lifecycle: over SMPP until the last receipt, over HTTP until all were settled.
    fn per_second(&self) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "a count of messages, for a rate with three digits")]
        match self.over {
            Over::Smpp => self.loads.iter().map(|load| load.per_second).sum(),
            Over::Http => self.accepted() as f64 / self.took.as_secs_f64(),
        }
    }

    fn print(&self, setup: Setup) {
        let per_message = |amount: u128| amount / u128::from(self.accepted().max(1));
        let generators: Duration = self.loads.iter().map(|load| load.cpu).sum();
        println!("\n{}", setup.name);
        println!(
            "  end to end         {:>9.0} /s   {} messages, no errors",
            self.per_second(),
            self.accepted()
        );
        for (number, load) in self.loads.iter().enumerate() {
            println!("    customer {}       {:>9.0} /s   {}", number + 1, load.per_second, load.latencies);
        }
        println!(
            "  CPU per message    {:>9} us   gateway{}; {} us PostgreSQL, {} us generators, {} us carrier",
            per_message(self.cpu.gateways.as_micros()),
            if setup.nodes > 1 { "s" } else { "" },
            per_message(self.cpu.postgres.as_micros()),
            per_message(generators.as_micros()),
            per_message(self.cpu.carrier.as_micros())
        );
        println!("  messages per batch {:>9}", self.accepted() / self.batches.max(1));
        println!("  memory             {:>9} MiB at most, gateways", self.memory_bytes >> 20);
    }
}
