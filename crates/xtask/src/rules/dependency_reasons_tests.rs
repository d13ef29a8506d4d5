//! Unit tests of `dependency_reasons.rs`.

use super::*;
use crate::rules::check_rule;

const MANIFEST: (&str, &str) =
    ("crates/a/Cargo.toml", "[dependencies]\nhermod-domain.workspace = true\nserde.workspace = true\n");

#[test]
fn a_dependency_with_a_reason_is_fine() {
    check_rule(check, &[MANIFEST, (TABLE, "# D\n| Crate | Why |\n|---|---|\n| `serde` | JSON |\n")], &[]);
}

#[test]
fn a_dependency_without_a_line_or_without_a_reason_fails() {
    check_rule(check, &[MANIFEST], &["crates/a/Cargo.toml:3: give `serde` a line in docs/dependencies.md"]);
    check_rule(
        check,
        &[MANIFEST, (TABLE, "| `serde` | |\n")],
        &["docs/dependencies.md:1: `serde` has no reason"],
    );
}

#[test]
fn a_line_without_a_dependency_fails() {
    check_rule(
        check,
        &[MANIFEST, (TABLE, "| `serde` | JSON |\n| `rand` | chance |\n")],
        &["docs/dependencies.md:2: nobody depends on `rand`: remove its line"],
    );
}

#[test]
fn what_the_workspace_shares_needs_a_reason_too() {
    check_rule(
        check,
        &[("Cargo.toml", "[workspace.dependencies]\nbytes = \"1\"\n")],
        &["Cargo.toml:2: give `bytes` a line in docs/dependencies.md"],
    );
}
