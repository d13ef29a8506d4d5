//! Benchmarks: the real binaries as separate processes on the loopback, each figure beside a reference from the same run, because
//! figures depend on the machine. `scenarios` is the table of benchmarks; the rest runs any of them.

mod bed;
mod binds;
mod chart;
mod figures;
mod gateway;
mod load;
mod mute;
mod options;
mod phases;
mod portal;
mod process;
mod record;
mod results;
mod scenarios;
mod soak;
mod webhooks;

use std::path::{Path, PathBuf};

use clap::{ArgMatches, Args, Command, FromArgMatches, Subcommand};

use self::options::Options;
use self::results::Results;
use self::scenarios::{SCENARIOS, Scenario};
use crate::programs::Binaries;
use crate::shell::{self, Failure, Outcome, pause, stopwatch};

/// Above this load average before the start, other processes disturb the figures.
const BUSY_LOAD: f64 = 1.0;
const BUSY_NOTE: &str = "The machine is busy: latencies are too long, and commits and bytes per message too few, because more \
                         messages wait for each commit. Compare only what was measured in turn.";

#[derive(Args)]
pub(crate) struct Benchmark {
    /// Measure this hermod instead of building one
    #[arg(long, global = true, value_name = "FILE")]
    binary: Option<PathBuf>,
    /// Use this hermod-sim; by default the one beside --binary
    #[arg(long, global = true, value_name = "FILE")]
    simulator: Option<PathBuf>,
    /// Write the results to this file, in Markdown
    #[arg(long, global = true, value_name = "FILE")]
    markdown: Option<PathBuf>,
    #[command(subcommand)]
    chosen: Chosen,
}

/// A scenario and the options that it was given.
struct Chosen {
    scenario: &'static Scenario,
    options: Options,
}

impl FromArgMatches for Chosen {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Chosen, clap::Error> {
        let given = matches.subcommand().and_then(|(name, given)| {
            let scenario = SCENARIOS.iter().find(|scenario| scenario.name == name)?;
            Some(Chosen { scenario, options: Options(given.clone()) })
        });
        given.ok_or_else(|| clap::Error::new(clap::error::ErrorKind::MissingSubcommand))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Chosen::from_arg_matches(matches)?;
        Ok(())
    }
}

impl Subcommand for Chosen {
    fn augment_subcommands(command: Command) -> Command {
        command.subcommands(SCENARIOS.iter().map(Scenario::command)).subcommand_required(true)
    }

    fn augment_subcommands_for_update(command: Command) -> Command {
        Chosen::augment_subcommands(command)
    }

    fn has_subcommand(name: &str) -> bool {
        SCENARIOS.iter().any(|scenario| scenario.name == name)
    }
}

/// Runs a scenario, prints and judges its results.
pub(crate) fn run(benchmark: &Benchmark) -> Outcome {
    let Benchmark { binary, simulator, markdown, chosen: Chosen { scenario, options } } = benchmark;
    let binaries = Binaries::find(binary.as_deref(), simulator.as_deref(), "dist")?;
    let plan = (scenario.plan)(options)?;
    let before = load_average();
    println!("load average before: {before}");
    let last_minute = before.split(' ').next().and_then(|load| load.parse::<f64>().ok());
    if last_minute.is_some_and(|load| load > BUSY_LOAD) {
        println!("{BUSY_NOTE}");
    }
    let mut results = Results::new(&scenario.table);
    for (run, number) in plan.iter().zip(1..) {
        eprintln!("run {number} of {}: {} {}", plan.len(), run.label, run.variant);
        if let Err(Failure(why)) = run.execute(&binaries, options, &mut results) {
            results.fail(&run.label, run.variant, &why);
        }
    }
    results.print_summary();
    let after = load_average();
    println!("\nload average after: {after}");
    if let Some(file) = markdown {
        write(file, &(facts(&binaries, [&before, &after]) + &results.text))?;
    }
    if let Some(file) = options.text("svg") {
        write(Path::new(file), &chart::svg(&results.lines))?;
    }
    let missed = results.judge(options);
    if missed.is_empty() { Ok(()) } else { Err(failure(missed.join("; "))) }
}

/// Returns how the figures were measured, as a sentence.
fn facts(binaries: &Binaries, [before, after]: [&str; 2]) -> String {
    let version = shell::output_of(&binaries.hermod.to_string_lossy(), &["--version"]).unwrap_or_default();
    let cores = std::thread::available_parallelism().map_or(0, std::num::NonZero::get);
    let command: Vec<String> = std::env::args().skip(1).collect();
    format!(
        "`cargo xtask {}`: {}; {cores} cores, load average {before} before and {after} after, the bench included. CPU, bytes \
         written, commits and fsyncs are per message, CPU and bytes of the gateway alone where nothing else is said.\n",
        command.join(" "),
        version.trim()
    )
}

fn write(file: &Path, text: &str) -> Outcome {
    std::fs::write(file, text).map_err(|cause| failure(format!("{}: {cause}", file.display())))
}

fn failure(what: impl std::fmt::Display) -> Failure {
    Failure(what.to_string())
}

/// The load of the machine by other processes, which figures depend on.
fn load_average() -> String {
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    load.split_whitespace().take(3).collect::<Vec<_>>().join(" ")
}
