//! `cargo xtask tidy`: applies every rule to the files of the workspace and prints all violations.

use crate::rules::{self, Violation};
use crate::shell::{self, Failure, Outcome};
use crate::tree::Tree;

pub(crate) fn run() -> Outcome {
    let tree = Tree::read(&shell::root())?;
    let violations: Vec<Violation> = rules::TIDY.iter().flat_map(|rule| rule(&tree)).collect();
    report(&violations)?;
    println!("tidy: {} files follow {} rules", tree.files().len(), rules::TIDY.len());
    Ok(())
}

/// Prints the violations and fails if there are any.
pub(crate) fn report(violations: &[Violation]) -> Outcome {
    violations.iter().for_each(|violation| eprintln!("{violation}"));
    match violations.len() {
        0 => Ok(()),
        1 => Err(Failure("1 rule violation, shown above".to_owned())),
        many => Err(Failure(format!("{many} rule violations, shown above"))),
    }
}
