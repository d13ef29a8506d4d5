//! Every Rust file opens with a sentence that says what it is for.

use crate::rules::Violation;
use crate::tree::Tree;

pub(crate) fn check(tree: &Tree) -> Vec<Violation> {
    let silent = tree.with_extension("rs").filter(|file| !says_its_purpose(&file.text));
    silent
        .map(|file| Violation::new(&file.path, 1, "open the file with a `//!` sentence: what is it for?"))
        .collect()
}

/// At least three words, which also refuses a word put there to hold the place.
fn says_its_purpose(text: &str) -> bool {
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
    fn check_opening(text: &str, is_fine: bool) {
        let refusal = ["a.rs:1: open the file with a `//!` sentence: what is it for?"];
        check_rule(check, &[("a.rs", text)], if is_fine { &[] } else { &refusal });
    }

    #[test]
    fn a_sentence_will_do() {
        check_opening("//! Splits a body into parts.\nfn f() {}", true);
    }

    #[test]
    fn silence_an_ordinary_comment_or_a_place_holder_will_not() {
        check_opening("fn f() {}", false);
        check_opening("", false);
        check_opening("// Splits a body into parts.\n", false);
        check_opening("//! Placeholder\n", false);
        check_opening("//! (being written by somebody)\n", false);
    }
}
