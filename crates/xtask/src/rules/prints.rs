//! Only the command lines of the binaries print. Other code logs with fields, so that an operator can search.

use crate::rules::Violation;
use crate::rust_source::{RustFile, rust_files};
use crate::tree::Tree;

const PRINT_MACROS: [&str; 4] = ["print!", "println!", "eprint!", "eprintln!"];

/// Files and folders that may print.
const COMMAND_LINES: [&str; 4] =
    ["crates/hermod/src/", "crates/simulator/src/bin/", "crates/simulator/src/main.rs", "crates/xtask/src/"];

pub(crate) fn check(tree: &Tree) -> Vec<Violation> {
    rust_files(tree).iter().flat_map(check_file).collect()
}

fn check_file(file: &RustFile<'_>) -> Vec<Violation> {
    let may_print =
        COMMAND_LINES.iter().any(|folder| file.path.starts_with(folder)) || file.path.ends_with("/build.rs");
    let mut found = Vec::new();
    for (index, line) in file.code.lines().enumerate() {
        if calls(line, "dbg!") {
            found.push(Violation::new(file.path, index + 1, "`dbg!` is for debugging: remove it"));
        }
    }
    for (index, line) in file.product.lines().enumerate().filter(|_| !may_print) {
        for name in PRINT_MACROS.iter().filter(|name| calls(line, name)) {
            let message =
                format!("`{name}` outside of a command line: log with `tracing`, or return the value");
            found.push(Violation::new(file.path, index + 1, message));
        }
    }
    found
}

fn calls(line: &str, name: &str) -> bool {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    line.match_indices(name).any(|(at, _)| !line[..at].ends_with(is_word))
}

#[cfg(test)]
#[path = "prints_tests.rs"]
mod tests;
