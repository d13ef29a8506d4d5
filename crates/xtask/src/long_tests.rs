//! Tests of the gate with more of what they do: `cargo xtask crash` with more kills than its fifty, `cargo xtask simulate` with more
//! commands of the engine than its million, or more seeds of the store than its 48, and `cargo xtask screenshots` with pictures of
//! every page of the demo, wide and on a phone, light and dark.

use std::path::PathBuf;

use clap::Args;

use crate::shell::{self, Failure, Outcome};

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
    let args = ["test", "--release", "--package", "hermod", "--test", "it", "--", "crash::", "--nocapture"];
    let mut rig = shell::command("cargo", &args);
    rig.env("HERMOD_CRASH_CYCLES", options.cycles.to_string());
    if let Some(seed) = options.seed {
        rig.env("HERMOD_CRASH_SEED", seed.to_string());
    }
    shell::run(rig)
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

pub(crate) fn simulate(options: &SimulateOptions) -> Outcome {
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

fn run_engine(options: &SimulateOptions) -> Outcome {
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
