//! A file has at most 800 lines. A line of a template has at most 160 characters, so that a diff shows what changed in it.

use crate::rules::Violation;
use crate::tree::Tree;

const LINES_MAX: usize = 800;
const CHARACTERS_MAX: usize = 160;

pub(crate) fn check(tree: &Tree) -> Vec<Violation> {
    let too_long = tree.with_extension("rs").filter_map(|file| {
        let lines = file.text.lines().count();
        (lines > LINES_MAX).then(|| {
            let message = format!("{lines} lines, the limit is {LINES_MAX}: split the file");
            Violation::new(&file.path, LINES_MAX + 1, message)
        })
    });
    too_long.collect()
}

pub(crate) fn check_templates(tree: &Tree) -> Vec<Violation> {
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
    fn file_of_801_lines_is_too_long() {
        let long = "x\n".repeat(LINES_MAX + 1);
        let files = [("a.rs", &long[2..]), ("b.rs", long.as_str()), ("c.md", long.as_str())];
        check_rule(check, &files, &["b.rs:801: 801 lines, the limit is 800: split the file"]);
    }

    #[test]
    fn template_line_of_160_characters_is_allowed() {
        check_rule(check_templates, &[("crates/a/templates/b.html", &"–".repeat(160))], &[]);
    }

    #[test]
    fn longer_template_line_is_a_violation() {
        let text = format!("<p>\n{}\n</p>\n", "x".repeat(161));
        check_rule(
            check_templates,
            &[("crates/a/templates/b.html", &text)],
            &["crates/a/templates/b.html:2: 161 characters, the limit is 160: break the line"],
        );
    }

    #[test]
    fn long_lines_of_other_files_are_allowed() {
        let text = "x".repeat(161);
        check_rule(check_templates, &[("docs/a.html", &text), ("crates/a/templates/b.css", &text)], &[]);
    }
}
