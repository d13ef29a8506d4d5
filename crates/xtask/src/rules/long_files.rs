//! A file has at most 400 lines. Exceptions are in tidy-allow.toml with their exact length, which may only shrink.

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
            let message = format!("{lines} lines, the limit is {LINES_MAX}: split the file");
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
    fn file_of_400_lines_is_allowed() {
        check_lines(400, "", &[]);
    }

    #[test]
    fn longer_file_needs_an_exception() {
        check_lines(401, "", &["a.rs:401: 401 lines, the limit is 400: split the file"]);
        check_lines(401, "[long_files]\n\"a.rs\" = 401\n", &[]);
    }

    #[test]
    fn exception_may_only_shrink() {
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
    fn unneeded_exception_is_a_violation() {
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
    fn invalid_exception_is_a_violation() {
        check_rule(
            check,
            &[(ALLOW_LIST, "[long_files]\n\"a.rs\" = \"x\"\n"), ("a.rs", "")],
            &["tidy-allow.toml:1: a.rs needs its number of lines"],
        );
    }
}
