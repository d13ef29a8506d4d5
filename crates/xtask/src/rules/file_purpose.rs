//! Every Rust file begins with a sentence about its purpose.

use crate::rules::Violation;
use crate::tree::Tree;

pub(crate) fn check(tree: &Tree) -> Vec<Violation> {
    let without = tree.with_extension("rs").filter(|file| !has_purpose(&file.text));
    without
        .map(|file| Violation::new(&file.path, 1, "begin the file with a `//!` sentence about its purpose"))
        .collect()
}

/// Requires at least three words, which excludes placeholders.
fn has_purpose(text: &str) -> bool {
    text.lines()
        .next()
        .and_then(|line| line.strip_prefix("//! "))
        .is_some_and(|purpose| purpose.split_whitespace().count() >= 3 && !purpose.starts_with('('))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::check_rule;

    #[track_caller]
    fn check_first_line(text: &str, is_valid: bool) {
        let violation = ["a.rs:1: begin the file with a `//!` sentence about its purpose"];
        check_rule(check, &[("a.rs", text)], if is_valid { &[] } else { &violation });
    }

    #[test]
    fn sentence_is_valid() {
        check_first_line("//! Splits a body into parts.\nfn f() {}", true);
    }

    #[test]
    fn missing_comment_or_placeholder_is_a_violation() {
        check_first_line("fn f() {}", false);
        check_first_line("", false);
        check_first_line("// Splits a body into parts.\n", false);
        check_first_line("//! Placeholder\n", false);
        check_first_line("//! (being written by Alice)\n", false);
    }
}
