//! Printing belongs to the rims of the binaries, where a person waits for it. Everywhere else a fact is logged with
//! its fields, so that an operator can find it.

use crate::rules::Violation;
use crate::rust_source::{RustFile, rust_files};
use crate::tree::Tree;

const PRINT_MACROS: [&str; 4] = ["print!", "println!", "eprint!", "eprintln!"];

/// The rims: files and folders that talk to a person or to cargo.
const RIMS: [&str; 4] =
    ["crates/hermod/src/", "crates/simulator/src/bin/", "crates/simulator/src/main.rs", "crates/xtask/src/"];

pub(crate) fn check(tree: &Tree) -> Vec<Violation> {
    rust_files(tree).iter().flat_map(check_file).collect()
}

fn check_file(file: &RustFile<'_>) -> Vec<Violation> {
    let is_rim = RIMS.iter().any(|rim| file.path.starts_with(rim)) || file.path.ends_with("/build.rs");
    let mut found = Vec::new();
    for (index, line) in file.code.lines().enumerate() {
        if calls(line, "dbg!") {
            found.push(Violation::new(
                file.path,
                index + 1,
                "`dbg!` is for the moment of writing: remove it",
            ));
        }
    }
    for (index, line) in file.product.lines().enumerate().filter(|_| !is_rim) {
        for name in PRINT_MACROS.iter().filter(|name| calls(line, name)) {
            let message = format!("`{name}` outside a binary's rim: log a fact with `tracing`, or return it");
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
    fn a_library_does_not_print() {
        check_rule(
            check,
            &[("crates/gateway/src/a.rs", "fn f() {\n    println!();\n    eprint!();\n}")],
            &[
                "crates/gateway/src/a.rs:2: `println!` outside a binary's rim: log a fact with `tracing`, or return it",
                "crates/gateway/src/a.rs:3: `eprint!` outside a binary's rim: log a fact with `tracing`, or return it",
            ],
        );
    }

    #[test]
    fn the_rims_and_the_tests_do() {
        for path in
            ["crates/hermod/src/demo.rs", "crates/xtask/src/tidy.rs", "crates/hermod/tests/it/crash.rs"]
        {
            check_rule(check, &[(path, "fn f() { println!(); }")], &[]);
        }
        let test = "#[cfg(test)]\nmod tests { fn f() { println!(); } }";
        check_rule(check, &[("crates/gateway/src/a.rs", test)], &[]);
    }

    #[test]
    fn nobody_keeps_a_dbg_not_even_a_test() {
        for path in ["crates/hermod/src/main.rs", "crates/hermod/tests/it/crash.rs"] {
            let expect = format!("{path}:1: `dbg!` is for the moment of writing: remove it");
            check_rule(check, &[(path, "fn f() { dbg!(1); }")], &[&expect]);
        }
    }

    #[test]
    fn comments_texts_and_longer_names_are_no_calls() {
        let text = "// println!()\nfn f() { let a = \"println!()\"; my_println!(); }";
        check_rule(check, &[("crates/gateway/src/a.rs", text)], &[]);
    }
}
