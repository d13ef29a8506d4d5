//! `cargo xtask simulate`: runs the simulation of the engine with a given number of commands, or the random test of the store
//! against its model with a given number of seeds. The gate runs a million commands and 48 seeds.

use clap::Args;

use crate::shell::{self, Outcome};

#[derive(Args)]
pub(crate) struct Options {
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

pub(crate) fn run(options: &Options) -> Outcome {
    match options.store_seeds {
        Some(seeds) => run_store(seeds),
        None => run_engine(options),
    }
}

/// Runs the store against its model. A failure prints the operations and keeps its seed in `model/mod.regressions`.
fn run_store(seeds: u32) -> Outcome {
    let args =
        ["test", "--release", "--package", "hermod-store", "--test", "it", "--", "model::", "--nocapture"];
    let mut model = shell::command("cargo", &args);
    model.env("PROPTEST_CASES", seeds.to_string());
    shell::run(model)
}

fn run_engine(options: &Options) -> Outcome {
    let args = [
        "test",
        "--release",
        "--package",
        "hermod-engine",
        "--test",
        "it",
        "--",
        "simulation::",
        "--nocapture",
    ];
    let mut simulation = shell::command("cargo", &args);
    simulation.env("HERMOD_SIMULATION_COMMANDS", options.steps.to_string());
    if let Some(seed) = options.seed {
        simulation.env("HERMOD_SIMULATION_SEED", seed.to_string());
    }
    shell::run(simulation)
}
