//! Tests of the gate with more of what they do: `cargo xtask crash` with more kills than its fifty, `cargo xtask chaos` with more
//! messages and more faults, `cargo xtask simulate` with more commands of the engine than its million, or more seeds of the store
//! than its 48, and `cargo xtask screenshots` with pictures of every page of the demo, wide and on a phone, light and dark.

use std::path::PathBuf;
use std::process::Command;

use clap::{Args, Subcommand};

use crate::postgres;
use crate::shell::{self, Failure, Outcome};

/// Makes a run of a crate's tests with this in their names, optimised. A value that is none is left to the tests.
fn tests(package: &str, names: &str, values: &[(&str, Option<String>)]) -> Command {
    let mut tests =
        shell::command("cargo", &["test", "--release", "--package", package, "--test", "it", "--"]);
    tests.args([names, "--nocapture"]);
    for (name, value) in values {
        tests.envs(value.as_ref().map(|value| (name, value)));
    }
    tests
}

fn text(number: Option<u64>) -> Option<String> {
    number.map(|number| number.to_string())
}

#[derive(Args)]
pub(crate) struct CrashOptions {
    /// How often the gateway is killed
    #[arg(long, default_value_t = 200)]
    cycles: u64,
    /// Seed, to repeat an earlier run
    #[arg(long)]
    seed: Option<u64>,
}

pub(crate) fn crash(options: &CrashOptions) -> Outcome {
    let values =
        [("HERMOD_CRASH_CYCLES", text(Some(options.cycles))), ("HERMOD_CRASH_SEED", text(options.seed))];
    shell::run(tests("hermod", "crash::", &values))
}

#[derive(Args)]
pub(crate) struct SimulateOptions {
    /// How many commands are run; every 10,000 of them begin with empty tables and a seed of their own
    #[arg(long, default_value_t = 100_000_000)]
    steps: u64,
    /// The seed of the first run, as a failure prints it
    #[arg(long)]
    seed: Option<u64>,
    /// Runs the store against its model instead, this often; each run has a seed of its own
    #[arg(long, conflicts_with_all = ["steps", "seed"])]
    store_seeds: Option<u32>,
}

/// Runs the engine, or the store against its model: a failure there prints the operations and keeps its seed in
/// `model/mod.regressions`.
pub(crate) fn simulate(options: &SimulateOptions) -> Outcome {
    if let Some(seeds) = options.store_seeds {
        return shell::run(tests("hermod-store", "model::", &[("PROPTEST_CASES", Some(seeds.to_string()))]));
    }
    let steps = ("HERMOD_SIMULATION_COMMANDS", text(Some(options.steps)));
    let seed = ("HERMOD_SIMULATION_SEED", text(options.seed));
    shell::run(tests("hermod-engine", "simulation::", &[steps, seed]))
}

#[derive(Subcommand)]
pub(crate) enum Chaos {
    /// Three carriers that cut links, lose responses, repeat and drop receipts, throttle and stall
    Carriers(Carriers),
    /// Three nodes that are killed, stopped and cut off, on a PostgreSQL that is killed and replaced by its standby
    Nodes(Nodes),
}

#[derive(Args)]
pub(crate) struct Carriers {
    /// Messages to send
    #[arg(long, default_value_t = 20_000)]
    messages: u64,
    /// Seed, to repeat an earlier run
    #[arg(long)]
    seed: Option<u64>,
}

#[derive(Args)]
pub(crate) struct Nodes {
    /// How often each test repeats its faults
    #[arg(long, default_value_t = 20)]
    cycles: u64,
    /// How long PostgreSQL is away in every second cycle, in seconds
    #[arg(long, default_value_t = 60)]
    away: u64,
    /// Program of an older release, from which the nodes are upgraded one after another
    #[arg(long)]
    upgrade_from: Option<PathBuf>,
    /// Only tests whose name contains this, such as `cluster::server_lost`
    #[arg(default_value = "")]
    tests: String,
}

pub(crate) fn chaos(chaos: &Chaos) -> Outcome {
    match chaos {
        Chaos::Carriers(Carriers { messages, seed }) => {
            let messages = ("HERMOD_CHAOS_MESSAGES", text(Some(*messages)));
            shell::run(tests("hermod", "chaos::", &[messages, ("HERMOD_CHAOS_SEED", text(*seed))]))
        }
        Chaos::Nodes(nodes) => run_nodes(nodes),
    }
}

/// Runs one test after another: they measure how long service is interrupted.
fn run_nodes(nodes: &Nodes) -> Outcome {
    let Nodes { cycles, away, upgrade_from, tests: names } = nodes;
    let older = upgrade_from.as_ref().map(|older| {
        let path = older.canonicalize().map_err(|error| Failure(format!("{}: {error}", older.display())))?;
        Ok::<_, Failure>(path.to_string_lossy().into_owned())
    });
    let server = postgres::Server::start()?;
    let url = (postgres::VARIABLE, Some(server.url.clone()));
    let values = [
        url.clone(),
        ("HERMOD_CLUSTER_CYCLES", text(Some(*cycles))),
        ("HERMOD_CLUSTER_AWAY_SECS", text(Some(*away))),
        ("HERMOD_CLUSTER_OLDER_PROGRAM", older.transpose()?),
    ];
    let mut cluster = tests("hermod", if names.is_empty() { "cluster::" } else { names }, &values);
    cluster.args(["--test-threads", "1"]);
    shell::run(cluster)?;
    if !names.is_empty() {
        return Ok(());
    }
    // The tests of the store that cut the connection within a commit.
    let cuts = ("HERMOD_COMMIT_CUTS", text(Some(cycles * 10)));
    shell::run(tests("hermod-store", "lost_connections::", &[url, cuts]))
}

#[derive(Args)]
pub(crate) struct ScreenshotsOptions {
    /// Folder for the pictures, created if it does not exist
    #[arg(long, value_name = "DIR", default_value = "target/screenshots")]
    folder: PathBuf,
}

pub(crate) fn take_screenshots(options: &ScreenshotsOptions) -> Outcome {
    let folder = shell::root().join(&options.folder);
    std::fs::create_dir_all(&folder)
        .map_err(|cause| Failure(format!("cannot make {}: {cause}", folder.display())))?;
    // The tests that check the same pages take the pictures.
    let mut tests =
        shell::command("cargo", &["test", "--workspace", "--test", "it", "--", "browser::demo::"]);
    tests.env("HERMOD_SCREENSHOTS", &folder);
    shell::run(tests)?;
    println!("the pictures are in {}", folder.display());
    Ok(())
}
