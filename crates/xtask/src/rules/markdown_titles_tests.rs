//! Unit tests of `markdown_titles.rs`.

use super::*;
use crate::rules::check_rule;

#[track_caller]
fn check_text(text: &str, expect: &[&str]) {
    check_rule(check, &[("docs/a.md", text)], expect);
}

#[test]
fn one_title_on_the_first_line_is_right() {
    check_text("# A\n\n## B\n\n```sh\n# a comment, not a title\n```\n", &[]);
}

#[test]
fn no_title_a_late_title_and_two_titles_fail() {
    check_text("", &["docs/a.md:1: start the document with its title: `# ...`"]);
    check_text("## A\n", &["docs/a.md:1: start the document with its title: `# ...`"]);
    check_text("text\n# A\n", &["docs/a.md:2: the title belongs on the first line"]);
    check_text("# A\n# B\n", &["docs/a.md:2: a second title: use `##`, or a second document"]);
}
