//! The programs of a benchmark: the gateway under test, and the simulator that loads it. Both are built first, unless a build
//! is given.

use std::path::{Path, PathBuf};

use clap::Args;

use super::failure;
use crate::shell::{self, Failure};

const GATEWAY: &str = "hermod";
const SIMULATOR: &str = "hermod-sim";

#[derive(Args)]
pub(crate) struct ProgramFlags {
    /// Measure this hermod instead of building one
    #[arg(long, global = true, value_name = "FILE")]
    binary: Option<PathBuf>,
    /// Use this hermod-sim; by default the one beside --binary
    #[arg(long, global = true, value_name = "FILE")]
    simulator: Option<PathBuf>,
}

/// The files of both programs.
#[derive(Clone)]
pub(super) struct Programs {
    pub(super) hermod: PathBuf,
    pub(super) simulator: PathBuf,
    /// Whether the gateway is told to keep no record.
    pub(super) without_record: bool,
}

impl ProgramFlags {
    /// Finds the programs, and builds them where none are given.
    pub(super) fn programs(&self) -> Result<Programs, Failure> {
        if self.binary.is_none() {
            let packages =
                ["build", "--profile", "dist", "--package", "hermod", "--package", "hermod-simulator"];
            shell::run(shell::command("cargo", &packages))?;
        }
        let (hermod, simulator) = self.files(&built());
        Ok(Programs { hermod: existing(&hermod)?, simulator: existing(&simulator)?, without_record: false })
    }

    fn files(&self, built: &Path) -> (PathBuf, PathBuf) {
        let hermod = self.binary.clone().unwrap_or_else(|| built.join(GATEWAY));
        let simulator = self.simulator.clone().unwrap_or_else(|| hermod.with_file_name(SIMULATOR));
        (hermod, simulator)
    }
}

impl Programs {
    /// The same simulator with another build of the gateway.
    pub(super) fn with_gateway(&self, hermod: &Path) -> Result<Programs, Failure> {
        Ok(Programs { hermod: existing(hermod)?, ..self.clone() })
    }

    /// The same programs, with a gateway that keeps no record.
    pub(super) fn without_record(&self) -> Programs {
        Programs { without_record: true, ..self.clone() }
    }
}

/// The folder of the builds that are shipped.
fn built() -> PathBuf {
    let target =
        std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| shell::root().join("target"), PathBuf::from);
    target.join("dist")
}

/// The full path, because processes are started in another folder.
fn existing(file: &Path) -> Result<PathBuf, Failure> {
    file.canonicalize().map_err(|cause| {
        failure(format!(
            "{}: {cause} (--binary names the hermod to measure, --simulator its hermod-sim)",
            file.display()
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(binary: Option<&str>, simulator: Option<&str>, expect: (&str, &str)) {
        let flags =
            ProgramFlags { binary: binary.map(PathBuf::from), simulator: simulator.map(PathBuf::from) };
        let (hermod, simulator) = flags.files(Path::new("/built"));
        assert_eq!((hermod.to_str(), simulator.to_str()), (Some(expect.0), Some(expect.1)));
    }

    #[test]
    fn simulator_is_beside_the_gateway_unless_it_is_named() {
        check(None, None, ("/built/hermod", "/built/hermod-sim"));
        check(Some("old/hermod-1"), None, ("old/hermod-1", "old/hermod-sim"));
        check(Some("old/hermod"), Some("sim"), ("old/hermod", "sim"));
        check(None, Some("sim"), ("/built/hermod", "sim"));
    }

    #[test]
    fn missing_program_is_named() {
        let missing = existing(Path::new("/nowhere/hermod")).expect_err("it does not exist");
        assert!(missing.to_string().starts_with("/nowhere/hermod: "), "{missing}");
    }
}
