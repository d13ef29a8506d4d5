//! Holds docs/security.md to its word: every test it names for a control exists in the file it names.

use std::fs;
use std::path::Path;

/// The names in backquotes that a path in brackets follows, each with that path.
fn tests_named_in(row: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut names = Vec::new();
    for piece in row.split(['`', '(', ')']) {
        let is_name = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
        if piece.ends_with(".rs") {
            found.extend(names.drain(..).map(|name| (name, piece.to_owned())));
        } else if piece.contains('_') && piece.chars().all(is_name) {
            names.push(piece.to_owned());
        }
    }
    found
}

#[test]
fn every_test_that_the_security_page_names_exists() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let page = fs::read_to_string(root.join("docs/security.md")).expect("the page is there");
    // The third column; the words of the other two are no tests.
    let tests = page.lines().filter_map(|line| line.strip_prefix("| ")?.rsplit(" | ").next());
    let named: Vec<_> = tests.flat_map(tests_named_in).collect();
    assert!(named.len() > 40, "only {} tests were found on the page", named.len());
    let missing = |(name, path): &&(String, String)| {
        let source = fs::read_to_string(root.join("crates").join(path)).unwrap_or_default();
        !source.contains(&format!("fn {name}("))
    };
    let missing: Vec<_> = named.iter().filter(missing).collect();
    assert!(missing.is_empty(), "docs/security.md names tests that are not there: {missing:#?}");
}

#[test]
fn names_belong_to_the_path_behind_them() {
    let row = "At most 1: `one_a`, `two_b` (x/a.rs); `three_c` (y/b.rs) and `[smpp]`";
    let expect = [("one_a", "x/a.rs"), ("two_b", "x/a.rs"), ("three_c", "y/b.rs")];
    assert_eq!(tests_named_in(row), expect.map(|(name, path)| (name.to_owned(), path.to_owned())));
}
