//! A note about unfinished work names its issue, as in `TODO(#12)`.

use crate::rules::Violation;
use crate::rust_source::rust_files;
use crate::tree::Tree;

const MARKS: [&str; 2] = ["TODO", "FIXME"];

/// Other file types that are checked.
const OTHER_SOURCES: [&str; 3] = ["toml", "sql", "sh"];

pub(crate) fn check(tree: &Tree) -> Vec<Violation> {
    let rust = rust_files(tree);
    let comments = rust.iter().map(|file| (file.path, file.comments.as_str()));
    let others = OTHER_SOURCES.iter().flat_map(|extension| tree.with_extension(extension));
    let texts = comments.chain(others.map(|file| (file.path.as_str(), file.text.as_str())));
    texts.flat_map(|(path, text)| check_text(path, text)).collect()
}

fn check_text(path: &str, text: &str) -> Vec<Violation> {
    let mut found = Vec::new();
    for (index, line) in text.lines().enumerate() {
        for mark in MARKS.iter().filter(|mark| stands_alone(line, mark)) {
            let message = format!("name the issue: `{mark}(#12): ...`, or do it now");
            found.push(Violation::new(path, index + 1, message));
        }
    }
    found
}

/// Whether the line has the mark as a word without an issue number.
fn stands_alone(line: &str, mark: &str) -> bool {
    line.match_indices(mark).any(|(at, _)| {
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        let after = &line[at + mark.len()..];
        let inside_a_word = line[..at].ends_with(is_word) || after.starts_with(is_word);
        !inside_a_word && !starts_with_issue(after)
    })
}

fn starts_with_issue(text: &str) -> bool {
    let number = text.strip_prefix("(#").and_then(|rest| rest.split_once(')'));
    number.is_some_and(|(digits, _)| !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
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
}
