//! `cargo xtask bench nodes`: messages per second end to end on the embedded store, on PostgreSQL, and with three nodes on
//! PostgreSQL, with the same load in the same run.

use clap::Args;

use super::Programs;
use super::bed::Bed;
use super::gateway::Setup;
use super::load::{Length, Load, Over};
use super::profile::Protocol;
use super::{Judged, median, missed};
use crate::gateway_files::Customer;
use crate::shell::Failure;

const CUSTOMERS: usize = 3;

#[derive(Args)]
pub(crate) struct NodesOptions {
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
    over: Protocol,
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

/// Runs: name, number of nodes, and whether on PostgreSQL.
type Run = (&'static str, usize, bool);
const EMBEDDED: Run = ("embedded store, one gateway", 1, false);
const ONE_NODE: Run = ("PostgreSQL, one node", 1, true);
const THREE_NODES: Run = ("PostgreSQL, three nodes", 3, true);

pub(super) fn run(programs: &Programs, options: &NodesOptions) -> Judged {
    let without_record = options.without_record.then(|| programs.without_record());
    let programs = without_record.as_ref().unwrap_or(programs);
    measure(programs, options, EMBEDDED)?;
    let (mut one, mut three) = (Vec::new(), Vec::new());
    for round in 0..options.rounds.max(1) {
        // Every other round the other way round, so that a machine that gets slower does not favour one of them.
        let mut runs = [(ONE_NODE, &mut one), (THREE_NODES, &mut three)];
        runs.rotate_left(round % 2);
        for (run, rates) in runs {
            rates.push(measure(programs, options, run)?);
        }
    }
    let ratios: Vec<f64> = three.iter().zip(&one).map(|(three, one)| three / one.max(1e-9)).collect();
    let listed: Vec<String> = ratios.iter().map(|ratio| format!("{ratio:.2}")).collect();
    let of = |values| median(values).unwrap_or_default();
    let (one, three, ratio) = (of(one), of(three), of(ratios));
    println!("medians: one node {one:.0} /s, three nodes {three:.0} /s");
    println!("three nodes / one node on PostgreSQL: {ratio:.2} (rounds: {})", listed.join(", "));
    let (checked, floor) = (!options.short, options.floor);
    let below = || format!("one node on PostgreSQL: {one:.0} messages per second are below {floor:.0}");
    let slower = || format!("three nodes carried {ratio:.2} of what one did");
    Ok([missed(checked && one < floor, below), missed(checked && ratio < 1.0, slower)].concat())
}

/// Returns the rate of full lifecycles.
fn measure(
    programs: &Programs,
    options: &NodesOptions,
    (name, nodes, on_postgres): Run,
) -> Result<f64, Failure> {
    let customers = (1..=CUSTOMERS).map(|number| Customer::new(format!("bench-{number}"))).collect();
    // One link for each node.
    let setup =
        Setup { customers, on_postgres, standby: options.standby, nodes, links: 3, ..Setup::default() };
    let over = match options.over {
        Protocol::Smpp => Over::Smpp { binds: 1, window: options.window, tls: false },
        Protocol::Http => Over::Http { connections: options.window, flags: &[] },
    };
    let length = Length::Seconds(if options.short { 2 } else { options.seconds });
    let mut bed = Bed::start(programs, setup)?;
    let loaded = bed.load(&Load { over, rate: None, length })?;
    println!("\n{name}");
    loaded.print();
    bed.end()?;
    Ok(loaded.per_second)
}
