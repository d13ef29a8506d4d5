//! `cargo xtask cluster`: three nodes on this machine, as deploy/ describes them: PostgreSQL with a synchronous standby,
//! HAProxy in front, and the simulator as carrier.

mod check;
pub(crate) mod child;
pub(crate) mod database;
pub(crate) mod files;
mod haproxy;
mod running;
mod welcome;

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{Args, Subcommand};

use crate::programs::{Binaries, built};
use crate::shell::{Failure, Outcome};
use running::Cluster;

/// How the name of a cluster's folder begins; the id of the process follows.
const FOLDER: &str = "hermod-cluster-";

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Start a cluster on the loopback and print how to use it; Ctrl-C stops it
    ///
    /// PostgreSQL with a synchronous standby, three nodes, HAProxy and a simulated carrier, with the settings in deploy/ and
    /// free ports. A node that ends is started again after a second, as systemd does; if another process ends, all are
    /// stopped. Debian's packages are installed if they are missing.
    Up(Up),
    /// Start a cluster, send messages through HAProxy while a node is restarted, compare all records, and stop it
    ///
    /// `cargo xtask test` runs it.
    Check(Programs),
}

#[derive(Args)]
pub(crate) struct Up {
    /// Stop by itself after this many seconds
    #[arg(long = "for", value_name = "SECONDS")]
    seconds: Option<u64>,
    #[command(flatten)]
    programs: Programs,
}

#[derive(Args)]
pub(crate) struct Programs {
    /// Build and run optimised programs
    #[arg(long)]
    release: bool,
    /// Run this hermod, and the hermod-sim beside it, instead of building them
    #[arg(long, value_name = "FILE")]
    binary: Option<PathBuf>,
}

pub(crate) fn run(command: &Command) -> Outcome {
    match command {
        Command::Up(Up { seconds, programs }) => up(&programs.binaries()?, *seconds),
        Command::Check(programs) => check::run(&programs.binaries()?),
    }
}

/// Runs the check with the programs of the tests.
pub(crate) fn run_check() -> Outcome {
    // The tests have built them. Building the two alone would build the dependencies again, with fewer features.
    let binary = Some(built("dev").join("hermod"));
    check::run(&Programs { release: false, binary }.binaries()?)
}

fn up(binaries: &Binaries, seconds: Option<u64>) -> Outcome {
    let mut cluster = Cluster::start(binaries)?;
    welcome::print(&cluster, binaries)?;
    let watched = cluster.watch(seconds.map(Duration::from_secs));
    println!("Stopping ...");
    let stopped = cluster.stop();
    watched.and(stopped)
}

impl Programs {
    fn binaries(&self) -> Result<Binaries, Failure> {
        let profile = if self.release { "release" } else { "dev" };
        Binaries::find(self.binary.as_deref(), None, profile)
    }
}

/// Makes the folder of this cluster, and removes those of clusters that were killed.
fn make_folder() -> Result<PathBuf, Failure> {
    let all = std::env::temp_dir();
    for entry in std::fs::read_dir(&all).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let owner = name.to_str().and_then(|name| name.strip_prefix(FOLDER));
        if owner.is_some_and(|process| !Path::new("/proc").join(process).exists()) {
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
    let folder = all.join(format!("{FOLDER}{}", std::process::id()));
    std::fs::create_dir_all(&folder)
        .map_err(|cause| Failure(format!("cannot make {}: {cause}", folder.display())))?;
    Ok(folder)
}

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}
