//! `cargo xtask simulate`: runs the simulation of the engine with a given number of commands. The gate runs a million.

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
}

pub(crate) fn run(options: &Options) -> Outcome {
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
