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
#[path = "unfinished_tests.rs"]
mod tests;
