//! The programs that benchmarks and the cluster start: the gateway, and the simulator that loads it. Both are built first, unless
//! a build is given.

use std::path::{Path, PathBuf};

use crate::shell::{self, Failure};

const GATEWAY: &str = "hermod";
const SIMULATOR: &str = "hermod-sim";

/// The files of both programs.
#[derive(Clone)]
pub(crate) struct Binaries {
    pub(crate) hermod: PathBuf,
    pub(crate) simulator: PathBuf,
}

impl Binaries {
    /// Returns these files, by default the simulator beside the gateway. Builds both with this profile where no gateway is given.
    pub(crate) fn find(
        hermod: Option<&Path>,
        simulator: Option<&Path>,
        profile: &str,
    ) -> Result<Binaries, Failure> {
        if hermod.is_none() {
            let packages = ["--package", "hermod", "--package", "hermod-simulator"];
            let build = ["build", "--locked", "--profile", profile];
            shell::run(shell::command("cargo", &[&build[..], &packages].concat()))?;
        }
        let (hermod, simulator) = files(hermod, simulator, &built(profile));
        Ok(Binaries { hermod: existing(&hermod)?, simulator: existing(&simulator)? })
    }
}

fn files(hermod: Option<&Path>, simulator: Option<&Path>, built: &Path) -> (PathBuf, PathBuf) {
    let hermod = hermod.map_or_else(|| built.join(GATEWAY), Path::to_path_buf);
    let simulator = simulator.map_or_else(|| hermod.with_file_name(SIMULATOR), Path::to_path_buf);
    (hermod, simulator)
}

/// The folder of the builds of a profile.
pub(crate) fn built(profile: &str) -> PathBuf {
    let target =
        std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| shell::root().join("target"), PathBuf::from);
    target.join(if profile == "dev" { "debug" } else { profile })
}

/// The full path, because processes are started in another folder.
pub(crate) fn existing(file: &Path) -> Result<PathBuf, Failure> {
    file.canonicalize().map_err(|cause| {
        Failure(format!(
            "{}: {cause} (--binary names the hermod to run, --simulator its hermod-sim)",
            file.display()
        ))
    })
}

#[cfg(test)]
#[path = "programs_tests.rs"]
mod tests;
