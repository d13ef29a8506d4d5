//! `cargo xtask chaos`: the chaos tests with more messages than in the gate.

use clap::{Args, Subcommand};

use crate::shell::{self, Outcome};

#[derive(Subcommand)]
pub(crate) enum Chaos {
    /// Three carriers that cut links, lose responses, repeat and drop receipts, throttle and stall
    Carriers(Carriers),
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

pub(crate) fn run(chaos: &Chaos) -> Outcome {
    let Chaos::Carriers(Carriers { messages, seed }) = chaos;
    let args = ["test", "--release", "--package", "hermod", "--test", "it", "--", "chaos::", "--nocapture"];
    let mut rig = shell::command("cargo", &args);
    rig.env("HERMOD_CHAOS_MESSAGES", messages.to_string());
    if let Some(seed) = seed {
        rig.env("HERMOD_CHAOS_SEED", seed.to_string());
    }
    shell::run(rig)
}
