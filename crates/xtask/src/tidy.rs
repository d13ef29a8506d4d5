//! The quick checks of the gate: `cargo xtask tidy` applies every rule to the files of the workspace and prints all violations,
//! `cargo xtask fmt` formats them, `cargo xtask deny` checks dependencies. cargo-deny checks the graph by deny.toml; unused
//! dependencies are found by our own rule, which needs only the sources.

use crate::rules::{self, Violation, unused_dependencies};
use crate::shell::{self, Failure, Outcome};
use crate::tools;
use crate::tree::Tree;

pub(crate) fn run() -> Outcome {
    let tree = Tree::read(&shell::root())?;
    let violations: Vec<Violation> = rules::TIDY.iter().flat_map(|rule| rule(&tree)).collect();
    report(&violations)?;
    println!("tidy: {} files follow {} rules", tree.files().len(), rules::TIDY.len());
    Ok(())
}

/// Prints the violations and fails if there are any.
fn report(violations: &[Violation]) -> Outcome {
    violations.iter().for_each(|violation| eprintln!("{violation}"));
    match violations.len() {
        0 => Ok(()),
        1 => Err(Failure("1 rule violation, shown above".to_owned())),
        many => Err(Failure(format!("{many} rule violations, shown above"))),
    }
}

pub(crate) fn format() -> Outcome {
    shell::run(shell::command("cargo", &["fmt", "--all"]))
}

/// Fails on a difference, without changing files.
pub(crate) fn check_format() -> Outcome {
    shell::run(shell::command("cargo", &["fmt", "--all", "--check"]))
}

pub(crate) fn deny() -> Outcome {
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
    report(&unused_dependencies::check(&tree))
}
