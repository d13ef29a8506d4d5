//! `cargo xtask fmt`: one formatting for everybody, so that no review is about spaces.

use crate::shell::{self, Outcome};

pub(crate) fn run() -> Outcome {
    shell::run(shell::command("cargo", &["fmt", "--all"]))
}

/// The gate's view: nothing is rewritten, a difference is a failure.
pub(crate) fn check() -> Outcome {
    shell::run(shell::command("cargo", &["fmt", "--all", "--check"]))
}
