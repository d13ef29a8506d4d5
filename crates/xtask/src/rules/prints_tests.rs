//! Unit tests of `prints.rs`.

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
    for path in ["crates/hermod/src/demo.rs", "crates/xtask/src/tidy.rs", "crates/hermod/tests/it/crash.rs"] {
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
