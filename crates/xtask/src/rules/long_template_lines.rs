//! A line of a template has at most 160 characters, so that a diff shows what changed in it.

use crate::rules::Violation;
use crate::tree::Tree;

const CHARACTERS_MAX: usize = 160;

pub(crate) fn check(tree: &Tree) -> Vec<Violation> {
    let mut found = Vec::new();
    for file in tree.with_extension("html").filter(|file| file.path.contains("/templates/")) {
        for (index, line) in file.text.lines().enumerate() {
            let characters = line.chars().count();
            if characters > CHARACTERS_MAX {
                let message =
                    format!("{characters} characters, the limit is {CHARACTERS_MAX}: break the line");
                found.push(Violation::new(&file.path, index + 1, message));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::check_rule;

    #[test]
    fn template_line_of_160_characters_is_allowed() {
        check_rule(check, &[("crates/a/templates/b.html", &"–".repeat(160))], &[]);
    }

    #[test]
    fn longer_template_line_is_a_violation() {
        let text = format!("<p>\n{}\n</p>\n", "x".repeat(161));
        check_rule(
            check,
            &[("crates/a/templates/b.html", &text)],
            &["crates/a/templates/b.html:2: 161 characters, the limit is 160: break the line"],
        );
    }

    #[test]
    fn long_lines_of_other_files_are_allowed() {
        let text = "x".repeat(161);
        check_rule(check, &[("docs/a.html", &text), ("crates/a/templates/b.css", &text)], &[]);
    }
}
