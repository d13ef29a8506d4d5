//! `cargo xtask fmt`: formats the workspace.

use crate::shell::{self, Outcome};

pub(crate) fn run() -> Outcome {
    shell::run(shell::command("cargo", &["fmt", "--all"]))
}

/// Fails on a difference, without changing files.
pub(crate) fn check() -> Outcome {
    shell::run(shell::command("cargo", &["fmt", "--all", "--check"]))
}
