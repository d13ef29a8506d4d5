//! A file is at most 400 lines. What is longer today stands in tidy-allow.toml with its exact length, a ratchet:
//! the number goes down with the file and the line goes away, neither ever grows.

use crate::rules::Violation;
use crate::tree::Tree;

const LINES_MAX: usize = 400;
const ALLOW_LIST: &str = "tidy-allow.toml";

pub(crate) fn check(tree: &Tree) -> Vec<Violation> {
    let allowed: toml::Table = match tree.text_of(ALLOW_LIST).unwrap_or_default().parse() {
        Ok(table) => table,
        Err(cause) => return vec![Violation::new(ALLOW_LIST, 1, format!("is not valid TOML: {cause}"))],
    };
    let long_files = allowed.get("long_files").and_then(toml::Value::as_table).cloned().unwrap_or_default();
    let entries = long_files.iter().filter_map(|(path, ceiling)| check_entry(tree, path, ceiling));
    let unlisted = tree.with_extension("rs").filter(|file| !long_files.contains_key(&file.path));
    let too_long = unlisted.filter_map(|file| {
        let lines = file.text.lines().count();
        (lines > LINES_MAX).then(|| {
            let message = format!("{lines} lines, the limit is {LINES_MAX}: split the file along a noun");
            Violation::new(&file.path, LINES_MAX + 1, message)
        })
    });
    entries.chain(too_long).collect()
}

fn check_entry(tree: &Tree, path: &str, ceiling: &toml::Value) -> Option<Violation> {
    let violation = |message: String| Some(Violation::new(ALLOW_LIST, 1, message));
    let Some(text) = tree.text_of(path) else {
        return violation(format!("{path} does not exist: remove its entry"));
    };
    let Some(ceiling) = ceiling.as_integer().and_then(|lines| usize::try_from(lines).ok()) else {
        return violation(format!("{path} needs its number of lines"));
    };
    match text.lines().count() {
        lines if lines <= LINES_MAX => violation(format!("{path} is within the limit now: remove its entry")),
        lines if lines < ceiling => violation(format!("{path} shrank to {lines} lines: lower its entry")),
        lines if lines > ceiling => Some(Violation::new(
            path,
            ceiling + 1,
            format!("{lines} lines, {ALLOW_LIST} grants {ceiling}: an exception may only shrink"),
        )),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::check_rule;

    #[track_caller]
    fn check_lines(lines: usize, allow_list: &str, expect: &[&str]) {
        let text = "x\n".repeat(lines);
        check_rule(check, &[("a.rs", &text), (ALLOW_LIST, allow_list)], expect);
    }

    #[test]
    fn four_hundred_lines_fit() {
        check_lines(400, "", &[]);
    }

    #[test]
    fn the_401st_line_needs_an_entry() {
        check_lines(401, "", &["a.rs:401: 401 lines, the limit is 400: split the file along a noun"]);
        check_lines(401, "[long_files]\n\"a.rs\" = 401\n", &[]);
    }

    #[test]
    fn an_exception_may_only_shrink() {
        check_lines(
            450,
            "[long_files]\n\"a.rs\" = 440\n",
            &["a.rs:441: 450 lines, tidy-allow.toml grants 440: an exception may only shrink"],
        );
        check_lines(
            430,
            "[long_files]\n\"a.rs\" = 440\n",
            &["tidy-allow.toml:1: a.rs shrank to 430 lines: lower its entry"],
        );
    }

    #[test]
    fn an_entry_that_is_no_longer_needed_fails() {
        check_lines(
            400,
            "[long_files]\n\"a.rs\" = 440\n\"gone.rs\" = 500\n",
            &[
                "tidy-allow.toml:1: a.rs is within the limit now: remove its entry",
                "tidy-allow.toml:1: gone.rs does not exist: remove its entry",
            ],
        );
    }

    #[test]
    fn a_broken_allow_list_allows_nothing() {
        check_rule(
            check,
            &[(ALLOW_LIST, "[long_files]\n\"a.rs\" = \"x\"\n"), ("a.rs", "")],
            &["tidy-allow.toml:1: a.rs needs its number of lines"],
        );
    }
}
