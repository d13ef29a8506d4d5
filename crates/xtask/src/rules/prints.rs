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
mod tests {
    use super::*;
    use crate::rules::check_rule;

    #[test]
    fn print_in_a_library_is_a_violation() {
        check_rule(
            check,
            &[("crates/gateway/src/a.rs", "fn f() {\n    println!();\n    eprint!();\n}")],
            &[
                "crates/gateway/src/a.rs:2: `println!` outside of a command line: log with `tracing`, or return the value",
                "crates/gateway/src/a.rs:3: `eprint!` outside of a command line: log with `tracing`, or return the value",
            ],
        );
    }

    #[test]
    fn command_lines_and_tests_may_print() {
        for path in
            ["crates/hermod/src/demo.rs", "crates/xtask/src/tidy.rs", "crates/hermod/tests/it/crash.rs"]
        {
            check_rule(check, &[(path, "fn f() { println!(); }")], &[]);
        }
        let test = "#[cfg(test)]\nmod tests { fn f() { println!(); } }";
        check_rule(check, &[("crates/gateway/src/a.rs", test)], &[]);
    }

    #[test]
    fn dbg_is_a_violation_everywhere() {
        for path in ["crates/hermod/src/main.rs", "crates/hermod/tests/it/crash.rs"] {
            let expect = format!("{path}:1: `dbg!` is for debugging: remove it");
            check_rule(check, &[(path, "fn f() { dbg!(1); }")], &[&expect]);
        }
    }

    #[test]
    fn comments_literals_and_longer_names_are_not_calls() {
        let text = "// println!()\nfn f() { let a = \"println!()\"; my_println!(); }";
        check_rule(check, &[("crates/gateway/src/a.rs", text)], &[]);
    }
}
