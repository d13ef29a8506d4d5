//! Unit tests of `unfinished.rs`.

use super::*;
use crate::rules::check_rule;

#[track_caller]
fn check_line(path: &str, line: &str, is_fine: bool) {
    let found = check(&Tree::of(&[(path, line)]));
    assert_eq!(found.is_empty(), is_fine, "{line}: {found:?}");
}

#[test]
fn note_without_an_issue_is_a_violation() {
    check_rule(
        check,
        &[("a.rs", "fn f() {}\n// TODO: later\n")],
        &["a.rs:2: name the issue: `TODO(#12): ...`, or do it now"],
    );
}

#[test]
fn note_needs_an_issue_number() {
    check_line("a.rs", "// FIXME(#7): split", true);
    check_line("a.rs", "// FIXME(#): split", false);
    check_line("a.rs", "// FIXME(alice): split", false);
    check_line("a.rs", "/* FIXME */", false);
    check_line("a.toml", "# TODO", false);
    check_line("a.sql", "-- TODO", false);
}

#[test]
fn identifiers_and_literals_are_not_notes() {
    check_line("a.rs", "let x = \"TODO\"; // TODOS are a list", true);
    check_line("a.md", "TODO", true);
}
