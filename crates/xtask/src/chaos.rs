//! `cargo xtask chaos`: the chaos tests with more messages and more faults than in the gate.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::postgres;
use crate::shell::{self, Failure, Outcome};

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

pub(crate) fn run(chaos: &Chaos) -> Outcome {
    match chaos {
        Chaos::Carriers(options) => run_carriers(options),
        Chaos::Nodes(options) => run_nodes(options),
    }
}

fn run_carriers(Carriers { messages, seed }: &Carriers) -> Outcome {
    let args = ["test", "--release", "--package", "hermod", "--test", "it", "--", "chaos::", "--nocapture"];
    let mut rig = shell::command("cargo", &args);
    rig.env("HERMOD_CHAOS_MESSAGES", messages.to_string());
    if let Some(seed) = seed {
        rig.env("HERMOD_CHAOS_SEED", seed.to_string());
    }
    shell::run(rig)
}

/// Runs one test after another: they measure how long service is interrupted.
fn run_nodes(Nodes { cycles, away, upgrade_from, tests }: &Nodes) -> Outcome {
    let server = postgres::Server::start()?;
    let args = ["test", "--release", "--package", "hermod", "--test", "it", "--", "--nocapture"];
    let mut rig = shell::command("cargo", &args);
    rig.args(["--test-threads", "1"]);
    rig.arg(if tests.is_empty() { "cluster::" } else { tests });
    rig.env(postgres::VARIABLE, &server.url).env("HERMOD_CLUSTER_CYCLES", cycles.to_string());
    rig.env("HERMOD_CLUSTER_AWAY_SECS", away.to_string());
    if let Some(older) = upgrade_from {
        rig.env(
            "HERMOD_CLUSTER_OLDER_PROGRAM",
            older.canonicalize().map_err(|error| Failure(format!("{}: {error}", older.display())))?,
        );
    }
    shell::run(rig)?;
    if !tests.is_empty() {
        return Ok(());
    }
    // The tests of the store that cut the connection within a commit.
    let args = ["test", "--release", "--package", "hermod-store", "--test", "it", "--", "lost_connections::"];
    let mut rig = shell::command("cargo", &args);
    rig.env(postgres::VARIABLE, &server.url).env("HERMOD_COMMIT_CUTS", (cycles * 10).to_string());
    shell::run(rig)
}
