//! The tools of the gate besides Rust: a C compiler for the bundled SQLite, strace, rustfmt, clippy, cargo-deny,
//! schemathesis, third-party SMPP libraries, Kannel, tshark and HAProxy. Missing tools are installed; if that fails, the error names
//! the command to run.

use std::path::{Path, PathBuf};

use crate::shell::{self, Failure, Outcome, command};

/// Pinned, so that a new release cannot fail the gate. Building it unoptimised takes 69 s on two cores; it then checks our
/// graph in about a second.
const CARGO_DENY_VERSION: &str = "0.20.2";

/// A program from packages of the distribution.
pub(crate) struct Packaged {
    pub(crate) name: &'static str,
    /// Possible paths; `sbin` is not in every user's PATH.
    pub(crate) programs: &'static [&'static str],
    /// Arguments that succeed if it is complete.
    pub(crate) probe: &'static [&'static str],
    pub(crate) packages: &'static [&'static str],
}

/// Debian splits the compiler from the C library's headers, so only compiling proves that both are here.
pub(crate) const C_COMPILER: Packaged = Packaged {
    name: "a working C compiler",
    programs: &["cc"],
    probe: &["-fsyntax-only", "-include", "stdlib.h", "-x", "c", "/dev/null"],
    packages: &["gcc", "libc6-dev"],
};
/// The tests simulate a failing disk by failing system calls.
pub(crate) const STRACE: Packaged =
    Packaged { name: "strace", programs: &["strace"], probe: &["--version"], packages: &["strace"] };
/// The load balancer of the cluster.
pub(crate) const HAPROXY: Packaged =
    Packaged { name: "HAProxy", programs: &["/usr/sbin/haproxy"], probe: &["-v"], packages: &["haproxy"] };
/// Debian packages `venv` separately from Python.
pub(crate) const PYTHON: Packaged = Packaged {
    name: "a Python that can make environments",
    programs: &["python3"],
    probe: &["-c", "import venv, ensurepip"],
    packages: &["python3", "python3-venv"],
};
/// It runs on Node.
pub(crate) const NPM: Packaged =
    Packaged { name: "npm", programs: &["npm"], probe: &["--version"], packages: &["nodejs", "npm"] };

impl Packaged {
    /// Installs the packages if the program is missing. Returns its path.
    pub(crate) fn ensure(&self) -> Result<String, Failure> {
        let found = || self.programs.iter().find(|program| shell::succeeds(program, self.probe));
        if let Some(program) = found() {
            return Ok((*program).to_owned());
        }
        println!("{} is missing: installing {}", self.name, self.packages.join(" and "));
        apt_install(self.packages)?;
        let program = found().ok_or_else(|| Failure(format!("{} still cannot be run", self.name)))?;
        Ok((*program).to_owned())
    }
}

pub(crate) fn ensure_component(component: &str, program: &str) -> Outcome {
    if shell::succeeds(program, &["--version"]) {
        return Ok(());
    }
    let by_hand = format!("rustup component add {component}");
    permit_install(component, &by_hand)?;
    println!("{component} is missing: installing it");
    shell::run(command("rustup", &["component", "add", component]))
        .map_err(|Failure(why)| Failure(format!("{why}; run `{by_hand}`")))
}

/// Returns the path of cargo-deny in the pinned version, which is built if it is missing.
pub(crate) fn ensure_cargo_deny() -> Result<String, Failure> {
    let folder = cache_folder().join(format!("cargo-deny-{CARGO_DENY_VERSION}"));
    let cached = folder.join("bin/cargo-deny").to_string_lossy().into_owned();
    for program in ["cargo-deny", &cached] {
        if shell::output_of(program, &["--version"]).is_some_and(|version| is_pinned(&version)) {
            return Ok(program.to_owned());
        }
    }
    let by_hand = format!("cargo install cargo-deny --locked --version {CARGO_DENY_VERSION}");
    permit_install("cargo-deny", &by_hand)?;
    println!("cargo-deny {CARGO_DENY_VERSION} is missing: building it once, about a minute on two cores");
    install_cargo_deny(&folder)?;
    Ok(cached)
}

fn is_pinned(version_line: &str) -> bool {
    version_line.trim() == format!("cargo-deny {CARGO_DENY_VERSION}")
}

fn install_cargo_deny(folder: &Path) -> Outcome {
    let folder = folder.to_string_lossy();
    let version = ["--version", CARGO_DENY_VERSION];
    let args = [&["install", "cargo-deny", "--locked", "--debug", "--root", &*folder], &version[..]].concat();
    let mut install = command("cargo", &args);
    // Builds in a temporary folder of cargo, without debug information.
    install.env_remove("CARGO_TARGET_DIR").env("CARGO_PROFILE_DEV_DEBUG", "0");
    shell::run(install).map_err(|Failure(why)| {
        Failure(format!("{why}; run `cargo install cargo-deny --locked --version {CARGO_DENY_VERSION}`"))
    })
}

/// Outside of the clone, so that another clone on the same machine does not build its tools again.
pub(crate) fn cache_folder() -> PathBuf {
    match std::env::home_dir() {
        Some(home) => home.join(".cache/hermod-xtask"),
        None => shell::root().join("target/tools"),
    }
}

/// Fails with the command to run if `HERMOD_SETUP=no` forbids installing.
#[expect(
    clippy::disallowed_methods,
    reason = "xtask has no configuration; the linker script reads the same variable"
)]
pub(crate) fn permit_install(what: &str, by_hand: &str) -> Outcome {
    let setup = std::env::var("HERMOD_SETUP").unwrap_or_default();
    permit(&setup, what, by_hand)
}

fn permit(setup: &str, what: &str, by_hand: &str) -> Outcome {
    if setup != "no" {
        return Ok(());
    }
    Err(Failure(format!("{what} is missing, and HERMOD_SETUP=no forbids installing it; run `{by_hand}`")))
}

pub(crate) fn apt_install(packages: &[&str]) -> Outcome {
    let by_hand = format!("apt-get update && apt-get install -y {}", packages.join(" "));
    permit_install(&packages.join(" and "), &by_hand)?;
    let install = || {
        let mut install =
            command("apt-get", &[&["install", "-y", "--no-install-recommends"], packages].concat());
        install.env("DEBIAN_FRONTEND", "noninteractive");
        shell::run(install)
    };
    // A fresh image has no package lists yet; a machine that has them need not fetch them again.
    let outcome = install().or_else(|_| shell::run(command("apt-get", &["update"])).and_then(|()| install()));
    outcome.map_err(|Failure(why)| Failure(format!("{why}; run as root: `{by_hand}`")))
}

#[cfg(test)]
#[path = "tools_tests.rs"]
mod tests;
