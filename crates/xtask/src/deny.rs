//! `cargo xtask deny`: checks dependencies. cargo-deny checks the graph by deny.toml; unused dependencies are found by our own
//! rule, which needs only the sources.

use crate::rules::unused_dependencies;
use crate::shell::{self, Outcome};
use crate::tidy;
use crate::tools;
use crate::tree::Tree;

pub(crate) fn run() -> Outcome {
    check_graph()?;
    check_unused()
}

pub(crate) fn check_graph() -> Outcome {
    let cargo_deny = tools::ensure_cargo_deny()?;
    let args = ["--all-features", "--locked", "check", "bans", "licenses", "sources"];
    shell::run(shell::command(&cargo_deny, &args))
}

pub(crate) fn check_unused() -> Outcome {
    let tree = Tree::read(&shell::root())?;
    tidy::report(&unused_dependencies::check(&tree))
}
