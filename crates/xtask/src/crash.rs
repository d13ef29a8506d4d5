//! `cargo xtask crash`: the crash test with more kills than the fifty of the gate.

use clap::Args;

use crate::shell::{self, Outcome};

#[derive(Args)]
pub(crate) struct Options {
    /// How often the gateway is killed
    #[arg(long, default_value_t = 200)]
    cycles: u64,
    /// Seed, to repeat an earlier run
    #[arg(long)]
    seed: Option<u64>,
}

pub(crate) fn run(options: &Options) -> Outcome {
    let args = ["test", "--release", "--package", "hermod", "--test", "it", "--", "crash::", "--nocapture"];
    let mut rig = shell::command("cargo", &args);
    rig.env("HERMOD_CRASH_CYCLES", options.cycles.to_string());
    if let Some(seed) = options.seed {
        rig.env("HERMOD_CRASH_SEED", seed.to_string());
    }
    shell::run(rig)
}
