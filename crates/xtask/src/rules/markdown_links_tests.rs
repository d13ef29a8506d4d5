//! Unit tests of `markdown_links.rs`.

use super::*;
use crate::rules::check_rule;

#[track_caller]
fn check_target(target: &str, is_fine: bool) {
    let text = format!("# A\nsee [it]({target}).\n## Here\n");
    let expect = format!("docs/a.md:2: dead link: {target} does not exist");
    let headings = "# B\n### In `code`, (twice)\n## Context\n## Context\n";
    let files = [("docs/a.md", text.as_str()), ("docs/adr/0001-b.md", headings), ("README.md", "# R\n")];
    let expect = [expect.as_str()];
    check_rule(check, &files, if is_fine { &[] } else { &expect });
}

#[test]
fn links_to_files_and_folders_that_exist_are_fine() {
    for target in ["adr/0001-b.md", "./adr/0001-b.md#context", "adr", "../README.md", "#here"] {
        check_target(target, true);
    }
}

#[test]
fn anchor_must_be_a_heading_of_the_document() {
    for anchor in ["b", "in-code-twice", "context", "context-1"] {
        check_target(&format!("adr/0001-b.md#{anchor}"), true);
    }
    for target in ["adr/0001-b.md#consequences", "adr/0001-b.md#context-2", "#there"] {
        check_target(target, false);
    }
}

#[test]
fn other_sites_are_not_followed() {
    check_target("https://example.com/nowhere", true);
}

#[test]
fn a_dead_link_fails_and_so_does_one_that_leaves_the_repository() {
    for target in ["adr/0002-c.md", "README.md", "../../elsewhere.md"] {
        check_target(target, false);
    }
}

#[test]
fn code_is_not_a_link() {
    check_rule(check, &[("a.md", "# A\n`x[0](y)`\n```\n[a](b)\n```\n")], &[]);
}

#[test]
fn source_path_in_a_document_must_exist_except_in_the_changelog() {
    let source = ("crates/engine/src/accept.rs", "//! Accepts.\n");
    let fine = "# A\n`engine/src/accept.rs`, `crates/engine/src`, `accept.rs`, `engine/tests/*.rs`\n";
    check_rule(check, &[("a.md", fine), source], &[]);
    let gone = "# A\nSee `engine/src/gone.rs` and `crates/engine/tests/it`.\n";
    check_rule(check, &[("CHANGELOG.md", gone), source], &[]);
    let expect =
        ["a.md:2: crates/engine/src/gone.rs does not exist", "a.md:2: crates/engine/tests/it does not exist"];
    check_rule(check, &[("a.md", gone), source], &expect);
}
